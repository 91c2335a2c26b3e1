// `npm run bench -- inspect [--rounds 3] [--seconds 25] [--every 1000]`: what it costs a crawl at full speed that its operator watches it. Runs in
// pairs, one alone and one with what `inspect top` asks (overview and the busiest actors) each second, in turn first and second; of pages a
// second and CPU per page the ratios of the pairs, of the answers the time they took.

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DebugClient } from '../src/ops/debug-client.ts';
import { runLoad, type SteadyFigures, steadyOf } from './load-run.ts';

/** As in `load`. */
const START_SHARE = 0.4;
const HOSTS = 2_000;
const RATE = 2_500;

/** Runs the command. @returns the exit status */
export async function inspectCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: text, seconds: text, every: text },
  });
  const seconds = Number(values.seconds ?? 25);
  const everyMs = Number(values.every ?? 1_000);
  const answersMs: number[] = [];
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < Number(values.rounds ?? 3); round += 1) {
    const watched = () => runOnce(seconds, (socket) => watch(socket, everyMs, answersMs));
    const alone = () => runOnce(seconds, undefined);
    const isFirst = round % 2 === 0;
    const one = await (isFirst ? alone : watched)();
    const other = await (isFirst ? watched : alone)();
    const [without, beside] = isFirst ? [one, other] : [other, one];
    rates.push(beside.pagesPerSecond / without.pagesPerSecond);
    costs.push(beside.cpuMsPerPage / without.cpuMsPerPage);
    process.stdout.write(`alone ${told(without)}   watched ${told(beside)}\n`);
  }
  process.stdout.write(
    `watched : alone, medians and ranges: pages/s ${ratioText(rates)}, CPU ms a page ${ratioText(costs)}\n` +
      `${answersMs.length} answers: p50 ${quantile(answersMs, 0.5)} ms, p99 ${quantile(answersMs, 0.99)} ms\n`,
  );
  return 0;
}

async function runOnce(
  seconds: number,
  beside: ((socket: string) => () => void) | undefined,
): Promise<SteadyFigures> {
  const pagesPerHost = Math.ceil((1.5 * RATE * seconds) / HOSTS);
  const { samples } = await runLoad({
    world: { hosts: HOSTS, pagesPerHost, pageBytes: 10_000, linksPerPage: 50 },
    gapMs: Math.round((1_000 * HOSTS) / RATE),
    ...{ seconds, threads: availableParallelism(), judged: false },
    ...(beside === undefined ? {} : { beside }),
  });
  return steadyOf(samples, START_SHARE * seconds);
}

/** Asks until it is told to leave. */
function watch(socket: string, everyMs: number, answersMs: number[]): () => void {
  let isOver = false;
  const ask = async (): Promise<void> => {
    const client = await DebugClient.connect(socket);
    while (!isOver && client.isOpen) {
      for (const words of [['overview'], ['top', 'busy']]) {
        const askedMs = performance.now();
        await client.ask(words);
        answersMs.push(performance.now() - askedMs);
      }
      await sleep(everyMs);
    }
  };
  // The crawl's end ends the connection, in the middle of a question too.
  ask().catch(() => undefined);
  return () => {
    isOver = true;
  };
}

function told({ pagesPerSecond, cpuMsPerPage }: SteadyFigures): string {
  return `${pagesPerSecond.toFixed(0)}/s ${cpuMsPerPage.toFixed(3)} ms`;
}

function ratioText(ratios: readonly number[]): string {
  const sorted = [...ratios].sort((a, b) => a - b).map((ratio) => ratio.toFixed(3));
  return `${sorted[sorted.length >> 1]} (${sorted[0]} to ${sorted.at(-1)})`;
}

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
}
