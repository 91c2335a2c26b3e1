// Merging seen runs (step 4, in the background): which runs to merge, and the merge itself, which streams with bounded memory and may run on
// a pool thread since it knows nothing but file names.
// Size-tiered: runs of one tier (sizes within a factor of four) are merged four at a time, so a key is rewritten at most once a tier, log4(n /
// memtable) times in all, and three runs a tier stay: at 10^8 keys at most ten or so. Beyond RUNS_MAX the smallest four are merged whatever
// their tiers, so that many restarts cannot pile runs up.

import { join } from 'node:path';
import { assert } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { onDisk } from './files.ts';
import { runName } from './seen-format.ts';
import { SeenRun } from './seen-run.ts';
import { SeenRunWriter } from './seen-run-writer.ts';

/** A run as the manifest names it; plain data. */
export interface SeenRunEntry {
  /** Number in the file's name. */
  readonly file: number;
  readonly keys: number;
}

/** A merge to do: plain data, so that it can be sent to a pool thread. */
export interface SeenMergePlan {
  readonly inputs: readonly SeenRunEntry[];
  /** Number of the run to write. */
  readonly output: number;
}

/** More runs than this are merged even across tiers. */
export const RUNS_MAX = 10;
const FANOUT = 4;
/** Runs up to this size are one tier: the size of a memtable. */
const TIER_ZERO_KEYS = 1 << 20;

/**
 * The runs to merge next, the smallest first.
 * @returns undefined when the runs are in order
 */
export function chooseMerge(runs: readonly SeenRunEntry[]): readonly SeenRunEntry[] | undefined {
  const bySize = [...runs].sort((a, b) => a.keys - b.keys);
  for (let first = 0; first + FANOUT <= bySize.length; first += 1) {
    const group = bySize.slice(first, first + FANOUT);
    if (tierOf(group[0]!) === tierOf(group[FANOUT - 1]!)) return group;
  }
  return bySize.length > RUNS_MAX ? bySize.slice(0, FANOUT) : undefined;
}

function tierOf(run: SeenRunEntry): number {
  return Math.max(0, Math.ceil(Math.log(run.keys / TIER_ZERO_KEYS) / Math.log(FANOUT)));
}

/** One input of a merge: the block at hand and the position in it. */
interface Cursor {
  readonly blocks: Iterator<Uint32Array>;
  block: Uint32Array;
  at: number;
}

/**
 * Merges runs into a new one without repeats. Blocking and long (about 50 ns a key): for a pool thread.
 * @param directory `frontier/`
 * @returns the new run, durable under its name; the inputs stay until the manifest without them is durable
 * @throws CrawlError `data-damaged` when an input is, `disk` or `disk-full` from the system
 */
export function mergeSeenRuns(directory: string, plan: SeenMergePlan): SeenRunEntry {
  assert(plan.inputs.length >= 2, () => `merge of ${plan.inputs.length} runs`);
  const path = join(directory, runName(plan.output));
  const runs: SeenRun[] = [];
  try {
    let keysMax = 0;
    for (const input of plan.inputs) {
      runs.push(openInput(join(directory, runName(input.file))));
      keysMax += runs[runs.length - 1]!.keys;
    }
    return onDisk(path, () => ({ file: plan.output, keys: writeMerged(path, runs, keysMax) }));
  } finally {
    for (const run of runs) run.close();
  }
}

function openInput(path: string): SeenRun {
  const opened = SeenRun.open(path, { verifyKeys: true, filter: false });
  if (opened.kind === 'run') return opened.run;
  throw new CrawlError('data-damaged', opened.reason, {
    remedy: 'The seen set can be rebuilt from the frontier log; start the crawl again.',
  });
}

function writeMerged(path: string, runs: readonly SeenRun[], keysMax: number): number {
  const writer = new SeenRunWriter(path, keysMax);
  try {
    const cursors: Cursor[] = [];
    for (const run of runs) {
      const cursor = { blocks: run.keyBlocks(), block: new Uint32Array(0), at: 0 };
      if (advanceBlock(cursor)) cursors.push(cursor);
    }
    while (cursors.length > 0) {
      const least = leastCursor(cursors);
      const cursor = cursors[least]!;
      writer.add(cursor.block[cursor.at + 1]!, cursor.block[cursor.at]!);
      cursor.at += 2;
      if (cursor.at === cursor.block.length && !advanceBlock(cursor)) cursors.splice(least, 1);
    }
    return writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function advanceBlock(cursor: Cursor): boolean {
  const next = cursor.blocks.next();
  if (next.done === true) return false;
  cursor.block = next.value;
  cursor.at = 0;
  return next.value.length > 0;
}

/** Index of the cursor with the least key; a linear search, since there are few. */
function leastCursor(cursors: readonly Cursor[]): number {
  let least = 0;
  let leastHigh = 2 ** 32;
  let leastLow = 0;
  for (let index = 0; index < cursors.length; index += 1) {
    const { block, at } = cursors[index]!;
    const high = block[at + 1]!;
    if (high > leastHigh) continue;
    const low = block[at]!;
    if (high === leastHigh && low >= leastLow) continue;
    least = index;
    leastHigh = high;
    leastLow = low;
  }
  return least;
}
