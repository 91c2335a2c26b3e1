// `npm start`: serves a small piece of the shipped web on this machine's loopback, crawls it with the very command an operator would type,
// and holds the result against that web's ground truth. Exit status 0 only when every promise was kept. Nothing leaves the machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { createIdentityRules } from '../../../src/domain/canonical-query.ts';
import { canonicalize } from '../../../src/domain/canonical-url.ts';
import { ReadStore } from '../../../src/storage/read-store.ts';
import { WARC_PREFIX } from '../../../src/storage/warc-names.ts';
import { PROJECT_ROOT } from '../command-line.ts';
import { type StartedWeb, startWeb } from '../server/start-web.ts';
import { type PartialWorldOptions, VARIED_FEATURES } from '../world/world-options.ts';
import { takeDemoFolder } from './demo-folder.ts';
import { Interrupts } from './demo-interrupts.ts';
import { isWhole, judgeStored, verdictLines } from './demo-verdict.ts';

/** About 200 pages with every oddity but endless parts, whose length no ground truth has; delays so short that it takes seconds. */
const WORLD: PartialWorldOptions = {
  seed: 5,
  hosts: 24,
  pagesPerHost: 10,
  linksPerPage: 10,
  crawlDelaySeconds: [0.2, 0.4],
  slowMs: [20, 80],
  robotsLateMs: 1_000,
  features: { ...VARIED_FEATURES, notFound: 0.02, traps: 0, endless: 0 },
};
const MIN_GAP_MS = 100;
/** Not the operator's own file, which may hold anything. Hosts on a busy machine answer late, for which they would be asked less often. */
const CONFIG = 'export default { latencyFactor: 4 };\n';
const EXIT_BROKEN = 1;
const EXIT_INTERRUPTED = 130;

const FOLDER = join(PROJECT_ROOT, 'demo-data');
const DATA = join(FOLDER, 'crawl');

async function demo(): Promise<number> {
  const refusal = takeDemoFolder(FOLDER);
  if (refusal !== undefined) {
    process.stderr.write(`npm start: ${refusal.refused}\n`);
    return EXIT_BROKEN;
  }
  const interrupts = new Interrupts();
  const web = await startWeb(WORLD);
  try {
    const dashboard = `127.0.0.1:${await freePort()}`;
    introduce(web, dashboard);
    const status = await interrupts.guard(crawl(web, dashboard));
    if (interrupts.seen) {
      say(`Stopped. What was stored until then is in ${shown(FOLDER)}; npm start begins anew.`);
      return EXIT_INTERRUPTED;
    }
    if (status !== 0) {
      say(`The crawl ended with exit status ${status}; see above.`);
      return EXIT_BROKEN;
    }
    return await conclude(web);
  } finally {
    await web.stop();
  }
}

function introduce(web: StartedWeb, dashboard: string): void {
  const hosts = web.world.options.hosts;
  say(`A small web of ${hosts} hosts, ${web.world.hostName(0)} and on, is served on this machine:`);
  say(
    'robots.txt of every kind, crawl delays, redirects and loops, copies and mirrors, hosts that',
  );
  say(`are slow, broken or gone. It is crawled now; look at it live on http://${dashboard}/`);
  say('');
}

/** Starts the crawl as an operator does. It has a process group of its own, so that an interrupt reaches it once, through us. */
function crawl(web: StartedWeb, dashboard: string): ChildProcess {
  const argv = ['--seeds', web.seedsFile, '--data', DATA, '--http', dashboard];
  argv.push('--dns', `127.0.0.1:${web.dnsPort}`, '--allow-net', '127.0.0.0/8');
  argv.push('--min-gap', String(MIN_GAP_MS), '--contact', 'https://crawler.example/');
  const config = join(FOLDER, 'demo.config.ts');
  writeFileSync(config, CONFIG);
  argv.push('--config', config);
  return spawn(process.execPath, [join(PROJECT_ROOT, 'cluster.js'), ...argv], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
}

async function conclude(web: StartedWeb): Promise<number> {
  const walk = {
    userAgent: 'hostler',
    fromSeeds: [...web.world.seeds()],
    scope: 'hosts',
  } as const;
  const stored = judgeStored(web.world, await storedPages(), walk);
  const judged = await web.judge({ minGapMs: MIN_GAP_MS, coverage: walk });
  const ok = judged.ok && isWhole(stored);
  say('');
  say("Against the web's own log and ground truth:");
  for (const line of verdictLines(stored, judged, { minGapMs: MIN_GAP_MS })) say(line);
  say('');
  say(`The pages are in ${archives().join(', ')} (WARC 1.1). Now try:`);
  const [page = ''] = web.seeds;
  say(`  node cluster.js report --data ${shown(DATA)}`);
  say(`  node cluster.js why ${page} --data ${shown(DATA)}`);
  say(`  node cluster.js audit --data ${shown(DATA)}`);
  say(`  node cluster.js inspect    in a second terminal, while a crawl runs`);
  return ok ? 0 : EXIT_BROKEN;
}

/** Canonical URLs of the stored 200 pages; one that has two rows is twice in the list. */
async function storedPages(): Promise<string[]> {
  const rules = createIdentityRules({ stripSessions: true });
  const store = new ReadStore(DATA, WARC_PREFIX);
  try {
    return [...store.pages()]
      .filter(({ row }) => row.status === 200)
      .map(({ row: { url } }) => {
        const found = canonicalize(url, rules);
        return found.kind === 'canonical' ? found.canonical : url;
      });
  } finally {
    await store.close();
  }
}

function archives(): string[] {
  const folder = join(DATA, 'warc');
  const names = readdirSync(folder).filter((name) => /\.warc\.gz(\.open)?$/.test(name));
  return names.sort().map((name) => shown(join(folder, name)));
}

/** A port of the loopback that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A path as it is typed in the folder of the project. */
function shown(path: string): string {
  return `./${relative(PROJECT_ROOT, path)}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await demo();
