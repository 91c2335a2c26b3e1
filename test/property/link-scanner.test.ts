// The scanner against parse5: on real pages damaged by random edits, no link of the tree may be missing from the scan. Edits are drawn
// from fragments that change the tokenizer's state, since random bytes alone rarely do. FUZZ_SECONDS=600 runs longer.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scanLinks } from '../../src/domain/link-scanner.ts';
import { REFERENCE_BYTES_MAX } from '../../src/domain/page-facts.ts';
import { parse5Links } from '../../src/parsers/parse5-links.ts';

const FRAGMENTS = [
  '<!--',
  '-->',
  '--!>',
  '<!-->',
  '<script>',
  '</script>',
  '<script>"<!--<script>',
  '<style>',
  '</style>',
  '<title>',
  '</title>',
  '<textarea>',
  '</textarea>',
  '<xmp>',
  '</xmp>',
  '<iframe src=/if>',
  '</iframe>',
  '<noembed>',
  '</noembed>',
  '<noframes>',
  '</noframes>',
  '<plaintext>',
  '<svg>',
  '</svg>',
  '<svg/>',
  '<math>',
  '</math>',
  '<![CDATA[',
  ']]>',
  '<foreignObject>',
  '</foreignObject>',
  '<desc>',
  '</desc>',
  '<mi>',
  '</mi>',
  '<annotation-xml encoding="text/html">',
  '</annotation-xml>',
  '<mglyph>',
  '<template>',
  '</template>',
  '<select>',
  '</select>',
  '<option>',
  '<table>',
  '</table>',
  '<tr>',
  '<td>',
  '</td>',
  '<caption>',
  '<colgroup>',
  '<col>',
  '<frameset>',
  '</frameset>',
  '<frame src=/fr>',
  '<p>',
  '</p>',
  '<div>',
  '</div>',
  '</br>',
  '<b>',
  '</b>',
  '<font>',
  '<font color=x>',
  '<a href=/x>',
  '</a>',
  '<a href="/y&amp;z">',
  "<a href='/q'",
  '<area href=/ar>',
  '<base href=/b/>',
  '<noscript>',
  '</noscript>',
  '<head>',
  '</head>',
  '<body>',
  '</body>',
  '<html>',
  '</html>',
  '<!doctype x "',
  '<?pi',
  '</',
  '<',
  '>',
  '"',
  "'",
  '=',
  '/',
  '/>',
  '&',
  '&#x3c;',
  '\0',
  '\r',
  '\n',
  '-',
  '!',
  ']',
  '<a',
  '<a title="',
  '<a title=a"b href=/c>',
  '<a =x href=/d>',
  '<svg><title>',
  '<svg><style>',
  '<svg><script>',
  '<math><mtext>',
  '<math><style>',
  '<svg><a xlink:href=/l>',
  '<link rel=next href=/n>',
];

const ROUNDS_SECONDS = Number(process.env.FUZZ_SECONDS ?? '5');
const PAGE_BYTES_MAX = 20_000;

/** Mulberry32: small, seeded, good enough to draw edits. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pagesBelow(folder: string, limit: number, found: string[] = []): string[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return found;
  }
  for (const name of names) {
    if (found.length >= limit) break;
    const path = join(folder, name);
    try {
      if (statSync(path).isDirectory()) pagesBelow(path, limit, found);
      else if (/\.html?$/.test(name)) {
        found.push(readFileSync(path).subarray(0, PAGE_BYTES_MAX).toString('latin1'));
      }
    } catch {
      // A dangling link or a file we may not read is not a page.
    }
  }
  return found;
}

const GENERATED = [
  '<!doctype html><title>t</title><p><a href=/1>one</a><svg><g><a href=/2><text>x</text></a></g></svg><a href="/3">three</a>',
  '<table><tr><td><a href=/4>x</a></table><select><option>a</select><math><mi>x</mi></math><a href=/5>y</a>',
  '<frameset><frame src=/6><noframes><a href=/7></noframes></frameset>',
  '<svg><style>a{}</style><foreignObject><div><p><a href=/8>x</a></p></div></foreignObject></svg><script>x</script><a href=/9>z</a>',
];
const PAGES = [
  ...GENERATED,
  ...pagesBelow('/usr/share/doc', 60),
  ...pagesBelow('node_modules', 20),
];

function mutate(page: string, random: (below: number) => number): string {
  let text = page;
  if (random(3) > 0) {
    const start = random(text.length);
    text = text.slice(start, start + 200 + random(3_000));
  }
  for (let edit = random(6) + 1; edit > 0; edit--) {
    const at = random(text.length + 1);
    const kind = random(4);
    const cut = kind === 0 ? random(30) : kind === 1 ? 1 : 0;
    const inserted = kind === 1 ? '' : FRAGMENTS[random(FRAGMENTS.length)]!;
    text = text.slice(0, at) + inserted + text.slice(at + cut);
  }
  return text;
}

/**
 * Links of the tree that the scan lacks. Those near its bound on length are left out, as references make the source longer than the
 * value. A carriage return is a line feed to parse5; neither is part of a URL.
 */
function missing(html: string): string[] {
  const scan = scanLinks(Buffer.from(html, 'utf8'), { charset: 'utf-8' });
  const plain = (reference: string) => reference.replace(/[\r\n]/g, '');
  const found = new Set(scan.links.map((link) => `${link.kind} ${plain(link.reference)}`));
  return parse5Links(html)
    .links.filter((link) => Buffer.byteLength(link.reference) <= REFERENCE_BYTES_MAX / 2)
    .map((link) => `${link.kind} ${plain(link.reference)}`)
    .filter((link) => !found.has(link));
}

/** The failing page with everything removed that the failure does not need. */
function shrink(page: string): string {
  let text = page;
  for (let size = text.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < text.length; ) {
      const shorter = text.slice(0, at) + text.slice(at + size);
      if (missing(shorter).length > 0) text = shorter;
      else at += size;
    }
  }
  return text;
}

test('scanLinks loses no link that the parse5 tree of a damaged page has', () => {
  const seed = Number(process.env.FUZZ_SEED ?? '20240607');
  const random = seeded(seed);
  const end = performance.now() + ROUNDS_SECONDS * 1_000;
  let rounds = 0;
  let links = 0;
  while (performance.now() < end) {
    const html = mutate(PAGES[random(PAGES.length)]!, random);
    const lost = missing(html);
    links += html.length;
    rounds++;
    if (lost.length === 0) continue;
    assert.fail(`seed ${seed}, round ${rounds}: ${JSON.stringify(shrink(html))}`);
  }
  assert.ok(rounds > 50 && links > 0, `only ${rounds} rounds`);
});
