// The exact seen set against a plain Set, through every operation it has, in any order.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeSeenRuns } from '../../../src/storage/seen-merge.ts';
import {
  EMPTY_SEEN_MANIFEST,
  type SeenManifest,
  SeenRuns,
} from '../../../src/storage/seen-runs.ts';
import { type FrozenKeys, SeenStore } from '../../../src/storage/seen-store.ts';

/** Keys that meet often, share halves, and lie at the ends of the range. */
const half = fc.oneof(fc.nat(3), fc.constantFrom(0xffff_ffff, 0x8000_0000), fc.nat(0xffff_ffff));
const key = fc.tuple(half, half);
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), keys: fc.array(key) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('confirm' as const), keys: fc.array(key) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'publish' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'freeze' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'merge' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

class Subject {
  readonly model = new Set<string>();
  readonly #directory: string;
  readonly #memtableKeys: number;
  #runs: SeenRuns;
  #store: SeenStore;
  #frozen: FrozenKeys[] = [];

  constructor(directory: string, memtableKeys: number) {
    this.#directory = directory;
    this.#memtableKeys = memtableKeys;
    this.#runs = new SeenRuns(directory);
    this.#store = this.#open(EMPTY_SEEN_MANIFEST);
  }

  #open(manifest: SeenManifest): SeenStore {
    this.#runs = new SeenRuns(this.#directory);
    deepStrictEqual(this.#runs.open(manifest), []);
    return new SeenStore({
      directory: this.#directory,
      runs: manifest.runs,
      memtableKeys: this.#memtableKeys,
      onMemtableFull: (frozen) => this.#frozen.push(frozen),
    });
  }

  add(high: number, low: number): void {
    strictEqual(this.#store.has(high, low), this.model.has(`${high},${low}`));
    this.#store.add(high, low);
    this.model.add(`${high},${low}`);
  }

  confirm(keys: readonly (readonly [number, number])[]): void {
    const highs = Uint32Array.from(keys, ([high]) => high);
    const lows = Uint32Array.from(keys, ([, low]) => low);
    const known = [...this.#store.confirm(highs, lows)];
    const expected = keys.map(([high, low]) => (this.model.has(`${high},${low}`) ? 1 : 0));
    deepStrictEqual(known, expected);
  }

  publish(): void {
    const [frozen] = this.#frozen.splice(0, 1);
    if (frozen === undefined) return;
    this.#store.openRun(this.#runs.addRun(frozen.keys));
    this.#store.dropFrozen(frozen.id);
  }

  freeze(): void {
    this.#store.freeze();
  }

  merge(): void {
    const plan = this.#runs.planMerge();
    if (plan === undefined) return;
    const merged = mergeSeenRuns(this.#directory, plan);
    this.#runs.applyMerge(plan, merged);
    this.#store.replaceRuns(
      plan.inputs.map((input) => input.file),
      [merged],
    );
    this.#runs.removeMerged(plan);
  }

  /** A shutdown in order: all keys go to runs, the manifest is what a new process starts from. */
  restart(): void {
    this.#store.freeze();
    while (this.#frozen.length > 0) this.publish();
    this.#store.close();
    this.#store = this.#open(structuredClone(this.#runs.manifest()));
  }

  /** Every key of the model, and nothing else, is in the blocks from which the Bloom filter is rebuilt. */
  checkKeyBlocks(): void {
    this.restart();
    const keys = new Set<string>();
    for (const block of this.#runs.keyBlocks()) {
      for (let at = 0; at < block.length; at += 2) keys.add(`${block[at + 1]},${block[at]}`);
    }
    deepStrictEqual([...keys].sort(), [...this.model].sort());
    this.#store.close();
  }
}

test('SeenStore answers as a Set does, whatever is frozen, published, merged or restarted in between', () => {
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      (operations, keysMax) => {
        const directory = mkdtempSync(join(tmpdir(), 'hostler-seen-'));
        try {
          const subject = new Subject(directory, keysMax);
          for (const step of operations) {
            if (step.kind === 'add') for (const [high, low] of step.keys) subject.add(high, low);
            else if (step.kind === 'confirm') subject.confirm(step.keys);
            else subject[step.kind]();
          }
          subject.checkKeyBlocks();
        } finally {
          rmSync(directory, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: 30 },
  );
});
