// Pages as servers send and an enemy would write them (step 11): the link scanner reads any bytes in linear time and bounded memory, and what
// it answers is bounded. That it loses no link of a parse5 tree is in link-scanner.test.ts.
import { ok } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { LINKS_PER_PAGE_MAX } from '../../src/domain/page-facts.ts';
import { extractLinks } from '../../src/domain/page-links.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, keptBytes, shapes, textOf } from '../support/fuzz/linear.ts';

const PIECES = [
  ...['<', '>', '/', '"', "'", '=', '&', ';', '!', '-', '?', ' ', '\n', '\0', 'a', '\xe9', '#'],
  ...['<a href=', '<a href="', '</a>', '<a ', '<base href="', '<link rel=canonical href=', '<img '],
  ...['<!--', '-->', '--!>', '<!', '<?', '</', '<![CDATA[', ']]>', '<!doctype ', '&#x', '&amp'],
  ...[
    '<script>',
    '</script',
    '<style>',
    '<title>',
    '</title>',
    '<textarea>',
    '<xmp>',
    '<plaintext>',
  ],
  ...['<svg>', '</svg>', '<math>', '<mi>', '<foreignObject>', '<template>', '</template>', '<p>'],
  ...['<select>', '<option>', '<table>', '<tr>', '<noscript>', '<iframe>', '<frameset>', '<b>'],
  ...[
    '<meta charset=',
    'utf-16',
    'iso-2022-jp',
    '<meta http-equiv=refresh content="0;url=',
    '\x1b$B',
  ],
  ...['<meta name=robots content="', 'noindex,', 'srcset="', 'a 1x,', 'nofollow ', 'rel="'],
];
const TYPES = ['text/html', 'text/html; charset=utf-16le', 'application/xhtml+xml', 'text/plain'];

function read(body: Uint8Array, contentType = 'text/html') {
  return extractLinks({ url: 'http://site.test/dir/', contentType, body, userAgent: 'hostler' });
}

fuzz('extractLinks reads any page in linear time', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => read(Buffer.from(text, 'latin1')));
});

const PAGE = Buffer.from(`<!doctype html><html><head><meta charset=utf-8><title>a &amp; b</title>
<base href="/base/"><link rel="canonical" href="/c"><meta name="robots" content="noindex"></head>
<body><a href="one?a=1&amp;b=2" rel=nofollow>1</a><!-- <a href=no> --><script>"<a href=no>"</script>
<svg><a xlink:href="two"/></svg><template><a href=three></template><table><a href=four></table></body>`);

fuzz(
  'extractLinks answers http(s) links without fragments for any damaged page of any type',
  fc.tuple(damaged(fc.constant(PAGE), '<>&;"\'/=!-#\0\x1b\xff '), fc.constantFrom(...TYPES)),
  ([body, type]) => {
    const { links, canonical, simhash, title } = read(body, type);
    ok(links.length <= LINKS_PER_PAGE_MAX);
    for (const { url } of links) ok(/^[a-z][a-z0-9+.-]*:[^#]*$/.test(url), url);
    ok(canonical === undefined || !canonical.includes('#'), canonical);
    ok((title ?? '').length <= body.length);
    ok(/^[0-9a-f]{16}$/.test(simhash), simhash);
  },
);

test('extractLinks keeps memory in proportion to what it read', () => {
  for (const unit of [
    '<a href=/a>',
    '<a href="',
    '<base href=',
    '<svg>',
    '<b>',
    '<!--',
    '&#x41;',
  ]) {
    const text = textOf({ start: '<body>', unit, end: '' }, 2_000_000);
    const kept = keptBytes(() => read(Buffer.from(text)));
    ok(kept < 30 * text.length, `${unit}: ${kept} bytes`);
  }
});
