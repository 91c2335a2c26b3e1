// What the exact seen set costs (DESIGN.md §6, step 4): bytes per key on disk and in memory, CPU time per known and per new key, one by one
// and in batches, merging, and opening again. Fixed seed; a checksum proves that runs did the same work.
// Usage: node dist/bench/seen.bench.js [--full] [--keys N]: 1 million keys, 10 million with --full, or N (10^8 takes two minutes).

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runName } from '../src/storage/seen-format.ts';
import { mergeSeenRuns } from '../src/storage/seen-merge.ts';
import { SeenRuns } from '../src/storage/seen-runs.ts';
import { SeenStore } from '../src/storage/seen-store.ts';

const LOOK_UPS = 200_000;
const BATCH = 5_000;

/** The value of a parameter: from the command line, else by the size of the run. */
function parameter(name: string, smoke: number, full: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at > 0) return Number(process.argv[at + 1]);
  return process.argv.includes('--full') ? full : smoke;
}

/** Key number `index` of a fixed set: two rounds of a 32-bit mix (splitmix-like), so that halves are independent. */
function half(index: number, salt: number): number {
  let mixed = Math.imul(index ^ salt, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
const highOf = (index: number): number => half(index, 0x1234567);
const lowOf = (index: number): number => half(index + 0x3c6ef372, 0x7654321);

function measure<Result>(label: string, operations: number, work: () => Result): Result {
  const before = process.cpuUsage();
  const start = process.hrtime.bigint();
  const result = work();
  const cpu = process.cpuUsage(before);
  const wallMs = Number(process.hrtime.bigint() - start) / 1e6;
  const cpuMs = (cpu.user + cpu.system) / 1e3;
  const each = ((cpuMs * 1e6) / operations).toFixed(0);
  console.log(
    `${label}: ${each} ns CPU each (${cpuMs.toFixed(0)} ms CPU, ${wallMs.toFixed(0)} ms)`,
  );
  return result;
}

const keys = parameter('keys', 1_000_000, 10_000_000);
const directory = mkdtempSync(join(tmpdir(), 'seen-bench-'));
try {
  const runs = new SeenRuns(directory);
  runs.open({ nextFile: 0, runs: [] });
  const store = new SeenStore({
    directory,
    runs: [],
    onMemtableFull: ({ id, keys: frozen }) => {
      const entry = runs.addRun(frozen);
      store.openRun(entry);
      store.dropFrozen(id);
      for (let plan = runs.planMerge(); plan !== undefined; plan = runs.planMerge()) {
        const merged = mergeSeenRuns(directory, plan);
        runs.applyMerge(plan, merged);
        const gone = plan.inputs.map((input) => input.file);
        store.replaceRuns(gone, [merged]);
        runs.removeMerged(plan);
      }
    },
  });
  measure('add, freeze, sort, write, merge', keys, () => {
    for (let index = 0; index < keys; index += 1) store.add(highOf(index), lowOf(index));
    store.freeze();
  });
  const { runs: entries } = runs.manifest();
  let disk = 0;
  for (const run of entries) disk += statSync(join(directory, runName(run.file))).size;
  const counts = store.counts();
  console.log(`runs: ${entries.map((run) => run.keys).join(' ')}`);
  console.log(`disk: ${(disk / runs.keys).toFixed(2)} bytes a key`);
  console.log(`memory of run indexes: ${(counts.indexBytes / runs.keys).toFixed(3)} bytes a key`);
  let checksum = 0;
  measure('known key', LOOK_UPS, () => {
    for (let look = 0; look < LOOK_UPS; look += 1) {
      const index = half(look, 99) % keys;
      if (store.has(highOf(index), lowOf(index))) checksum += 1;
    }
  });
  measure('new key', LOOK_UPS, () => {
    for (let look = 0; look < LOOK_UPS; look += 1) {
      if (store.has(highOf(keys + look), lowOf(keys + look))) checksum += 1;
    }
  });
  measure(`known key, in batches of ${BATCH}`, LOOK_UPS, () => {
    for (let from = 0; from < LOOK_UPS; from += BATCH) {
      const highs = Uint32Array.from({ length: BATCH }, (_, n) =>
        highOf(half(from + n, 77) % keys),
      );
      const lows = Uint32Array.from({ length: BATCH }, (_, n) => lowOf(half(from + n, 77) % keys));
      for (const known of store.confirm(highs, lows)) checksum += known;
    }
  });
  store.close();
  const reopened = new SeenRuns(directory);
  measure('open and verify the whole set', keys, () => reopened.open(runs.manifest()));
  measure('open on a shard', keys, () => {
    new SeenStore({ directory, runs: entries, onMemtableFull: () => {} }).close();
  });
  console.log(`checksum ${checksum} (${LOOK_UPS * 2} expected)`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
