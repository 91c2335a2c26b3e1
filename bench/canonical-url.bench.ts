// What a discovered link costs at step 1: resolving and canonicalising by the fast path and by the platform's parser, and the key.
// `node dist/bench/canonical-url.bench.js` is the smoke size, `--full` the size to quote. Fixed input; prints CPU ns per link.
import xxhash from 'xxhash-wasm';
import { parseBase } from '../src/domain/base-url.ts';
import { discoverUrl } from '../src/domain/canonical-url.ts';
import { resolveDocument } from '../src/domain/resolve-url.ts';
import { createHasher } from '../src/domain/url-key.ts';

const rounds = process.argv.includes('--full') ? 300_000 : 500;
const base = parseBase('https://docs.example.org/guide/chapter-3/index.html');
if (base === undefined) throw new Error('the base is a URL');
const hasher = createHasher(await xxhash(), 42n);

const KINDS: Readonly<Record<string, readonly string[]>> = {
  absolute: ['https://docs.example.org/guide/chapter-4/', 'https://www.other.example/a/b/c.html'],
  'root-relative': ['/guide/chapter-5/section-2.html', '/reference/api/modules/index.html#top'],
  'path-relative': ['section-1.html#part', '../chapter-2/section-9.html', './figures/plan-b.html'],
  'one parameter': ['/search?q=frontier', 'page.html?id=12345'],
  'many parameters': ['/list?b=2&a=1&utm_source=x', '/list?a=1&b=2&c=3'],
  escapes: ['/wiki/M%c3%bcnchen', '/a%7Eb/%e4%bd%a0'],
  'by the platform': ['/wiki/München', 'HTTPS://Docs.Example.org:443/a/./b'],
  rejected: ['javascript:void(0)', 'mailto:someone@example.org'],
};

/** Every measured function folds its results into one number, so that nothing can be optimised away and runs can be compared. */
let checksum = 0;

function cpuNsPerLink(links: readonly string[], visit: (link: string) => number): number {
  for (let at = 0; at < 20_000; at += 1) checksum += visit(links[at % links.length] as string);
  const from = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    for (const link of links) checksum += visit(link);
  }
  const { user, system } = process.cpuUsage(from);
  return ((user + system) * 1000) / (rounds * links.length);
}

const discover = (link: string): number => {
  const found = discoverUrl(link, base);
  // Reading the last character flattens the concatenation, which the hash would have to do anyway.
  return found.kind === 'url' ? found.canonical.charCodeAt(found.canonical.length - 1) : 1;
};
const resolve = (link: string): number => resolveDocument(link, base)?.length ?? 1;
const platform = (link: string): number => new URL(link, base.href).href.length;
const key = (link: string): number => {
  const found = discoverUrl(link, base);
  return found.kind === 'url' ? Number(hasher.urlKey(found.canonical) & 0xffn) : 1;
};
const halves = new Uint32Array(2);
const keyHalves = (link: string): number => {
  const found = discoverUrl(link, base);
  if (found.kind === 'rejected') return 1;
  hasher.urlKeyInto(found.canonical, halves, 0);
  return (halves[0] as number) & 0xff;
};

console.log('CPU ns per link     resolve  discover  + BigInt key  + key halves  new URL');
for (const [kind, links] of Object.entries(KINDS)) {
  const costs = [resolve, discover, key, keyHalves, platform].map((visit) =>
    cpuNsPerLink(links, visit),
  );
  console.log(kind.padEnd(18), ...costs.map((ns) => ns.toFixed(0).padStart(9)));
}
console.log(`links ${rounds} × kind, checksum ${checksum}`);
