import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScanOptions, scanLinks } from '../../../src/domain/link-scanner.ts';
import { LINKS_PER_PAGE_MAX, REFERENCE_BYTES_MAX } from '../../../src/domain/page-facts.ts';

const scan = (html: string, options: ScanOptions = { charset: 'utf-8' }) =>
  scanLinks(Buffer.from(html), options);
const references = (html: string, options?: ScanOptions) =>
  scan(html, options).links.map((link) => link.reference);

test('scanLinks finds links in the order of the page with kind, rel and nofollow', () => {
  const { links } = scan(
    '<a href=1 rel="Foo NoFollow"><AREA HREF=2><frame src=3><iframe src=4></iframe><link rel=next href=5>',
  );
  assert.deepEqual(links, [
    { reference: '1', kind: 'a', rel: 'foo nofollow', nofollow: true },
    { reference: '2', kind: 'area', nofollow: false },
    { reference: '3', kind: 'frame', nofollow: false },
    { reference: '4', kind: 'iframe', nofollow: false },
    { reference: '5', kind: 'link', rel: 'next', nofollow: false },
  ]);
});

test('scanLinks reads attribute values as the tokenizer does', () => {
  const values = {
    '<a href="a&amp;b&copy=1&copy;&#x41;&notit;">': 'a&b&copy=1©A&notit;',
    "<a title='>' href = 'x'>": 'x',
    '<a title=a"b href=c>': 'c',
    '<a =href=x href=y>': 'y',
    '<a href=1 href=2>': '1',
    '<a/href=x/>': 'x/',
    '<a href="a\0b">': 'a\ufffdb',
    '<a href=>': '',
    '<a\nhref\n=\n"x">': 'x',
  };
  for (const [html, value] of Object.entries(values)) {
    assert.deepEqual(references(html), [value], html);
  }
  assert.deepEqual(references('<a href="cut off'), []);
  assert.deepEqual(references('<a href=x'), []);
});

test('scanLinks passes over comments, raw text and scripts, and goes on after them', () => {
  const hidden = [
    '<!-- <a href=x> -->',
    '<!-- <a href=x> --!>',
    '<!-->',
    '<!--->',
    '<script>"<a href=x>"</script>',
    '<script><!--<script></script><a href=x>--></script>',
    '<style><a href=x></style >',
    '<textarea><a href=x></textarea/>',
    '<title><a href=x></TITLE>',
    '<xmp><a href=x></xmpx></xmp>',
    '<noembed><a href=x></noembed>',
    '<noframes><a href=x></noframes>',
    '<![CDATA[ <b> ]]>',
    '<?php <b ?>',
    '</ <a href=x>',
    '<!doctype x "<a href=x>',
  ];
  for (const html of hidden) assert.deepEqual(references(`${html}<a href=ok>`), ['ok'], html);
  assert.deepEqual(references('<plaintext><a href=x></plaintext><a href=y>'), []);
});

test('scanLinks knows foreign content', () => {
  assert.deepEqual(references('<svg><style><a href=1></style></svg><style><a href=x></style>'), [
    '1',
  ]);
  assert.deepEqual(references('<svg><![CDATA[<a href=x>]]><a xlink:href=1></svg>'), ['1']);
  assert.deepEqual(
    references('<svg><foreignObject><style><a href=x></style></foreignObject></svg><a href=1>'),
    ['1'],
  );
  assert.deepEqual(references('<math><mi><xmp><a href=x></xmp></mi></math><a href=1>'), ['1']);
  assert.deepEqual(references('<svg/><style><a href=x></style><a href=1>'), ['1']);
  assert.deepEqual(references('<svg><g><p><xmp><a href=x></xmp><a href=1>'), ['1']);
  assert.equal(scan('<svg><title>no</title></svg><title>yes</title>').title, 'yes');
});

test('scanLinks joins both readings where the tree alone would tell them apart', () => {
  assert.deepEqual(references('<select><xmp></select><a href=1></xmp><a href=2>').sort(), [
    '1',
    '2',
  ]);
  assert.deepEqual(references('<div><svg><g></div><style><a href=1></style><a href=2>').sort(), [
    '1',
    '2',
  ]);
});

test('scanLinks leaves out templates but not declarative shadow roots', () => {
  assert.deepEqual(references('<template><base href=x><a href=x></template><a href=1>'), ['1']);
  assert.equal(scan('<template><base href=x></template>').base, undefined);
  assert.deepEqual(references('<template shadowrootmode=open><a href=1></template>'), ['1']);
});

test('scanLinks reports what the page says of itself, the first of each', () => {
  const page = scan(
    '<title> a &amp;\n b </title><title>c</title><base><base href=/1><base href=/2><link rel="x Canonical" href=/c>' +
      '<meta name=ROBOTS content=none><meta name=viewport content=x><meta property=og:url content=y>' +
      '<noscript><meta http-equiv=refresh content="0;url=/no"></noscript><meta http-equiv=Refresh content="1.5;url=/r">',
  );
  assert.equal(page.title, 'a & b');
  assert.equal(page.base, '/1');
  assert.equal(page.canonical, '/c');
  assert.deepEqual(page.metaRobots, [{ agent: 'robots', content: 'none' }]);
  assert.deepEqual(page.refresh, { delaySeconds: 1.5, reference: '/r' });
});

test('scanLinks reads a page again when a late meta element names its encoding', () => {
  const html = `<a href="\xe6"><!--${'x'.repeat(2_000)}--><meta charset=iso-8859-2>`;
  const page = scanLinks(Buffer.from(html, 'latin1'));
  assert.deepEqual([page.charset, page.charsetSource], ['ISO-8859-2', 'meta']);
  assert.equal(page.links[0]?.reference, '\u0107');
});

test('scanLinks reads UTF-16 and ISO-2022-JP pages', () => {
  const wide = Buffer.concat([
    Buffer.from([0xff, 0xfe]),
    Buffer.from('<a href=/\u00e9>', 'utf16le'),
  ]);
  assert.equal(scanLinks(wide).links[0]?.reference, '/\u00e9');
  const japanese = Buffer.from('<a href="/\x1b$B<a\x1b(B">', 'latin1');
  assert.equal(scanLinks(japanese, { charset: 'iso-2022-jp' }).links.length, 1);
});

test('scanLinks in XML knows no raw text and reads CDATA everywhere', () => {
  const html =
    '<script src="x"/><a href="1"/><![CDATA[<a href="x"/>]]><!-- --!> <a href="x"/> --><title>t</title>';
  const page = scan(html, { xml: true });
  assert.deepEqual(
    page.links.map((link) => link.reference),
    ['1'],
  );
  assert.equal(page.title, 't');
});

test('scanLinks bounds links and references, and says so', () => {
  const many = scan('<a href=x>'.repeat(LINKS_PER_PAGE_MAX + 1));
  assert.deepEqual([many.links.length, many.truncated], [LINKS_PER_PAGE_MAX, true]);
  const long = scan(`<a href=${'x'.repeat(REFERENCE_BYTES_MAX + 1)}><a href=y>`);
  assert.deepEqual([long.links.length, long.truncated], [1, true]);
});

test('scanLinks hands the visible text to its sink', () => {
  let text = '';
  const sink = {
    addText: (bytes: Uint8Array, start: number, end: number) => {
      text += `${Buffer.from(bytes.subarray(start, end))}|`;
    },
  };
  scan('<title>t</title>a<b>b</b><script>s</script><!-- c --><template>x</template>1 < 2', {
    text: sink,
  });
  assert.equal(text, 'a|b|1 | 2|');
});
