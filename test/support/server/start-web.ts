// For tests and benchmarks: the shipped web in a child process, so that it neither shares an event loop with the crawler nor dies with
// one that is killed. The child ends when its stdin does, hence also when the test's process is killed.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { judge } from '../world/judge.ts';
import type { JudgeOptions, RequestEntry, Verdict } from '../world/judge-types.ts';
import { createWorld, type World } from '../world/world.ts';
import type { PartialWorldOptions } from '../world/world-options.ts';
import type { DnsCounts, DnsOptions } from './dns-server.ts';
import { readRequestLog } from './request-log.ts';
import type { ServeReady } from './serve-ready.ts';

const STOP_MS = 5000;

/** A web in a child process. */
export interface StartedWeb {
  readonly pid: number;
  readonly port: number;
  readonly dnsPort: number;
  /** The same world as the child serves. */
  readonly world: World;
  /** The first ten seeds; the rest are in the file. */
  readonly seeds: readonly string[];
  readonly seedsFile: string;
  readonly logFile: string;
  /** All requests that have ended so far. */
  log(): Promise<RequestEntry[]>;
  /** DNS queries so far. */
  dnsCounts(): Promise<DnsCounts>;
  /** The judgement of the log so far. */
  judge(options: JudgeOptions): Promise<Verdict>;
  /** Ends the child and removes its files; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Serves a web and its name server on free ports of this machine's loopback.
 * @param world `port` is set by the server
 * @throws Error when the child ends before it is ready
 */
export async function startWeb(
  world: PartialWorldOptions,
  dns: Omit<DnsOptions, 'override'> = {},
): Promise<StartedWeb> {
  const directory = mkdtempSync(join(tmpdir(), 'web-'));
  const logFile = join(directory, 'requests.log');
  const seedsFile = join(directory, 'seeds.txt');
  const program = fileURLToPath(new URL('./serve.js', import.meta.url));
  const options = { epochMs: Date.now(), ...world };
  const settings = ['--world', JSON.stringify(options), '--dns', JSON.stringify(dns)];
  const files = ['--log', logFile, '--seeds-file', seedsFile];
  const child = spawn(process.execPath, [program, ...settings, ...files], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await answers.next();
  if (first.done === true) {
    rmSync(directory, { recursive: true });
    throw new Error('the web ended before it was ready');
  }
  const { port, dnsPort, seeds, pid } = JSON.parse(first.value) as ServeReady;
  const flush = async (): Promise<{ dns: DnsCounts }> => {
    child.stdin.write('flush\n');
    const answer = await answers.next();
    if (answer.done === true) throw new Error('the web has ended');
    return JSON.parse(answer.value);
  };
  const log = async () => {
    await flush();
    return readRequestLog(logFile).entries;
  };
  const served = createWorld({ ...options, port });
  return {
    ...{ pid, port, dnsPort, seeds, seedsFile, logFile, world: served, log },
    dnsCounts: async () => (await flush()).dns,
    judge: async (judgeOptions) => judge(served, await log(), judgeOptions),
    stop: async () => {
      await end(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
