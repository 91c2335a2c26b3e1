// What the local index costs for each page, the scan for its text included: why `search` catches up when it is asked, and the crawl does not
// keep it (docs/decisions/0015). Pages of the shipped web.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FEED_START } from '../src/actors/change-event.ts';
import { wallMs } from '../src/base/units.ts';
import { feedDocument } from '../src/feed/feed-document.ts';
import { SearchIndex } from '../src/feed/search-index.ts';
import { createWorld } from '../test/support/world/world.ts';
import { parameter } from './measure.ts';

const PAGES = parameter('pages', 40, 600);

for (const pageBytes of [10_000, 40_000]) await measure(pageBytes);

async function measure(pageBytes: number): Promise<void> {
  const world = createWorld({ seed: 3, hosts: 1, pagesPerHost: PAGES, pageBytes });
  const folder = mkdtempSync(join(tmpdir(), 'hostler-bench-'));
  const index = new SearchIndex(folder);
  const bodies = [...world.reachable({ userAgent: 'hostler', fromSeeds: world.seeds() })]
    .slice(0, PAGES)
    .map((url) => {
      const { hostname, pathname, search } = new URL(url);
      const path = pathname + search;
      return { url, ...world.respond({ host: hostname, path, atMs: 0, userAgent: 'hostler' }) };
    });
  const before = process.cpuUsage();
  const documents = bodies.map(({ url, headers, body, status }) =>
    feedDocument(
      { kind: 'new', row: rowOf(url) },
      FEED_START,
      { status, headers: headers.flat(), body },
      'hostler',
    ),
  );
  const scanned = process.cpuUsage(before);
  for (let at = 0; at < documents.length; at += index.portionMax) {
    await index.deliver(documents.slice(at, at + index.portionMax), '0-0-0');
  }
  const used = process.cpuUsage(before);
  const found = index.search(documents[0]?.record.title ?? '', 10).length;
  await index.close();
  rmSync(folder, { recursive: true });
  const perPage = (cpu: NodeJS.CpuUsage) => ((cpu.user + cpu.system) / documents.length).toFixed(0);
  console.log(
    `${pageBytes} bytes: ${documents.length} pages, ${perPage(used)} µs CPU a page, ` +
      `${perPage(scanned)} of it for the text; found ${found}`,
  );
}

function rowOf(url: string) {
  return {
    url,
    fetchedAt: wallMs(0),
    status: 200,
    failure: undefined,
    depth: 0,
    contentDigest: '',
    contentType: 'text/html',
    bodyBytes: 0,
    pointer: undefined,
    duplicateOf: undefined,
    truncated: undefined,
    redirectTo: undefined,
    etag: undefined,
    lastModified: undefined,
    visit: undefined,
    simhash: undefined,
    nearDuplicateOf: undefined,
  };
}
