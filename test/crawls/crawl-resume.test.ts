// A crawl and its data directory: resumed, stopped by signals, claimed by two, of another version, not writable, and on a full disk.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import {
  type EndedCrawl,
  type RunningCrawl,
  runCrawl,
  startCrawl,
  until,
  webFlags,
} from '../support/crawl/run-crawl.ts';
import { archiveFaults, storedPages, storedRows } from '../support/crawl/stored-crawl.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';

/** Each test has a web of its own, so that its log is about one crawl. */
async function withWeb(
  body: (web: StartedWeb, dataDir: string) => Promise<void>,
  pages: { readonly pagesPerHost?: number; readonly pageBytes?: number } = {},
): Promise<void> {
  const web = await startWeb({ seed: 21, hosts: 6, pagesPerHost: 20, linksPerPage: 8, ...pages });
  try {
    await inFolder({}, (folder) => body(web, `${folder}/data`));
  } finally {
    await web.stop();
  }
}

/** Nothing missing, nothing twice, no gap broken. */
async function judged(web: StartedWeb, dataDir: string, repeatsAllowed = 0): Promise<void> {
  const coverage = {
    userAgent: 'hostler',
    fromSeeds: [...web.world.seeds()],
    scope: 'hosts',
  } as const;
  const verdict = await web.judge({ minGapMs: 30, coverage, repeatsAllowed });
  deepStrictEqual(
    verdict.violations.filter(({ kind }) => repeatsAllowed === 0 || kind !== 'repeat'),
    [],
  );
  ok(verdict.ok, JSON.stringify([verdict.counts, repeatsAllowed]));
  const pages = await storedPages(dataDir);
  deepStrictEqual(pages, [...web.world.reachable(coverage)].sort());
  deepStrictEqual(await archiveFaults(dataDir), []);
}

async function requestsReach(web: StartedWeb, crawl: RunningCrawl, count: number): Promise<void> {
  ok(await until(crawl, async () => (await web.log()).length >= count), crawl.stderr);
}

test('a crawl stopped by SIGTERM ends with status 0 and the next run refetches nothing', () =>
  withWeb(async (web, dataDir) => {
    const crawl = startCrawl(webFlags(web, dataDir, ['--threads', '2', '--min-gap', '60']));
    await requestsReach(web, crawl, 30);
    crawl.signal('SIGTERM');
    const stopped = await crawl.ended;
    strictEqual(stopped.status, 0, stopped.stderr);
    strictEqual(stopped.report?.reason, 'stopped');
    match(stopped.stderr, /SIGTERM: checkpointing/);
    strictEqual((await storedPages(dataDir)).length, stopped.report?.pages);
    ok((stopped.report?.pages ?? 0) < 100);
    strictEqual(existsSync(`${dataDir}/lock`), false);
    // Another number of threads places the hosts anew.
    const resumed = await runCrawl(webFlags(web, dataDir, ['--threads', '3']));
    strictEqual(resumed.status, 0, resumed.stderr);
    await judged(web, dataDir);
    const requests = (await web.log()).length;
    const again = await runCrawl(webFlags(web, dataDir));
    strictEqual(again.status, 0, again.stderr);
    strictEqual(again.report?.run.fetched, 0);
    strictEqual(again.report?.pages, resumed.report?.pages);
    strictEqual((await web.log()).length, requests, 'a finished crawl asks for nothing');
  }));

test('a second signal stops at once with status 130, and the next run goes on', () =>
  withWeb(async (web, dataDir) => {
    const crawl = startCrawl(webFlags(web, dataDir, ['--min-gap', '60']));
    await requestsReach(web, crawl, 20);
    crawl.signal('SIGINT');
    ok(await until(crawl, () => crawl.stderr.includes('checkpointing')));
    crawl.signal('SIGINT');
    const { status } = await crawl.ended;
    // The checkpoint may have been quicker than the second signal.
    ok(status === 130 || status === 0, `${status}`);
    const unstored = (await web.log()).length - (await storedPages(dataDir)).length;
    const resumed = await runCrawl(webFlags(web, dataDir));
    strictEqual(resumed.status, 0, resumed.stderr);
    await judged(web, dataDir, unstored);
  }));

test('two crawls on one directory: the second is refused with status 4 and the holder named', () =>
  withWeb(async (web, dataDir) => {
    const crawl = startCrawl(webFlags(web, dataDir, ['--min-gap', '100']));
    await requestsReach(web, crawl, 10);
    const second = await runCrawl(webFlags(web, dataDir));
    strictEqual(second.status, 4, second.stderr);
    match(second.stderr, new RegExp(`lock is held by process ${crawl.pid} on `));
    strictEqual(second.stdout, '');
    strictEqual(crawl.hasEnded, false);
    await crawl.kill();
    // The dead holder's lock is still there, and is taken over.
    strictEqual(JSON.parse(readFileSync(`${dataDir}/lock`, 'utf8')).pid, crawl.pid);
    const unstored = (await web.log()).length - (await storedPages(dataDir)).length;
    const resumed = await runCrawl(webFlags(web, dataDir));
    strictEqual(resumed.status, 0, resumed.stderr);
    await judged(web, dataDir, unstored);
  }));

test('a directory of another version is refused with status 4 and left as it is', () =>
  withWeb(async (web, dataDir) => {
    mkdirSync(dataDir);
    await runCrawl(webFlags(web, dataDir, ['--max-pages', '3']));
    const format = readFileSync(`${dataDir}/format`, 'utf8');
    writeFileSync(`${dataDir}/format`, format.replace(/\d+/, '999'));
    const { status, stderr, stdout } = await runCrawl(webFlags(web, dataDir));
    strictEqual(status, 4, stderr);
    match(stderr, /999/);
    strictEqual(stdout, '');
    writeFileSync(`${dataDir}/format`, format);
    strictEqual((await storedPages(dataDir)).length, 3);
  }));

test('a read-only directory is refused with status 3 or 4 and named', () =>
  withWeb(async (web, dataDir) => {
    mkdirSync(dataDir);
    await onReadOnly(dataDir, async () => {
      const { status, stderr } = await runCrawl(webFlags(web, dataDir));
      strictEqual(status, 3, stderr);
      ok(stderr.includes(dataDir), stderr);
      strictEqual((await web.log()).length, 0);
    });
  }));

/** Both ways to run out of room; `reserve` is the option that lets a crawl start on so small a disk. */
const FULL_DISKS: readonly (readonly [
  how: string,
  crawl: (web: StartedWeb, dataDir: string) => Promise<EndedCrawl>,
])[] = [
  [
    'a file size limit',
    (web, dataDir) =>
      runCrawl(webFlags(web, dataDir, ['--threads', '2']), {
        under: ['prlimit', '--fsize=3000000', '--'],
      }),
  ],
  ['a full disk', crawlOnSmallDisk],
];

for (const [how, crawl] of FULL_DISKS) {
  test(`${how} ends the crawl soon with status 3, and with room again it goes on`, () =>
    withWeb(
      async (web, dataDir) => {
        const full = await crawl(web, dataDir);
        strictEqual(full.status, 3, full.stderr);
        match(full.stderr, /^Free space on this disk, then run the same command again/m);
        ok(full.stderr.includes(dataDir), full.stderr);
        strictEqual(full.report?.reason, 'failed');
        ok(full.seconds - full.report.seconds < 9, 'nothing holds the process up at its end');
        const before = await storedPages(dataDir);
        ok(before.length > 0);
        const rows = [...(await storedRows(dataDir)).values()];
        const sent = rows.filter(({ status }) => status === 200).map(({ url }) => new URL(url));
        const asked = (await web.log()).length;
        const resumed = await runCrawl(webFlags(web, dataDir, ['--threads', '2']));
        strictEqual(resumed.status, 0, resumed.stderr);
        const pages = new Set(await storedPages(dataDir));
        deepStrictEqual(
          before.filter((url) => !pages.has(url)),
          [],
        );
        // What was fetched and found no room is fetched again, and nothing else.
        const again = new Set(
          (await web.log()).slice(asked).map(({ host, path }) => `${host}${path}`),
        );
        deepStrictEqual(
          sent.filter(({ hostname, pathname, search }) => again.has(hostname + pathname + search)),
          [],
        );
        await judged(web, dataDir, asked - before.length);
      },
      { pageBytes: 120_000 },
    ));
}

/** On a disk of 3 MB where tests may mount one; the data is then moved to a larger one. Elsewhere a file size limit stands in. */
async function crawlOnSmallDisk(web: StartedWeb, dataDir: string): Promise<EndedCrawl> {
  if (process.getuid?.() !== 0) {
    return runCrawl(webFlags(web, dataDir), { under: ['prlimit', '--fsize=2000000', '--'] });
  }
  const disk = `${dataDir}-disk`;
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]);
  try {
    writeFileSync(`${dataDir}.ts`, 'export default { diskReserveBytes: 0 };');
    const flags = webFlags(web, `${disk}/data`, ['--config', `${dataDir}.ts`]);
    const ended = await runCrawl(flags);
    cpSync(`${disk}/data`, dataDir, { recursive: true });
    return { ...ended, stderr: ended.stderr.replaceAll(`${disk}/data`, dataDir) };
  } finally {
    execFileSync('umount', [disk]);
  }
}

/** Makes a folder read-only for everybody: root ignores modes, so it gets a read-only mount. */
async function onReadOnly(dataDir: string, body: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', dataDir]);
  else chmodSync(dataDir, 0o555);
  try {
    await body();
  } finally {
    if (isRoot) execFileSync('umount', [dataDir]);
    else chmodSync(dataDir, 0o755);
  }
}
