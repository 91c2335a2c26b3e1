// What parsing a page costs (step 11): the byte scanner beside parse5 on real documentation pages, the whole of extractLinks, and the
// simhash. `node dist/bench/link-scanner.bench.js` is a smoke run; `--full` measures. Prints CPU time, as the cores are shared.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { scanLinks } from '../src/domain/link-scanner.ts';
import { extractLinks } from '../src/domain/page-links.ts';
import { SimhashBuilder } from '../src/domain/simhash.ts';
import { parse5Links } from '../src/parsers/parse5-links.ts';

const full = process.argv.includes('--full');
const parameter = (smoke: number, measured: number) => (full ? measured : smoke);
const PAGES_MAX = parameter(5, 200);
const ROUNDS = parameter(1, 10);
const FOLDERS = (process.env.BENCH_PAGES ?? '/usr/share/doc').split(':');

function pagesBelow(folder: string, found: Uint8Array[] = []): Uint8Array[] {
  for (const name of readdirSync(folder).sort()) {
    if (found.length >= PAGES_MAX) break;
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) pagesBelow(path, found);
    else if (stat !== undefined && /\.html?$/.test(name) && stat.size > 2_000) {
      found.push(readFileSync(path));
    }
  }
  return found;
}

/** A page like those of documentation, for machines that have none. */
function generatedPage(index: number): Uint8Array {
  const row = (n: number) =>
    `<tr class="row"><td id="c${n}">Text of row ${n} on page ${index}, with some words.</td>` +
    `<td><a class="link" href="../page-${n}.html#s${index}">page <b>${n}</b></a></td></tr>\n`;
  const rows = Array.from({ length: 300 }, (_, n) => row(n)).join('');
  return Buffer.from(`<!doctype html><title>Page ${index}</title><table>${rows}</table>`);
}

function measure(name: string, pages: readonly Uint8Array[], run: (page: Uint8Array) => number) {
  for (const page of pages) run(page);
  const bytes = pages.reduce((sum, page) => sum + page.length, 0);
  const rates: number[] = [];
  let checksum = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (const page of pages) checksum = (checksum * 31 + run(page)) >>> 0;
    const { user, system } = process.cpuUsage(before);
    rates.push(bytes / Math.max(1, user + system));
  }
  rates.sort((a, b) => a - b);
  const median = rates[rates.length >> 1]!;
  const perPage = (102_400 / median).toFixed(0);
  const range = `${rates[0]!.toFixed(0)}–${rates.at(-1)!.toFixed(0)}`;
  console.log(
    `${name.padEnd(24)} ${median.toFixed(0).padStart(5)} MB/s (${range}) ${perPage} µs/100 KB checksum ${checksum}`,
  );
}

const real = FOLDERS.flatMap((folder) => {
  try {
    return pagesBelow(folder);
  } catch {
    return [];
  }
});
const pages =
  real.length > 0 ? real : Array.from({ length: PAGES_MAX }, (_, n) => generatedPage(n));
const total = pages.reduce((sum, page) => sum + page.length, 0);
console.log(`${pages.length} pages, ${(total / pages.length / 1_000).toFixed(1)} KB on average`);

const latin1 = new Map(pages.map((page) => [page, Buffer.from(page).toString('latin1')]));
const url = 'https://example.org/docs/index.html';
measure('scanLinks', pages, (page) => scanLinks(page, { charset: 'utf-8' }).links.length);
measure('scanLinks with simhash', pages, (page) => {
  const text = new SimhashBuilder();
  scanLinks(page, { charset: 'utf-8', text });
  return text.finish().low;
});
measure('extractLinks', pages, (page) => {
  return extractLinks({ url, contentType: 'text/html', body: page, userAgent: 'hostler' }).links
    .length;
});
measure('simhash of all bytes', pages, (page) => {
  const text = new SimhashBuilder();
  text.addText(page, 0, page.length);
  return text.finish().low;
});
if (full)
  measure('parse5 tree', pages.slice(0, 60), (page) => parse5Links(latin1.get(page)!).links.length);
