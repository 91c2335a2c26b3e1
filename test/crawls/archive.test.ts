// The archive of whole crawls: what becomes of closed WARC files beside a crawl, at its end, and by `archive`.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoryBytes } from '../../src/storage/space-watch.ts';
import { isCompressedWarc } from '../../src/storage/warc-compress.ts';
import { WARC_PREFIX, warcPaths } from '../../src/storage/warc-names.ts';
import { inFolder, runCommand } from '../support/command-line.ts';
import { runCrawl, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, storedPages } from '../support/crawl/stored-crawl.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';

const ROLL_BYTES = 100_000;

async function withWeb(
  config: string,
  body: (web: StartedWeb, dataDir: string, flags: readonly string[]) => Promise<void>,
  size = { pagesPerHost: 12, pageBytes: 12_000 },
): Promise<void> {
  const web = await startWeb({
    ...{ seed: 31, hosts: 5, ...size },
    features: { duplicates: 0.1, compressed: 0.3 },
  });
  try {
    await inFolder({ 'cluster.config.ts': config }, (folder) =>
      body(web, `${folder}/data`, ['--config', `${folder}/cluster.config.ts`]),
    );
  } finally {
    await web.stop();
  }
}

const configOf = (options: object): string => `export default ${JSON.stringify(options)};\n`;

function namesOf(dataDir: string, ending: string): string[] {
  return readdirSync(join(dataDir, 'warc')).filter((name) => name.endsWith(ending));
}

function archiveBytes(dataDir: string): number {
  const warc = join(dataDir, 'warc');
  return namesOf(dataDir, '.warc.gz').reduce(
    (sum, name) => sum + statSync(join(warc, name)).size,
    0,
  );
}

test('a crawl compresses and indexes each WARC file it closes, and every record stays sound', () =>
  withWeb(configOf({ warcRollBytes: ROLL_BYTES }), async (web, dataDir, flags) => {
    const crawl = await runCrawl(webFlags(web, dataDir, flags));
    strictEqual(crawl.status, 0, crawl.stderr);
    const closed = namesOf(dataDir, '.warc.gz');
    ok(closed.length > 3, closed.join(' '));
    deepStrictEqual(
      namesOf(dataDir, '.cdxj').sort(),
      closed.map((name) => name.replace('.warc.gz', '.cdxj')).sort(),
    );
    for (const file of closed.keys()) {
      ok(isCompressedWarc(warcPaths(join(dataDir, 'warc'), WARC_PREFIX, file)), `file ${file}`);
    }
    deepStrictEqual(await archiveFaults(dataDir), []);
  }));

test('a crawl at its disk quota ends in order before it is used up, and a larger one completes it', () =>
  withWeb(
    configOf({ warcRollBytes: 10 ** 9 }),
    async (web, dataDir, flags) => {
      const quota = 5_000_000;
      const limited = await runCrawl(
        webFlags(web, dataDir, [...flags, '--disk-quota', String(quota), '--min-gap', '400']),
      );
      strictEqual(limited.status, 0, limited.stderr);
      strictEqual(limited.report?.reason, 'disk-quota');
      match(limited.stderr, /of the quota of 5000000: the crawl ends in order/);
      ok(directoryBytes(dataDir) < quota, `${directoryBytes(dataDir)} bytes`);
      const again = await runCrawl(
        webFlags(web, dataDir, [...flags, '--disk-quota', String(quota / 2)]),
      );
      strictEqual(again.status, 3);
      match(again.stderr, /has used up its quota of 2500000 bytes\nGive a larger --disk-quota/);
      const larger = await runCrawl(webFlags(web, dataDir, [...flags, '--disk-quota', '1G']));
      deepStrictEqual([larger.status, larger.report?.reason], [0, 'done'], larger.stderr);
      const coverage = { userAgent: 'hostler', fromSeeds: [...web.world.seeds()], scope: 'hosts' };
      const reachable = web.world.reachable({ ...coverage, scope: 'hosts' });
      deepStrictEqual(await storedPages(dataDir), [...reachable].sort());
      deepStrictEqual(await archiveFaults(dataDir), []);
    },
    { pagesPerHost: 45, pageBytes: 30_000 },
  ));

test('archive does what an earlier run left undone, and nothing twice', () =>
  withWeb(
    configOf({ warcRollBytes: ROLL_BYTES, warcGzipLevel: 0 }),
    async (web, dataDir, flags) => {
      const crawl = await runCrawl(webFlags(web, dataDir, flags));
      strictEqual(crawl.status, 0, crawl.stderr);
      const before = archiveBytes(dataDir);
      ok(before > 3 * ROLL_BYTES, 'level 0 leaves the files as they are');
      const closed = namesOf(dataDir, '.warc.gz');
      for (const name of namesOf(dataDir, '.cdxj')) rmSync(join(dataDir, 'warc', name));
      const done = await runCommand(['archive', '--data', dataDir, '--json']);
      strictEqual(done.status, 0, done.stderr);
      const bytesAfter = archiveBytes(dataDir);
      ok(bytesAfter < before / 2, `${bytesAfter} of ${before} bytes`);
      deepStrictEqual(JSON.parse(done.stdout), {
        ...{ files: closed.length, bytesBefore: before, bytesAfter, uploaded: 0, troubles: 0 },
      });
      deepStrictEqual(await archiveFaults(dataDir), []);
      const again = await runCommand(['archive', '--data', dataDir]);
      deepStrictEqual(
        [again.status, again.stdout],
        [0, '0 files done: 0 bytes, now 0; 0 uploaded\n'],
      );
      const refused = await runCommand(['archive', '--data', `${dataDir}/none`]);
      strictEqual(refused.status, 2);
      match(refused.stderr, /holds no crawl/);
    },
  ));
