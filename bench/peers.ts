// `npm run bench -- peers [--only hostler,scrapy,…] [--hosts 1000] [--seconds 40] [--size 10k] [--install]`: other crawlers on the same web, one
// after the other in one run, each as its manual has it, with its robots handling on where it has one. Each runs for half the time, is
// killed (SIGKILL), and goes on for the other half by the same command. Figures come from the web's own log: pages served, how often one
// was served again, what robots.txt forbids. They differ in what they keep, which is printed with them: only Hostler and httrack keep pages.
// Their system resolver must find the hosts of the web, so each runs in a mount namespace with an /etc/hosts of its own: root only.
// `--install` gets them first, by npm into ./.peers and by apt-get.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type StartedWeb, startWeb } from '../test/support/server/start-web.ts';
import { judge } from '../test/support/world/judge.ts';
import type { RequestEntry } from '../test/support/world/judge-types.ts';
import { sampleProcess } from './process-sample.ts';

const FOLDER = resolve('.peers');
const NPM_PACKAGES = ['crawlee@3.18.1', '@spider-rs/spider-rs@0.0.157'];
const DEBIAN_PACKAGES = ['python3-scrapy', 'httrack'];
const SAMPLE_MS = 250;
/** What Hostler is told to keep between two requests to a host; of a peer, requests that came sooner are counted. */
const GAP_MS = 250;

interface Peer {
  readonly name: string;
  /** What it keeps of a page, and what it knows after a kill. */
  readonly keeps: string;
  command(run: PeerRun): readonly string[];
}

/** Where a peer runs. */
interface PeerRun {
  readonly web: StartedWeb;
  /** Empty at the first start, as it was left at the second. */
  readonly folder: string;
  readonly isResumed: boolean;
}

const PEERS: readonly Peer[] = [
  {
    name: 'hostler',
    keeps: 'WARC, rows, links, seen set; resumes',
    command: ({ web, folder }) => [
      ...[process.execPath, 'cluster.js', '--seeds', web.seedsFile, '--data', join(folder, 'data')],
      ...['--scope', 'all', '--allow-net', '127.0.0.0/8', '--dns', `127.0.0.1:${web.dnsPort}`],
      ...['--contact', 'bench@example.com', '--min-gap', String(GAP_MS), '--progress', 'none'],
    ],
  },
  {
    name: 'scrapy',
    keeps: 'nothing of a page; its queue',
    command: ({ web, folder }) => [
      ...['scrapy', 'runspider', resolve('bench/peers/scrapy-peer.py'), '-a'],
      ...[`seeds=${web.seedsFile}`, '-s', `JOBDIR=${join(folder, 'job')}`],
      ...['-s', 'ROBOTSTXT_OBEY=True', '-s', 'CONCURRENT_REQUESTS=200'],
      ...['-s', 'CONCURRENT_REQUESTS_PER_DOMAIN=1', '-s', 'LOG_LEVEL=CRITICAL'],
    ],
  },
  {
    name: 'httrack',
    keeps: 'pages as files; resumes with --continue',
    command: ({ web, folder, isResumed }) => [
      ...[
        'httrack',
        '--list',
        web.seedsFile,
        '-O',
        join(folder, 'mirror'),
        '-e',
        '-c64',
        '-%c1000',
      ],
      ...['-A100000000', '-%!', '-s2', '-q', '-Q', ...(isResumed ? ['-i'] : [])],
    ],
  },
  {
    name: 'crawlee',
    keeps: 'URL and size; its queue',
    command: ({ web }) => [process.execPath, join(FOLDER, 'crawlee-peer.mjs'), web.seedsFile],
  },
  {
    name: 'spider-rs',
    keeps: 'pages in memory; nothing after a kill',
    command: ({ web }) => [process.execPath, join(FOLDER, 'spider-rs-peer.mjs'), web.seedsFile],
  },
];

/** Runs the command. @returns the exit status: 2 for wrong arguments or a missing peer */
export async function peersCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { only: text, hosts: text, seconds: text, size: text, install: { type: 'boolean' } },
  });
  if (process.getuid?.() !== 0) {
    process.stderr.write('peers: needs root, for a mount namespace with its own /etc/hosts\n');
    return 2;
  }
  if (values.install === true) install();
  const wanted = values.only?.split(',') ?? PEERS.map(({ name }) => name);
  process.stdout.write(
    'peer        pages/s   CPU ms/page   peak MB   pages   again   after kill: pages, again   disallowed   before robots   gaps < 250 ms   keeps\n',
  );
  for (const peer of PEERS.filter(({ name }) => wanted.includes(name))) {
    await measure(peer, {
      hosts: Number(values.hosts ?? 1_000),
      seconds: Number(values.seconds ?? 40),
      pageBytes: 1_000 * Number.parseInt(values.size ?? '10k', 10),
    });
  }
  return 0;
}

function install(): void {
  mkdirSync(FOLDER, { recursive: true });
  const inherit = { stdio: ['ignore', 'inherit', 'inherit'] as const };
  const npm = ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', ...NPM_PACKAGES];
  execFileSync('npm', npm, { stdio: [...inherit.stdio] });
  for (const name of ['crawlee-peer.mjs', 'spider-rs-peer.mjs']) {
    execFileSync('cp', [join('bench/peers', name), FOLDER]);
  }
  const apt = ['install', '-y', '-qq', '--no-install-recommends', ...DEBIAN_PACKAGES];
  execFileSync('apt-get', apt, { stdio: [...inherit.stdio] });
}

interface PeerPlan {
  readonly hosts: number;
  readonly seconds: number;
  readonly pageBytes: number;
}

async function measure(peer: Peer, { hosts, seconds, pageBytes }: PeerPlan): Promise<void> {
  const features = { robots: 0.5 };
  const web = await startWeb({ hosts, pagesPerHost: 200, pageBytes, linksPerPage: 50, features });
  const folder = mkdtempSync(join(tmpdir(), 'peer-'));
  try {
    const names = Array.from({ length: hosts }, (_, host) => {
      return `${web.world.addressOf(host)} ${web.world.hostName(host)}`;
    });
    writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost\n${names.join('\n')}\n`);
    const ms = (seconds * 1_000) / 2;
    const first = await runFor(peer, { web, folder, isResumed: false }, ms);
    const before = await web.log();
    await runFor(peer, { web, folder, isResumed: true }, ms);
    const log = await web.log();
    const pages = pagesOf(before);
    const { counts } = judge(web.world, before, { minGapMs: GAP_MS, listedMax: 0 });
    const known = new Set(pages);
    const later = pagesOf(log.slice(before.length));
    const cells = [
      peer.name.padEnd(10),
      (known.size / first.seconds).toFixed(0).padStart(7),
      (first.cpuMs / Math.max(known.size, 1)).toFixed(2).padStart(11),
      (first.peakBytes / 1e6).toFixed(0).padStart(7),
      String(known.size).padStart(5),
      String(pages.length - known.size).padStart(5),
      `${later.length}, ${later.filter((page) => known.has(page)).length}`.padStart(24),
      String(counts.disallowed).padStart(10),
      String(counts['before-robots']).padStart(13),
      String(counts.overlap + counts.gap).padStart(13),
      peer.keeps,
    ];
    process.stdout.write(`${cells.join('   ')}\n`);
  } finally {
    await web.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** URLs of the pages served whole, in order. */
function pagesOf(log: readonly RequestEntry[]): string[] {
  return log
    .filter(({ status, complete, path }) => status === 200 && complete && path !== '/robots.txt')
    .map(({ host, path }) => host + path);
}

interface PeerCost {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
}

/** Starts a peer in a mount namespace and kills it after a time; it may end sooner. */
async function runFor(peer: Peer, run: PeerRun, ms: number): Promise<PeerCost> {
  const inside = 'mount --bind "$1" /etc/hosts && shift && exec "$@"';
  const own = [peer.name === 'hostler' ? resolve('.') : run.folder];
  if (peer.name === 'crawlee' || peer.name === 'spider-rs') own[0] = FOLDER;
  if (!existsSync(own[0] as string)) throw new Error(`${peer.name}: run with --install first`);
  const child = spawn(
    'unshare',
    ['-m', 'sh', '-c', inside, 'sh', join(run.folder, 'hosts'), ...peer.command(run)],
    {
      cwd: own[0],
      stdio: 'ignore',
      env: { ...process.env, CRAWLEE_STORAGE_DIR: join(run.folder, 'crawlee') },
    },
  );
  const startedMs = performance.now();
  let cpuMs = 0;
  let peakBytes = 0;
  while (child.exitCode === null && performance.now() - startedMs < ms) {
    const sample = sampleProcess(child.pid as number);
    cpuMs = sample?.cpuMs ?? cpuMs;
    peakBytes = Math.max(peakBytes, sample?.memoryBytes ?? 0);
    await sleep(SAMPLE_MS);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  await kill(child);
  return { seconds, cpuMs, peakBytes };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
