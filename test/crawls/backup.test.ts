// Backups of a crawl that runs: each is whole, holds all that was acknowledged before it, and can be gone on with.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BackupManifest } from '../../src/storage/backup.ts';
import { inFolder, runCommand } from '../support/command-line.ts';
import { runCrawl, startCrawl, until, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, canonicalOf, storedPages } from '../support/crawl/stored-crawl.ts';
import { startWeb } from '../support/server/start-web.ts';

/** Small files, so that some are closed, compressed and removed while a backup reads them. */
const CONFIG = 'export default { warcRollBytes: 65_536 };\n';
const BACKUPS = 4;

/** Pages that a consumer of the change feed hears of now, by canonical URL. */
async function feedOf(dataDir: string): Promise<string[]> {
  const feed = await runCommand(['feed', '--data', dataDir, '--consumer', 'indexer']);
  strictEqual(feed.status, 0, feed.stderr);
  const lines = feed.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => canonicalOf((JSON.parse(line) as { readonly url: string }).url));
}

test('a backup taken during a crawl holds what was stored before it, and the crawl goes on from it', async () => {
  const web = await startWeb({ seed: 41, hosts: 6, pagesPerHost: 30, pageBytes: 9_000 });
  try {
    await inFolder({ 'c.ts': CONFIG }, async (folder) => {
      const dataDir = `${folder}/data`;
      const flags = ['--config', `${folder}/c.ts`, '--threads', '2', '--min-gap', '400'];
      const crawl = startCrawl(webFlags(web, dataDir, flags));
      const told = new Set<string>();
      const taken: { readonly name: string; readonly before: readonly string[] }[] = [];
      try {
        for (let count = 1; count <= BACKUPS; count += 1) {
          ok(await until(crawl, async () => (await web.log()).length >= count * 16), crawl.stderr);
          const before = await storedPages(dataDir);
          for (const url of await feedOf(dataDir)) told.add(url);
          const name = `${folder}/backup-${count}`;
          const saved = await runCommand(['backup', name, '--data', dataDir]);
          deepStrictEqual([saved.status, saved.stderr], [0, '']);
          taken.push({ name, before });
        }
      } finally {
        await crawl.kill();
      }
      const coverage = { userAgent: 'hostler', fromSeeds: [...web.world.seeds()] };
      const reachable = [...web.world.reachable({ ...coverage, scope: 'hosts' })].sort();
      for (const { name, before } of taken) {
        const restored = `${name}-restored`;
        const result = await runCommand(['restore', name, '--data', restored, '--json']);
        deepStrictEqual([result.status, result.stderr], [0, '']);
        const pages = new Set(await storedPages(restored));
        deepStrictEqual(
          before.filter((url) => !pages.has(url)),
          [],
        );
        deepStrictEqual(await archiveFaults(restored), []);
      }
      const last = `${taken.at(-1)?.name}-restored`;
      const resumed = await runCrawl(webFlags(web, last, [...flags, '--min-gap', '20']));
      deepStrictEqual([resumed.status, resumed.report?.reason], [0, 'done'], resumed.stderr);
      deepStrictEqual(await storedPages(last), reachable);
      // A consumer whose place was saved as well goes on in the restored crawl and misses nothing.
      for (const url of await feedOf(last)) told.add(url);
      deepStrictEqual(
        reachable.filter((url) => !told.has(url)),
        [],
      );
      deepStrictEqual(await archiveFaults(last), []);
    });
  } finally {
    await web.stop();
  }
});

test('restore refuses what is unfinished, changed, of another format, or in the way', async () => {
  const web = await startWeb({ seed: 42, hosts: 2, pagesPerHost: 4 });
  try {
    await inFolder({}, async (folder) => {
      const dataDir = `${folder}/data`;
      strictEqual((await runCrawl(webFlags(web, dataDir))).status, 0);
      const good = `${folder}/good`;
      strictEqual((await runCommand(['backup', good, '--data', dataDir])).status, 0);
      const refused = async (argv: readonly string[], status: number, why: RegExp) => {
        const result = await runCommand([...argv]);
        deepStrictEqual([result.status, result.stdout], [status, ''], result.stderr);
        match(result.stderr, why);
      };
      await refused(['backup', good, '--data', dataDir], 2, /good is not empty/);
      await refused(['backup', `${folder}/new`, '--data', `${folder}/no`], 2, /holds no crawl/);
      await refused(['restore', good, '--data', dataDir], 2, /data is not empty/);
      await refused(['restore', dataDir, '--data', `${folder}/x`], 2, /no finished backup/);
      const spoilt = (change: (name: string) => void): string => {
        const name = `${folder}/spoilt`;
        rmSync(name, { recursive: true, force: true });
        cpSync(good, name, { recursive: true });
        change(name);
        return name;
      };
      const manifestOf = (name: string): BackupManifest =>
        JSON.parse(readFileSync(join(name, 'backup.json'), 'utf8'));
      const older = spoilt((name) => {
        const manifest = { ...manifestOf(name), format: 99 };
        writeFileSync(join(name, 'backup.json'), JSON.stringify(manifest));
      });
      await refused(['restore', older, '--data', `${folder}/y`], 4, /has data format 99/);
      const changed = spoilt((name) => appendFileSync(join(name, 'lmdb/data.mdb'), 'x'));
      await refused(['restore', changed, '--data', `${folder}/z`], 4, /is not what was saved/);
      const outside = spoilt((name) => {
        const { files, ...rest } = manifestOf(name);
        const [first] = files;
        const away = { ...first, path: '../away' };
        writeFileSync(join(name, 'backup.json'), JSON.stringify({ ...rest, files: [away] }));
      });
      await refused(['restore', outside, '--data', `${folder}/w`], 4, /damaged/);
    });
  } finally {
    await web.stop();
  }
});
