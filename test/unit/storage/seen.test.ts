import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import {
  FILTER_KEYS_MAX,
  PAGE_BYTES,
  PAGE_KEYS,
  runName,
} from '../../../src/storage/seen-format.ts';
import { SeenMemtable } from '../../../src/storage/seen-memtable.ts';
import { chooseMerge, mergeSeenRuns, RUNS_MAX } from '../../../src/storage/seen-merge.ts';
import { SeenRun } from '../../../src/storage/seen-run.ts';
import { SeenRunWriter } from '../../../src/storage/seen-run-writer.ts';
import { EMPTY_SEEN_MANIFEST, SeenRuns } from '../../../src/storage/seen-runs.ts';
import { SeenStore } from '../../../src/storage/seen-store.ts';
import { temporaryDirectory } from '../../support/warc-fixtures.ts';

const keysOf = (...keys: bigint[]): BigUint64Array<ArrayBuffer> => BigUint64Array.from(keys);
const highOf = (key: bigint): number => Number(key >> 32n);
const lowOf = (key: bigint): number => Number(key & 0xffff_ffffn);

/** Keys spread over the whole range, 0 and the greatest among them. */
function spread(count: number): bigint[] {
  const step = (2n ** 64n - 1n) / BigInt(count - 1);
  return Array.from({ length: count }, (_, index) => {
    return index === count - 1 ? 2n ** 64n - 1n : step * BigInt(index);
  });
}

function openedRun(path: string): SeenRun {
  const opened = SeenRun.open(path, { verifyKeys: true, filter: true });
  ok(opened.kind === 'run', JSON.stringify(opened));
  return opened.run;
}

test('SeenMemtable holds exactly what was added, key zero and keys that collide included', () => {
  const table = new SeenMemtable(6);
  const keys = [0n, 1n, 1n << 32n, (1n << 32n) | 1n, 2n ** 64n - 1n, 0xffff_ffffn];
  for (const key of keys) {
    strictEqual(table.has(highOf(key), lowOf(key)), false, `${key}`);
    strictEqual(table.full, false);
    strictEqual(table.add(highOf(key), lowOf(key)), true);
    if (!table.full) strictEqual(table.add(highOf(key), lowOf(key)), false);
  }
  for (const key of keys) ok(table.has(highOf(key), lowOf(key)), `${key}`);
  strictEqual(table.full, true);
  throws(() => table.add(9, 9), /memtable holds 6 keys/);
  deepStrictEqual(table.keys().sort(), keysOf(...keys).sort());
});

test('SeenRun.has is exact at page borders, at both ends, and between keys', (t) => {
  const directory = temporaryDirectory(t);
  for (const count of [2, PAGE_KEYS - 1, PAGE_KEYS, PAGE_KEYS + 1, PAGE_KEYS * 40 + 7]) {
    const runs = new SeenRuns(directory);
    runs.open(EMPTY_SEEN_MANIFEST);
    const keys = spread(count);
    const entry = runs.addRun(BigUint64Array.from([...keys.toReversed(), ...keys]));
    strictEqual(entry.keys, count);
    const run = openedRun(join(directory, runName(entry.file)));
    for (const filter of [true, false]) {
      if (!filter) run.dropFilter();
      for (let index = 0; index < count; index += index < 1_030 ? 1 : 511) {
        const key = keys[index]!;
        ok(run.has(highOf(key), lowOf(key)), `${count} ${index}`);
        if (key < 2n ** 64n - 1n && count > 2) ok(!run.has(highOf(key + 1n), lowOf(key + 1n)));
      }
      ok(run.has(0xffff_ffff, 0xffff_ffff));
    }
    run.loadFilter();
    ok(run.has(0, 0));
    const all = [...run.keyBlocks()].map((block) => block.length / 2);
    strictEqual(
      all.reduce((sum, keysInBlock) => sum + keysInBlock, 0),
      count,
    );
    run.close();
  }
});

test('SeenRun.open tells every cut and every flipped byte of a run', (t) => {
  const directory = temporaryDirectory(t);
  const runs = new SeenRuns(directory);
  runs.open(EMPTY_SEEN_MANIFEST);
  const { file } = runs.addRun(keysOf(...spread(1_500)));
  const path = join(directory, runName(file));
  const whole = readFileSync(path);
  const opens = (bytes: Buffer): string => {
    writeFileSync(path, bytes);
    const opened = SeenRun.open(path, { verifyKeys: true, filter: true });
    if (opened.kind === 'run') opened.run.close();
    return opened.kind;
  };
  strictEqual(opens(whole), 'run');
  for (let at = 0; at < whole.length; at += at < 66 ? 1 : 311) {
    strictEqual(opens(whole.subarray(0, at)), 'damaged', `cut at ${at}`);
    if (at >= 64 && at < PAGE_BYTES) continue;
    const flipped = Buffer.from(whole);
    flipped[at]! ^= 4;
    strictEqual(opens(flipped), 'damaged', `flipped at ${at}`);
  }
  strictEqual(opens(Buffer.concat([whole, Buffer.alloc(1)])), 'damaged');
  strictEqual(SeenRun.open(`${path}x`, { verifyKeys: false, filter: false }).kind, 'damaged');
});

test('SeenRunWriter makes a sound run without a filter when the run may be too large for one', (t) => {
  const path = join(temporaryDirectory(t), 'seen-1.run');
  const writer = new SeenRunWriter(path, FILTER_KEYS_MAX + 1);
  for (const key of spread(2_000)) writer.add(highOf(key), lowOf(key));
  throws(() => writer.add(0, 5), /out of order/);
  strictEqual(writer.finish(), 2_000);
  const run = openedRun(path);
  ok(run.has(0, 0));
  ok(!run.has(0, 1));
  ok(run.memoryBytes < 2 * PAGE_BYTES);
  run.close();
  const empty = new SeenRunWriter(path, 0);
  strictEqual(empty.finish(), 0);
  strictEqual(openedRun(path).has(0, 0), false);
});

test('SeenRuns.open names missing and damaged runs and removes files nobody committed', (t) => {
  const directory = temporaryDirectory(t);
  const runs = new SeenRuns(directory);
  runs.open(EMPTY_SEEN_MANIFEST);
  runs.addRun(keysOf(1n, 2n));
  runs.addRun(keysOf(3n));
  const committed = runs.manifest();
  runs.addRun(keysOf(4n));
  writeFileSync(join(directory, 'seen-000009.run.tmp'), 'torn');
  writeFileSync(join(directory, 'segment-1.log'), 'not ours');
  const again = new SeenRuns(directory);
  deepStrictEqual(again.open(committed), []);
  deepStrictEqual(readdirSync(directory), [runName(0), runName(1), 'segment-1.log']);
  strictEqual(again.addRun(keysOf(5n)).file, 2);
  truncateSync(join(directory, runName(0)), 100);
  strictEqual(new SeenRuns(directory).open(committed).length, 1);
  const lying = {
    ...committed,
    runs: [
      { file: 1, keys: 9 },
      { file: 7, keys: 1 },
    ],
  };
  strictEqual(new SeenRuns(directory).open(lying).length, 2);
});

test('chooseMerge keeps the number of runs bounded and rewrites a key a logarithmic number of times', () => {
  let runs: { file: number; keys: number }[] = [];
  let written = 0;
  const memtables = 1_000;
  const memtableKeys = 1 << 20;
  for (let file = 0; file < memtables; file += 1) {
    runs.push({ file, keys: memtableKeys });
    for (let group = chooseMerge(runs); group !== undefined; group = chooseMerge(runs)) {
      const keys = group.reduce((sum, run) => sum + run.keys, 0);
      written += keys;
      const merged = new Set(group);
      runs = [...runs.filter((run) => !merged.has(run)), { file: memtables + file, keys }];
    }
    ok(runs.length <= RUNS_MAX + 5, `${runs.length} runs`);
  }
  ok(written / (memtables * memtableKeys) <= 6, `${written / (memtables * memtableKeys)} times`);
  const tiny = Array.from({ length: 40 }, (_, file) => ({ file, keys: 1 + file * 1_000_000 }));
  ok(chooseMerge(tiny) !== undefined);
});

test('SeenStore keeps keys known while they move from memory to a run and through a merge', (t) => {
  const directory = temporaryDirectory(t);
  const runs = new SeenRuns(directory);
  runs.open(EMPTY_SEEN_MANIFEST);
  const frozen: { id: number; keys: BigUint64Array<ArrayBuffer> }[] = [];
  const store = new SeenStore({
    directory,
    runs: [],
    memtableKeys: 4,
    onMemtableFull: (full) => frozen.push(full),
  });
  const keys = spread(16);
  const allKnown = (): void => {
    for (const key of keys) ok(store.has(highOf(key), lowOf(key)), `${key}`);
    ok(!store.has(0, 7));
  };
  for (const key of keys) store.add(highOf(key), lowOf(key));
  strictEqual(frozen.length, 4);
  strictEqual(store.counts().frozen, 4);
  allKnown();
  for (const { id, keys: full } of frozen) {
    const entry = runs.addRun(full);
    store.openRun(entry);
    store.openRun(entry);
    store.dropFrozen(id);
    allKnown();
  }
  const plan = runs.planMerge();
  ok(plan !== undefined);
  strictEqual(runs.planMerge(), undefined);
  const merged = mergeSeenRuns(directory, structuredClone(plan));
  throws(() => runs.removeMerged(plan), /still in the manifest/);
  runs.applyMerge(plan, merged);
  runs.removeMerged(plan);
  deepStrictEqual(runs.manifest().runs, [{ file: plan.output, keys: 16 }]);
  strictEqual(existsSync(join(directory, runName(0))), false);
  allKnown();
  store.replaceRuns(
    plan.inputs.map((input) => input.file),
    [merged],
  );
  allKnown();
  deepStrictEqual(store.counts(), {
    memoryKeys: 0,
    runKeys: 16,
    frozen: 0,
    runs: 1,
    indexBytes: PAGE_BYTES + 8,
  });
  store.freeze();
  strictEqual(frozen.length, 4);
  store.close();
});

test('SeenStore refuses a run of the manifest that is damaged, and stays as it was', (t) => {
  const directory = temporaryDirectory(t);
  const runs = new SeenRuns(directory);
  runs.open(EMPTY_SEEN_MANIFEST);
  const good = runs.addRun(keysOf(1n));
  const bad = runs.addRun(keysOf(2n));
  truncateSync(join(directory, runName(bad.file)), 5_000 - PAGE_BYTES);
  const store = new SeenStore({ directory, runs: [good], onMemtableFull: () => {} });
  throws(
    () => store.replaceRuns([good.file], [bad]),
    (error) => error instanceof CrawlError && error.code === 'data-damaged',
  );
  ok(store.has(0, 1));
  store.close();
});
