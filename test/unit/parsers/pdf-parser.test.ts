import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import type { PageInput } from '../../../src/domain/page-links.ts';
import { PDF_PAGES_MAX, pdfParser } from '../../../src/parsers/pdf-parser.ts';
import { smallPdf } from '../../fixtures/small-pdf.ts';

const inputOf = (body: Uint8Array, headers: PageInput['headers'] = []): PageInput => ({
  url: 'http://h.test/papers/one.pdf',
  contentType: 'application/pdf',
  headers,
  body,
  userAgent: 'hostler',
});

test('pdfParser finds link annotations of all pages, relative ones too, each once', async () => {
  const uris = [
    'http://other.test/a#top',
    undefined,
    '../b',
    'http://other.test/a',
    'mailto:x@y.z',
  ];
  const body = smallPdf(uris);
  const copy = Buffer.from(body);
  const parsed = await pdfParser.parse(inputOf(body));
  deepStrictEqual(parsed.links, [{ url: 'http://other.test/a' }, { url: 'http://h.test/b' }]);
  strictEqual(parsed.truncated, false);
  deepStrictEqual(body, copy, 'the bytes stay the caller’s');
});

test('pdfParser obeys X-Robots-Tag: nofollow and keeps links of headers', async () => {
  const headers = [
    ['X-Robots-Tag', 'nofollow'],
    ['Link', '</html>; rel="canonical"'],
  ] as const;
  const { links, canonical } = await pdfParser.parse(inputOf(smallPdf(['/x']), headers));
  deepStrictEqual(
    links.filter(({ url }) => url.endsWith('/x')),
    [{ url: 'http://h.test/x', nofollow: true }],
  );
  strictEqual(canonical, 'http://h.test/html');
});

test('pdfParser answers no links for what is no document, or a cut one', async () => {
  const whole = smallPdf(['http://other.test/a']);
  for (const body of [Buffer.from('<p>404'), Buffer.alloc(0), whole.subarray(0, 60)]) {
    deepStrictEqual((await pdfParser.parse(inputOf(body))).links, []);
  }
});

test('pdfParser looks at so many pages and tells that there are more', async () => {
  const uris = Array.from({ length: PDF_PAGES_MAX + 1 }, (_, page) => `http://h.test/${page}`);
  const { links, truncated } = await pdfParser.parse(inputOf(smallPdf(uris)));
  deepStrictEqual([links.length, truncated], [PDF_PAGES_MAX, true]);
});
