import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectCharset } from '../../../src/domain/charset.ts';
import { decodeSlice, encodeQuery } from '../../../src/domain/charset-codec.ts';
import { encodingOf } from '../../../src/domain/charset-labels.ts';
import { encodingOfMetaContent } from '../../../src/domain/charset-prescan.ts';
import { looksLikeHtml, parseMediaType } from '../../../src/domain/media-type.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

test('encodingOf knows labels by any case and blanks, and nothing else', () => {
  assert.equal(encodingOf(' Latin1\n'), 'windows-1252');
  assert.equal(encodingOf('SJIS'), 'Shift_JIS');
  assert.equal(encodingOf('gb2312'), 'GBK');
  assert.equal(encodingOf('hz-gb-2312'), 'replacement');
  for (const label of ['utf-7', '', 'constructor', '__proto__', 'x'.repeat(9_999)]) {
    assert.equal(encodingOf(label), undefined);
  }
});

test('detectCharset prefers byte order mark, then header, then meta, then XML declaration', () => {
  const meta = '<?xml version="1.0" encoding="koi8-r"?><meta charset=euc-kr>';
  const of = (text: string, header?: string) => detectCharset(bytes(text), { header }).encoding;
  assert.equal(of(`\xef\xbb\xbf${meta}`, 'big5'), 'UTF-8');
  assert.equal(of(`\xff\xfe${meta}`, 'big5'), 'UTF-16LE');
  assert.equal(of(meta, 'big5'), 'Big5');
  assert.equal(of(meta, 'no-such-label'), 'EUC-KR');
  assert.equal(of('<?xml version="1.0" encoding="koi8-r"?><p>'), 'KOI8-R');
  assert.equal(of('<p>'), 'windows-1252');
  assert.equal(detectCharset(bytes(meta), { xml: true }).encoding, 'KOI8-R');
  assert.equal(detectCharset(bytes('<a/>'), { xml: true }).encoding, 'UTF-8');
});

test('detectCharset passes over metas in comments, cut off, unknown or without their pragma', () => {
  const of = (text: string) => detectCharset(bytes(text)).encoding;
  assert.equal(of('<!-- <meta charset=big5> --><meta charset=euc-jp>'), 'EUC-JP');
  assert.equal(of('<!--><meta charset=big5>-->'), 'Big5');
  assert.equal(of('<meta content="text/html; charset=big5">'), 'windows-1252');
  assert.equal(of('<meta content="text/html; charset=big5" http-equiv=Content-Type>'), 'Big5');
  assert.equal(of('<meta charset=bogus><meta charset=big5>'), 'Big5');
  assert.equal(of('<p title="<meta charset=big5>">'), 'windows-1252');
  assert.equal(of('<meta charset=big5'), 'windows-1252');
  assert.equal(of(`<!--${' '.repeat(1_024)}--><meta charset=big5>`), 'windows-1252');
});

test('encodingOfMetaContent finds the first charset that is followed by an equals sign', () => {
  assert.equal(encodingOfMetaContent('charset charset = "utf-8" x'), 'UTF-8');
  assert.equal(encodingOfMetaContent('text/html;charset="utf-8'), undefined);
  assert.equal(encodingOfMetaContent('charset=utf-8;x'), 'UTF-8');
});

test('decodeSlice follows the Encoding standard where the platform does not', () => {
  const decode = (text: string, encoding: string) =>
    decodeSlice(bytes(text), 0, text.length, encoding);
  assert.equal(decode('\x80\x81\xe9', 'windows-1252'), '\u20ac\u0081\u00e9');
  assert.equal(decode('a\x80\xff', 'x-user-defined'), 'a\uf780\uf7ff');
  assert.equal(decode('\xa4', 'ISO-8859-16'), '\u20ac');
  assert.equal(decode('\x1b$B$"', 'ISO-2022-JP'), '\u3042');
  assert.equal(decode('abc', 'replacement'), '\ufffd');
  assert.equal(decode('\xc3', 'UTF-8'), '\ufffd');
});

test('encodeQuery escapes in the page encoding and writes what it lacks as a reference', () => {
  assert.equal(encodeQuery('a=\u20ac&b=\u4e2d', 'windows-1252'), 'a=%80&b=%26%2320013%3B');
  assert.equal(encodeQuery('\u20ac', 'GBK'), '%80');
  assert.equal(encodeQuery('\u20ac', 'gb18030'), '%A2%E3');
  assert.equal(encodeQuery('\u00e9', 'Big5'), '%26%23233%3B');
  assert.equal(encodeQuery('\u65e5\u672c', 'Shift_JIS'), '%93%FA%96{');
  assert.equal(encodeQuery('x\u65e5y', 'ISO-2022-JP'), 'x%1B$BF|%1B(By');
  assert.equal(encodeQuery('\ud800', 'EUC-KR'), '%26%2355296%3B');
  assert.equal(encodeQuery('\u00e9', 'UTF-8'), '\u00e9');
});

test('parseMediaType reads quoted, escaped and misplaced parameters', () => {
  assert.deepEqual(parseMediaType('Text/HTML ; x=1;Charset="utf\\-8"'), {
    essence: 'text/html',
    charset: 'utf-8',
  });
  assert.deepEqual(parseMediaType('text/html; foo="a; charset=b"'), { essence: 'text/html' });
  assert.deepEqual(parseMediaType(';;='), { essence: '' });
});

test('looksLikeHtml wants a known first tag that ends', () => {
  assert.equal(looksLikeHtml(bytes(' \n<!DOCTYPE html>')), true);
  assert.equal(looksLikeHtml(bytes('<a href=x>')), true);
  assert.equal(looksLikeHtml(bytes('<article>')), false);
  assert.equal(looksLikeHtml(bytes('{"a":"<a >"}')), false);
});
