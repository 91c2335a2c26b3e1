// What a crawl left on disk, read as its reports and replays read it: page rows, whether every pointer names a whole record, and whether
// the archive satisfies both our own checker and an independent reader (npm warcio, which recomputes the digests).
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { WARCParser } from 'warcio';
import type { PageRow } from '../../../src/actors/rows.ts';
import { createIdentityRules } from '../../../src/domain/canonical-query.ts';
import { canonicalize } from '../../../src/domain/canonical-url.ts';
import { ReadStore } from '../../../src/storage/read-store.ts';
import { checkWarc } from '../../../src/storage/warc-check.ts';
import { WARC_PREFIX } from '../../../src/storage/warc-names.ts';

const RULES = createIdentityRules({ stripSessions: true });

/** Runs `body` on the data directory of a crawl that does not run. */
export async function readCrawl<Result>(
  dataDir: string,
  body: (store: ReadStore) => Result | Promise<Result>,
): Promise<Result> {
  const store = new ReadStore(dataDir, WARC_PREFIX);
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** Canonical URLs of the stored 200 pages, sorted. A URL that has two rows is twice in the list. */
export function storedPages(dataDir: string): Promise<string[]> {
  return readCrawl(dataDir, (store) =>
    [...store.pages()]
      .filter(({ row }) => row.status === 200)
      .map(({ row }) => canonicalOf(row.url))
      .sort(),
  );
}

/** All page rows by the URL that was requested. */
export function storedRows(dataDir: string): Promise<Map<string, PageRow>> {
  return readCrawl(
    dataDir,
    (store) => new Map([...store.pages()].map(({ row }) => [row.url, row] as const)),
  );
}

/** The canonical form of a URL that a crawl accepted. */
export function canonicalOf(url: string): string {
  const found = canonicalize(url, RULES);
  return found.kind === 'canonical' ? found.canonical : url;
}

/** Every fault of a crawl's archive, one line each; empty for a sound one. */
export async function archiveFaults(dataDir: string): Promise<string[]> {
  const faults: string[] = [];
  await readCrawl(dataDir, async (store) => {
    for (const { row } of store.pages()) {
      if (row.pointer === undefined || row.duplicateOf !== undefined) continue;
      const body = await store.body(row.pointer);
      if (body === undefined) faults.push(`${row.url}: no whole record at its pointer`);
      else if (body.status !== row.status) faults.push(`${row.url}: ${body.status} at its pointer`);
    }
    const ids = new Set<string>();
    for (const { path } of store.archiveFiles()) {
      const { records, problems } = checkWarc(path, ids);
      for (const { rule, offset, text } of problems)
        faults.push(`${path}@${offset}: ${rule}: ${text}`);
      faults.push(...(await foreignFaults(path, records)));
    }
  });
  return faults;
}

/** What npm warcio says of a file: the digests of every block and payload recomputed from what it reads, and the number of records. */
async function foreignFaults(path: string, expected: number): Promise<string[]> {
  const faults: string[] = [];
  for (const parseHttp of [false, true]) {
    let records = 0;
    for await (const record of new WARCParser(createReadStream(path), { parseHttp })) {
      records += 1;
      const bytes = await record.readFully(false);
      const claimed = parseHttp ? record.warcPayloadDigest : record.warcBlockDigest;
      // A revisit's payload digest is that of the body stored elsewhere; other types have no payload of their own.
      if (parseHttp && record.warcType !== 'response') continue;
      const digest = `sha1:${base32(createHash('sha1').update(bytes).digest())}`;
      if (claimed !== digest) faults.push(`${path}: ${record.warcTargetURI}: digest ${claimed}`);
    }
    if (records !== expected)
      faults.push(`${path}: warcio reads ${records} of ${expected} records`);
  }
  return faults;
}

/** RFC 4648 §6 for 20 bytes, by whole numbers: no code shared with what is checked. */
function base32(bytes: Buffer): string {
  const value = BigInt(`0x${bytes.toString('hex')}`);
  return Array.from({ length: 32 }, (_, at) => {
    const digit = Number((value >> BigInt(5 * (31 - at))) & 31n);
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[digit];
  }).join('');
}
