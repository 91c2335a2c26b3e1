import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { pageText } from '../../../src/domain/page-text.ts';

const read = (html: string | Buffer, ...headers: readonly string[]) =>
  pageText(
    {
      url: 'http://a.test/',
      headers: ['Content-Type', 'text/html; charset=utf-8', ...headers],
      body: Buffer.from(html),
    },
    'hostler',
  );

test('pageText gives visible text, title, language and links, and no script or style', () => {
  const page = read(
    '<!doctype html><html lang="en-GB"><head><title> A &amp;\n B </title><style>p {}</style></head>' +
      '<body><h1>Head</h1><script>var x = "hidden";</script><p>caf&eacute; <b>bold</b></p>' +
      '<a href=/one>one</a><a rel=nofollow href=/two>two</a></body></html>',
  );
  strictEqual(page?.title, 'A & B');
  strictEqual(page.language, 'en-GB');
  strictEqual(page.outlinks, 1);
  strictEqual(page.noindex, false);
  strictEqual(page.text.includes('hidden'), false);
  strictEqual(page.text.includes('Head café bold one two'), true, page.text);
});

test('pageText hears noindex in metadata and headers, and a language in a header', () => {
  strictEqual(read('<meta name=robots content=noindex>x')?.noindex, true);
  strictEqual(read('x', 'X-Robots-Tag', 'noindex')?.noindex, true);
  strictEqual(read('x', 'X-Robots-Tag', 'otherbot: noindex')?.noindex, false);
  strictEqual(read('x', 'Content-Language', 'de, en')?.language, 'de');
});

test('pageText reads plain text and nothing that is no text', () => {
  const of = (type: string, body: string) =>
    pageText(
      { url: 'http://a.test/x', headers: ['Content-Type', type], body: Buffer.from(body) },
      'hostler',
    );
  deepStrictEqual(of('text/plain', 'some\n text'), {
    title: undefined,
    language: undefined,
    text: 'some text',
    outlinks: 0,
    noindex: false,
  });
  strictEqual(of('image/png', 'some text'), undefined);
});
