// Runs `node cluster.js` as an operator does: a process of its own, bounded in time, that a test may signal or kill. What it printed,
// its report and its exit status come back as values; nothing here judges.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { CrawlReport } from '../../../src/app/crawl-report.ts';
import { PROJECT_ROOT } from '../command-line.ts';
import type { StartedWeb } from '../server/start-web.ts';

/** Longer than any crawl of these tests; a crawl that hangs is killed and the test fails by its status. */
const TIMEOUT_MS = 120_000;

/** What a crawl left when its process had ended. */
export interface EndedCrawl {
  /** Exit status; null when a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly stdout: string;
  /** The last line of standard output; undefined when there is none. */
  readonly report: CrawlReport | undefined;
  /** From start to the end of the process. */
  readonly seconds: number;
}

/** How a crawl is started. */
export interface CrawlStart {
  readonly timeoutMs?: number;
  /** Standard input, by default empty. */
  readonly input?: string;
  /** A program and its arguments that run the command, such as `prlimit`. */
  readonly under?: readonly string[];
}

/** A crawl that runs. */
export class RunningCrawl {
  readonly ended: Promise<EndedCrawl>;
  readonly #child: ChildProcess;
  #stderr = '';

  constructor(argv: readonly string[], start: CrawlStart) {
    const words = [...(start.under ?? []), process.execPath, join(PROJECT_ROOT, 'cluster.js')];
    const [program, ...rest] = words as [string, ...string[]];
    this.#child = spawn(program, [...rest, ...argv], { cwd: PROJECT_ROOT, stdio: 'pipe' });
    this.ended = this.#follow(start.timeoutMs ?? TIMEOUT_MS);
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdin?.end(start.input ?? '');
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it has said on standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** kill -9, and waits until the process is gone. */
  async kill(): Promise<EndedCrawl> {
    this.signal('SIGKILL');
    return this.ended;
  }

  async #follow(timeoutMs: number): Promise<EndedCrawl> {
    const stdout: Buffer[] = [];
    const startMs = performance.now();
    this.#child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    const [status, signal] = await once(this.#child, 'close');
    clearTimeout(timer);
    const text = Buffer.concat(stdout).toString('utf8');
    const seconds = (performance.now() - startMs) / 1_000;
    return { status, signal, stderr: this.#stderr, stdout: text, report: reportOf(text), seconds };
  }
}

/** Starts a crawl. @param argv what follows `node cluster.js` */
export function startCrawl(argv: readonly string[], start: CrawlStart = {}): RunningCrawl {
  return new RunningCrawl(argv, start);
}

/** Runs a crawl to its end. @param argv what follows `node cluster.js` */
export function runCrawl(argv: readonly string[], start: CrawlStart = {}): Promise<EndedCrawl> {
  return startCrawl(argv, start).ended;
}

/**
 * The flags of a crawl of a served web from all its seeds: its name server, its addresses, its report as JSON.
 * @param more flags that follow; a later one wins
 */
export function webFlags(
  web: Pick<StartedWeb, 'dnsPort' | 'seedsFile'>,
  dataDir: string,
  more: readonly string[] = [],
): string[] {
  return [...bareFlags(web.dnsPort, dataDir), '--seeds', web.seedsFile, ...more];
}

/** The same without seeds. */
export function bareFlags(dnsPort: number, dataDir: string): string[] {
  const net = ['--dns', `127.0.0.1:${dnsPort}`, '--allow-net', '127.0.0.0/8'];
  const pace = ['--min-gap', '30', '--ip-gap', '0', '--linger', '3'];
  return [...net, ...pace, '--data', dataDir, '--json', '--progress', 'none'];
}

/** @returns once `condition` holds, looked at every 20 ms; false when the crawl ended before */
export async function until(
  crawl: RunningCrawl,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  while (!crawl.hasEnded) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function reportOf(stdout: string): CrawlReport | undefined {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? (JSON.parse(last) as CrawlReport) : undefined;
}
