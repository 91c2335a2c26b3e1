// The commands that read a data directory, on one made by a real crawl in two runs: what they say is held against the web's own log, the
// stored rows and the archive itself.

import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { QueueEntry } from '../../src/actors/rows.ts';
import { cursorsOf } from '../../src/actors/rows.ts';
import { commandReplay, replay } from '../../src/app/command-replay.ts';
import { explainUrl, type WhyAnswer } from '../../src/app/explain-url.ts';
import { exportAudit } from '../../src/app/export-audit.ts';
import {
  exportCdxj,
  exportLinks,
  exportPages,
  type LinkRecord,
  type PageRecord,
} from '../../src/app/export-records.ts';
import { LineOutput } from '../../src/app/line-output.ts';
import { provePoliteness } from '../../src/app/prove-politeness.ts';
import { type CrawlReading, readingCrawl } from '../../src/app/read-crawl.ts';
import { reportPage } from '../../src/app/report-page.ts';
import { surveyCrawl } from '../../src/app/survey-crawl.ts';
import type { CrawlConfig } from '../../src/config/options.ts';
import { resolveConfig } from '../../src/config/resolve-config.ts';
import { decodeLine } from '../../src/storage/cdxj.ts';
import { fieldValue } from '../../src/storage/header-lines.ts';
import { readRecordAt } from '../../src/storage/warc-reader.ts';
import { runCommand } from '../support/command-line.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';
import { FOUND_LATER, fateOf } from './fixtures/deadly-parse.ts';

const GAP_MS = 20;

let web: StartedWeb;
let dir: string;
let configFile: string;
let config: CrawlConfig;
/** What waited after the first run, with the answers of `why` then. */
let waiting: readonly {
  readonly entry: QueueEntry;
  readonly ahead: number;
  readonly why: WhyAnswer;
}[];

async function crawl(...more: string[]): Promise<void> {
  const { status, stderr } = await runCommand(
    [
      ...['--seeds', web.seedsFile, '--data', dir, '--min-gap', String(GAP_MS), '--ip-gap', '0'],
      ...['--allow-net', '127.0.0.0/8', '--dns', `127.0.0.1:${web.dnsPort}`, '--threads', '1'],
      ...['--linger', '1', '--progress', 'none', '--config', configFile, ...more],
    ],
    { timeoutMs: 30_000 },
  );
  strictEqual(status, 0, stderr);
}

const reading = <Result>(use: (crawled: CrawlReading) => Promise<Result> | Result) =>
  readingCrawl(config, use);

/** Entries of the frontier log that wait, by the cursors of their hosts, with their place. */
function waitingNow(crawled: CrawlReading) {
  const { store } = crawled;
  return [...store.discovered()].flatMap(({ hostKey, partition, band, entry }) => {
    const row = store.rows.host(hostKey, partition);
    const ahead = entry.sequence - cursorsOf(row, band).head;
    if (ahead < 0) return [];
    return [{ entry, ahead, why: explainUrl(crawled, entry.url, Date.now()) }];
  });
}

/** Gathers what an export writes, in the encoding it is given. */
async function exported(write: (output: LineOutput) => Promise<void>): Promise<string[]> {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 1_024,
    write(chunk, _encoding, done) {
      text += String(chunk);
      setImmediate(done);
    },
  });
  const output = new LineOutput(stream);
  await write(output);
  await output.flush();
  return text.split('\n').slice(0, -1);
}

function digests(): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'lock.mdb')
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((name) => [name, createHash('sha1').update(readFileSync(name)).digest('hex')]),
  );
}

before(async () => {
  web = await startWeb({
    hosts: 8,
    // No permanent 500 answers: their retries take half a minute.
    pagesPerHost: 6,
    features: {
      ...{ robots: 0.7, redirects: 0.06, duplicates: 0.1, spellings: 0.2 },
      ...{ nofollow: 0.05, compressed: 0.3, oddLinks: 0.05 },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'hostler-read-'));
  dir = join(folder, 'data');
  // A busy machine answers late; the test is not to wait ten times as long for it.
  configFile = join(folder, 'crawl.config.ts');
  writeFileSync(
    configFile,
    'export default { latencyFactor: 0, expectedUrls: 10_000, recentKeysBytes: 65_536 };\n',
  );
  config = resolveConfig({
    flags: {
      dataDir: [dir],
      threads: ['2'],
      minGapMs: [String(GAP_MS)],
      allowNets: ['127.0.0.0/8'],
    },
  });
  await crawl('--max-pages', '12');
  waiting = await reading(waitingNow);
  await crawl();
});

after(async () => {
  rmSync(join(dir, '..'), { recursive: true, force: true });
  await web.stop();
});

test('provePoliteness proves a crawl of two runs, with every request the web saw', async () => {
  const proof = await reading((crawled) => provePoliteness(crawled, { offencesMax: 10 }));
  deepStrictEqual([proof.offences, proof.proven, proof.runs], [[], true, 2]);
  const { page, robots, sitemap } = proof.requests;
  strictEqual(page + robots + sitemap, (await web.log()).length);
  strictEqual(proof.robotsMatched, page + sitemap);
  ok((proof.leastSurplusMs ?? -1) >= 0);
});

test('audit exits 1 and prints the pairs when a stricter gap was not kept', async () => {
  const argv = ['audit', '--data', dir, '--min-gap', '3600000'];
  const [text, json, proven] = await Promise.all([
    runCommand(argv),
    runCommand([...argv, '--json']),
    runCommand(['audit', '--data', dir]),
  ]);
  strictEqual(text.status, 1, text.stderr);
  match(text.stdout, /BROKEN {2}the gap asked for with --min-gap: \d+ times/);
  const { offences, broken } = JSON.parse(json.stdout);
  strictEqual(offences.length, Math.min(broken['min-gap'], 50));
  for (const { request, other } of offences) {
    strictEqual(request.host, other.host);
    ok(request.startedAt - other.endedAt < 3_600_000);
  }
  deepStrictEqual([proven.status, proven.stderr], [0, '']);
  match(proven.stdout, /proven: 100 % of the requests\n$/);
});

test('explainUrl names the exact place of every URL that waits', () => {
  ok(waiting.length > 10, `${waiting.length} URLs waited`);
  for (const { entry, ahead, why } of waiting) {
    match(why.answer, /^Waits in band Q[123] of its host/, entry.url);
    deepStrictEqual([why.trace?.seen, why.trace?.queue?.ahead], [true, ahead], entry.url);
    strictEqual(why.trace?.queue?.entry.url, entry.url);
  }
});

test('explainUrl tells what became of every page, and why others were not taken up', async () => {
  await reading((crawled) => {
    const now = Date.now();
    let checked = 0;
    for (const { row } of crawled.store.pages()) {
      const { answer, trace } = explainUrl(crawled, `${row.url}#part`, now);
      match(answer, /^(?:Fetched|Given up) at /, row.url);
      deepStrictEqual([trace?.seen, trace?.page?.status], [true, row.status], row.url);
      ok((trace?.attempts.length ?? 0) >= 1, row.url);
      strictEqual(trace?.attempts.at(-1)?.endedAt, row.fetchedAt);
      checked += 1;
    }
    ok(checked > 30);
    const [seed = ''] = web.seeds;
    const told = (url: string): string => explainUrl(crawled, url, now).answer;
    match(told('mailto:a@b.test'), /^It is no URL of a crawl: not-http/);
    match(told('https://example.org/'), /outside the scope \(domain, 8 seeds\)/);
    match(told(new URL('/a/a/a/a/a', seed).href), /a trap \(repeating-segments/);
    match(told(new URL('/never-linked.html', seed).href), /^Not discovered: /);
    const ruled = [...crawled.store.rows.hosts()].flatMap(({ hostKey, partition }) =>
      crawled.store.rows.robots(hostKey, partition),
    );
    const rules = ruled.find((row) => JSON.stringify(row.rules).includes('/private/'));
    ok(rules !== undefined, 'no host disallows /private/');
    match(
      told(`${rules.origin}/private/never-linked.html`),
      /robots.txt disallows it \(line \d+: Disallow: \/private\/\)/,
    );
  });
});

test('exportPages writes each page row once, and its pointer leads to the record of its body', async () => {
  const records: PageRecord[] = [];
  await reading((crawled) => exportPages(crawled, (record) => void records.push(record)));
  const rows = await reading(({ store }) => [...store.pages()].map(({ row }) => row.url));
  deepStrictEqual(
    records.map(({ url }) => url),
    rows,
  );
  let bodies = 0;
  for (const record of records) {
    if (record.warc === null) continue;
    const stored = readRecordAt(join(dir, 'warc', record.warc.file), record.warc.offset);
    const target = fieldValue(stored?.warcHeaders ?? [], 'warc-target-uri');
    strictEqual(target, record.duplicateOf ?? record.url);
    const digest = createHash('sha1')
      .update(stored?.body ?? '')
      .digest('hex');
    strictEqual(record.contentHash, `sha1:${digest}`, record.url);
    if (record.status === 200) strictEqual(record.parsed, true, record.url);
    bodies += 1;
  }
  ok(bodies > 30);
});

test('exportLinks writes the links of each stored page, those not to follow marked', async () => {
  const failed: string[] = [];
  const links: LinkRecord[] = [];
  const take = (link: LinkRecord) => void links.push(link);
  await reading((crawled) => exportLinks(crawled, take, (url) => failed.push(url)));
  ok(links.some(({ text }) => text !== undefined && text.length > 0));
  const stored = await reading(({ store }) =>
    [...store.pages()].filter(({ row }) => row.status === 200).map(({ row }) => row.url),
  );
  deepStrictEqual(failed, []);
  deepStrictEqual([...new Set(links.map(({ from }) => from))].sort(), stored.sort());
  ok(links.some(({ nofollow }) => nofollow));
  ok(links.some(({ nofollow }) => !nofollow));
});

test('exportCdxj writes one sorted index in which every line leads to its capture', async () => {
  const lines = await exported((output) => reading((crawled) => exportCdxj(crawled, output)));
  deepStrictEqual(lines, [...lines].sort());
  for (const line of lines) {
    const entry = decodeLine(line);
    ok(entry !== undefined, line);
    const stored = readRecordAt(join(dir, 'warc', entry.filename), entry.offset);
    strictEqual(fieldValue(stored?.warcHeaders ?? [], 'warc-target-uri'), entry.url);
  }
  const { fetched, robots } = await reading(({ store }) => ({
    fetched: [...store.pages()].filter(({ row }) => row.status > 0).length,
    robots: [...store.audit()].filter(({ purpose }) => purpose === 'robots').length,
  }));
  ok(lines.length >= fetched + robots, `${lines.length} captures, ${fetched} pages`);
  const { url = '' } = decodeLine(lines[0] ?? '') ?? {};
  const ofOne = await exported((output) => reading((crawled) => exportCdxj(crawled, output, url)));
  const { surt } = decodeLine(lines[0] ?? '') ?? {};
  deepStrictEqual(
    ofOne,
    lines.filter((line) => line.startsWith(`${surt} `)),
  );
});

test('replay finds what the crawl found, link for link, and makes no request', async () => {
  const requests = (await web.log()).length;
  const out = join(dir, '..', 'replayed.ndjson');
  strictEqual(await commandReplay({ words: [], options: { out }, config }), 0);
  const pages = readFileSync(out, 'utf8').trimEnd().split('\n');
  const parsed = pages.map((line) => JSON.parse(line));
  deepStrictEqual(
    parsed.filter(({ outcome }) => outcome !== 'ok'),
    [],
  );
  deepStrictEqual(
    parsed.flatMap(({ newLinks }) => newLinks),
    [],
  );
  const stored = await reading(({ store }) =>
    [...store.pages()].filter(({ row }) => row.status === 200 && row.duplicateOf === undefined),
  );
  strictEqual(parsed.length, stored.length);
  strictEqual((await web.log()).length, requests);
});

test('replay tells what changed against an earlier one, page by page', async () => {
  const out = join(dir, '..', 'replayed.ndjson');
  const against = join(dir, '..', 'earlier.ndjson');
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  const pages = lines.map((line) => JSON.parse(line));
  const at = pages.findIndex(({ page }) => page.links.length > 1 && page.title !== undefined);
  const { url, page } = pages[at];
  const [first, ...rest] = page.links;
  const less = { ...page, title: 'before', links: [...rest, { url: 'http://gone.test/' }] };
  lines[at] = JSON.stringify({ ...pages[at], page: less });
  writeFileSync(against, `${lines.join('\n')}\n`);
  const replayedAgainst = async (file: string, ...more: string[]) => {
    const argv = ['replay', '--data', dir, '--against', file, '--json', ...more];
    const { status, stdout, stderr } = await runCommand(argv, { timeoutMs: 60_000 });
    strictEqual(status, 0, stderr);
    return JSON.parse(stdout);
  };
  const isFollowed = first.nofollow !== true;
  deepStrictEqual((await replayedAgainst(against)).changed, {
    ...{ pages: 1, linksAdded: isFollowed ? 1 : 0, linksRemoved: 1 },
    examples: [
      {
        url,
        ...(isFollowed ? { linksAdded: [first.url] } : {}),
        linksRemoved: ['http://gone.test/'],
        facts: { title: ['before', page.title] },
      },
    ],
  });
  const pattern = `^${url.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`;
  const one = await replayedAgainst(out, '--url', pattern);
  deepStrictEqual([one.pages, one.changed.pages], [1, 0]);
  const refused = await runCommand(['replay', '--data', dir, '--against', configFile]);
  deepStrictEqual([refused.status, refused.stdout], [2, '']);
  match(refused.stderr, /is no output of replay/);
});

test('exportAudit writes every request and, last, what they prove', async () => {
  const lines = await exported((output) => reading((crawled) => exportAudit(crawled, output)));
  const records = lines.map((line) => JSON.parse(line));
  const proof = records.pop();
  const requests = await reading(({ store }) => [...store.audit()].length);
  deepStrictEqual([proof.kind, proof.proven, records.length], ['proof', true, requests]);
  ok(records.every(({ kind, startedAt }) => kind === 'request' && startedAt.endsWith('Z')));
});

test('replay loses only the pages that kill their thread, and tells links found later', async () => {
  const entry = new URL('./fixtures/deadly-parse.js', import.meta.url);
  const limits = { entry, runMsMax: 4_000, heapMiBMax: 32 };
  const { fates, missed, summary } = await reading(async (crawled) => {
    const stored = [...crawled.store.pages()].filter(
      ({ row }) => row.status === 200 && row.duplicateOf === undefined,
    );
    const taken = stored.map(({ row }) => fateOf(row.url));
    // Where robots.txt would admit the link, it is one that the crawl has missed.
    const missed = stored.filter(({ row }) => {
      if (fateOf(row.url) !== 'ok') return false;
      const link = new URL(FOUND_LATER, row.url).href;
      return explainUrl(crawled, link, Date.now()).answer.startsWith('Not discovered');
    });
    const summary = await replay(crawled, { duplicates: false }, undefined, limits);
    return { fates: taken, missed: missed.length, summary };
  });
  const many = (fate: string): number => fates.filter((each) => each === fate).length;
  deepStrictEqual(summary.failed, {
    timeout: many('timeout'),
    'out-of-memory': many('out-of-memory'),
    failed: many('failed'),
    'no-body': 0,
  });
  ok(many('timeout') + many('out-of-memory') + many('failed') > 0);
  deepStrictEqual([summary.ok, summary.newLinks], [many('ok'), missed]);
  ok(missed > 0);
});

test('replay takes the pages of one host, or below a prefix, up to a limit', async () => {
  const [seed = ''] = web.seeds;
  const { hostname, origin } = new URL(seed);
  await reading(async (crawled) => {
    const pages = [...crawled.store.pages()].filter(
      ({ row }) => row.status === 200 && row.duplicateOf === undefined,
    );
    const below = pages.filter(({ row }) => row.url.startsWith(`${origin}/docs/`)).length;
    const ofHost = pages.filter(({ row }) => new URL(row.url).hostname === hostname).length;
    const counted = async (selection: object): Promise<number> =>
      (await replay(crawled, { duplicates: false, ...selection }, undefined)).pages;
    strictEqual(await counted({ host: hostname }), ofHost);
    strictEqual(await counted({ urlPrefix: `${origin}/docs/` }), below);
    strictEqual(await counted({ limit: 3 }), 3);
  });
});

test('surveyCrawl adds up to the rows, and reportPage shows it without a request to anywhere', async () => {
  const { survey, rows } = await reading((crawled) => ({
    survey: surveyCrawl(crawled, Date.now()),
    rows: [...crawled.store.pages()].map(({ row }) => row),
  }));
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  strictEqual(survey.pages, rows.filter(({ status }) => status === 200).length);
  strictEqual(sum(survey.depths), rows.length);
  strictEqual(sum(survey.timeline.counts), rows.length);
  strictEqual(sum(survey.types.map(({ pages }) => pages)), survey.pages);
  strictEqual(sum(Object.values(survey.status)), survey.fetched);
  strictEqual(survey.topHosts.length, survey.hosts.known);
  strictEqual(sum(survey.topHosts.map(({ stored }) => stored)), survey.pages);
  strictEqual(survey.urls.waiting, 0);
  ok(survey.storage.archive > 0);
  const page = reportPage(survey);
  strictEqual(/<script|<link|src=|url\(|@import/i.test(page), false);
  match(page, new RegExp(`<b>${survey.pages}</b><span>pages stored</span>`));
});

test('report, why, robots show and export answer on the command line and change no file', async () => {
  const files = digests();
  const [seed = ''] = web.seeds;
  const host = new URL(seed).hostname;
  const commands: readonly (readonly [argv: string[], stdout: RegExp])[] = [
    [['report', '--data', dir], /^crawl {8}[0-9a-f-]{36}, /],
    [['why', seed, '--data', dir, '--json'], /^\{"url":.*"answer":"Fetched at /],
    [['robots', 'show', host, '--data', dir], /^# http:\/\/.*\/robots\.txt: /],
    [['export', 'pages', '--data', dir], /^\{"url":"http:/],
  ];
  await Promise.all(
    commands.map(async ([argv, stdout]) => {
      const result = await runCommand(argv);
      deepStrictEqual([result.status, result.stderr], [0, ''], argv.join(' '));
      match(result.stdout, stdout);
    }),
  );
  const refused = await runCommand(['export', 'everything', '--data', dir]);
  deepStrictEqual([refused.status, refused.stdout], [2, '']);
  match(refused.stderr, /^hostler: export: expected pages, links, cdxj or audit, not everything\n/);
  deepStrictEqual(digests(), files);
});
