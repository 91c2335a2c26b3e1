// Which pages seem to need a browser, and when a host is given up: shells as the usual tools make them, and pages that only look like them.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { scanLinks } from '../../../src/domain/link-scanner.ts';
import {
  afterPassing,
  afterRender,
  isGain,
  isWorthRendering,
  NO_RENDERS,
  SAMPLE_EVERY,
  TRIES_MIN,
} from '../../../src/domain/render-memory.ts';
import { renderReasonOf, WORDS_ENOUGH } from '../../../src/domain/render-need.ts';
import { SimhashBuilder } from '../../../src/domain/simhash.ts';

function needOf(html: string): string | undefined {
  const bytes = Buffer.from(html);
  const text = new SimhashBuilder();
  const scan = scanLinks(bytes, { text });
  const links = new Set(scan.links.map(({ reference }) => reference)).size;
  return renderReasonOf({ bytes, words: text.finish().features, links });
}

const words = (count: number) => 'word '.repeat(count);
const SCRIPT = '<script type="module" crossorigin src="/assets/index-4f1c.js"></script>';

test('renderReasonOf knows the shells that the usual tools make', () => {
  const shells = {
    vite: `<html><head><title>Vite App</title>${SCRIPT}</head><body><div id="app"></div></body></html>`,
    createReactApp:
      '<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/static/js/main.8a1.js"></script></body>',
    angular: `<body><app-root></app-root>${SCRIPT}</body>`,
    next: `<body><div id="__next"></div><script src="/_next/static/chunks/main.js"></script><script id="__NEXT_DATA__" type="application/json">{"props":{}}</script></body>`,
    nuxt: `<body><div id="__nuxt"><!-- spa --></div>${SCRIPT}</body>`,
    svelteKit: `<body data-sveltekit-preload-data="hover"><div style="display: contents">${SCRIPT}<script>{ __sveltekit_1x = { base: "" }; Promise.all([import("/a.js")]).then(([kit, app]) => kit.start(app)) }</script></div></body>`,
    loading: `<body><div id=root><p>Loading your workspace …</p></div>${SCRIPT}</body>`,
    withFooter: `<body><div id="root"></div><footer>${words(60)}<a href="/imprint">i</a></footer>${SCRIPT}</body>`,
  };
  const found = Object.entries(shells).map(([name, html]) => [name, needOf(html)]);
  deepStrictEqual(
    found,
    Object.keys(shells).map((name) => [name, 'empty-root']),
  );
});

test('renderReasonOf takes a notice, or nothing but scripts, for a reason of its own', () => {
  const notice = `<body><noscript>Please activate JavaScript.</noscript><main></main>${SCRIPT}</body>`;
  strictEqual(needOf(notice), 'notice');
  strictEqual(needOf(`<body>${SCRIPT}</body>`), 'script-only');
  strictEqual(needOf(`<body><script>${'x();'.repeat(50)}</script></body>`), 'script-only');
});

test('renderReasonOf leaves a page alone that sends its readers on, unless only those without scripts', () => {
  const refresh = '<meta http-equiv="refresh" content="0; url=../dev-guide/plugins.html">';
  const script = '<script>location.replace("../dev-guide/plugins.html" + location.hash)</script>';
  strictEqual(
    needOf(`<head>${refresh}</head><body>Redirecting… ${script}${SCRIPT}</body>`),
    undefined,
  );
  const noscript = `<head><noscript>${refresh}</noscript></head><body>${SCRIPT}</body>`;
  strictEqual(needOf(noscript), 'script-only');
});

test('renderReasonOf leaves pages alone that can be read, whatever they are built with', () => {
  const readable = [
    `<body><div id="root">${words(WORDS_ENOUGH)}</div>${SCRIPT}</body>`,
    `<body><div id="app"><h1>${words(60)}</h1><a href="/a">a</a></div>${SCRIPT}</body>`,
    `<body><noscript>Search needs JavaScript.</noscript><p>${words(80)}</p>${SCRIPT}</body>`,
    '<body><h1>404</h1><p>Not found</p></body>',
    '<body><div id="root"></div></body>',
    `<body><div id="root"></div><script type="application/ld+json">${'{"a":1},'.repeat(40)}</script></body>`,
    `<frameset><frame src="a.html"><frame src="b.html"></frameset>${SCRIPT}`,
    `<body><ul><li><a href="/a">a</a><li><a href="/b">b</a></ul>${SCRIPT}</body>`,
    '',
  ];
  for (const html of readable) strictEqual(needOf(html), undefined, html.slice(0, 80));
});

test('renderReasonOf takes linear time on pages made to be slow', () => {
  const slow = [
    '<div id="root" ',
    '<noscript',
    '<script',
    '<app-root ',
    ' id = ',
    '<!--',
    '<meta ',
  ];
  for (const part of slow) {
    const bytes = Buffer.from(`<script src=x></script>${part.repeat(200_000)}`);
    const before = process.cpuUsage();
    renderReasonOf({ bytes, words: 0, links: 0 });
    const { user } = process.cpuUsage(before);
    ok(user < 200_000, `${part}: ${user} µs`);
  }
});

test('isGain asks for a new link, or for clearly more words', () => {
  strictEqual(isGain({ plainWords: 10, words: 10, newLinks: 1 }), true);
  strictEqual(isGain({ plainWords: 10, words: 29, newLinks: 0 }), false);
  strictEqual(isGain({ plainWords: 10, words: 30, newLinks: 0 }), true);
  strictEqual(isGain({ plainWords: 100, words: 149, newLinks: 0 }), false);
});

test('isWorthRendering gives a host up that gains nothing, and samples it from then on', () => {
  let memory = NO_RENDERS;
  for (let page = 0; page < TRIES_MIN; page += 1) {
    ok(isWorthRendering(memory), `page ${page}`);
    memory = afterRender(memory, false);
  }
  for (let page = 1; page < SAMPLE_EVERY; page += 1) {
    strictEqual(isWorthRendering(memory), false, `page ${page}`);
    memory = afterPassing(memory);
  }
  strictEqual(isWorthRendering(memory), true);
});

test('afterRender forgets slowly: a host that gains again is rendered again', () => {
  let memory = NO_RENDERS;
  for (let page = 0; page < 1_000; page += 1) memory = afterRender(memory, false);
  strictEqual(isWorthRendering(memory), false);
  for (let page = 0; page < 20; page += 1) memory = afterRender(memory, true);
  strictEqual(isWorthRendering(memory), true);
  ok(memory.tried <= 64, String(memory.tried));
});
