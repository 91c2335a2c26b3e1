import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { headerValue, headerValues } from '../../../src/domain/header-list.ts';
import { redirectTarget, resolveLocation } from '../../../src/domain/location.ts';

const BASE = 'http://site.test/dir/page?q=1';
const raw = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

test('resolveLocation resolves by the WHATWG rules and drops fragment and credentials', () => {
  strictEqual(resolveLocation('new', BASE), 'http://site.test/dir/new');
  strictEqual(resolveLocation('?x', BASE), 'http://site.test/dir/page?x');
  strictEqual(resolveLocation('//b.test/x#f', BASE), 'http://b.test/x');
  strictEqual(resolveLocation('/a/../b/./c', BASE), 'http://site.test/b/c');
  strictEqual(resolveLocation('https://u:p@b.test/', BASE), 'https://b.test/');
  strictEqual(resolveLocation('\\\\b.test\\x', BASE), 'http://b.test/x');
  strictEqual(resolveLocation('http://0177.0.0.1/', BASE), 'http://127.0.0.1/');
});

test('resolveLocation reads raw UTF-8 bytes, in host names too, and keeps other bytes as escapes', () => {
  strictEqual(resolveLocation(raw('/ação'), BASE), 'http://site.test/a%C3%A7%C3%A3o');
  strictEqual(resolveLocation(raw('http://bücher.test/'), BASE), 'http://xn--bcher-kva.test/');
  strictEqual(resolveLocation('/caf\xe9', BASE), 'http://site.test/caf%E9');
  strictEqual(
    resolveLocation(raw('http%3A//scrapytest.org/ação'), BASE),
    'http://site.test/dir/http%3A//scrapytest.org/a%C3%A7%C3%A3o',
  );
});

test('resolveLocation leads nowhere but to http and https', () => {
  for (const text of [
    '',
    '  ',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://a.test/',
    'mailto:a@b.c',
    'http://',
    'http://[::1',
    'http://a b/',
  ]) {
    strictEqual(resolveLocation(text, BASE), undefined, text);
  }
});

test('redirectTarget follows only the five redirect statuses and only a Location that is clear', () => {
  const headers = ['Location', '/a', 'location', '/a'];
  for (const status of [301, 302, 303, 307, 308]) {
    deepStrictEqual(redirectTarget(status, headers, BASE), {
      kind: 'target',
      url: 'http://site.test/a',
    });
  }
  for (const status of [200, 201, 300, 304, 305, 306, 404]) {
    strictEqual(redirectTarget(status, headers, BASE).kind, 'none');
  }
  strictEqual(redirectTarget(301, ['Location', ''], BASE).kind, 'none');
  const refusals = [
    [['Location', '/a', 'Location', '/b'], 'ambiguous'],
    [['Location', 'ftp://a.test/'], 'scheme'],
    [['Location', 'http://'], 'invalid'],
  ] as const;
  for (const [fields, reason] of refusals) {
    deepStrictEqual(redirectTarget(301, fields, BASE), { kind: 'refused', reason });
  }
});

test('headerValue and headerValues find names in any case and prototype names nowhere', () => {
  const headers = ['Via', 'a', 'VIA', 'b', 'X', ''];
  strictEqual(headerValue(headers, 'via'), 'a');
  deepStrictEqual(headerValues(headers, 'via'), ['a', 'b']);
  strictEqual(headerValue(headers, 'x'), '');
  strictEqual(headerValue(headers, 'constructor'), undefined);
});
