// The storage side of the seen set (step 4): makes runs of frozen memtables, keeps the manifest of runs, plans merges. Storage thread.
// The manifest is plain data that the checkpoint commits in LMDB together with the position in the frontier log up to which its runs hold
// every key; a crash before that commit leaves files nobody names, which `open` removes, and their keys come again from the log.
// A run that was merged away is deleted only after the manifest without it is durable.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../base/assert.ts';
import { onDisk, syncDirectory } from './files.ts';
import { runName } from './seen-format.ts';
import { chooseMerge, type SeenMergePlan, type SeenRunEntry } from './seen-merge.ts';
import { SeenRun } from './seen-run.ts';
import { SeenRunWriter } from './seen-run-writer.ts';

/** The durable description of the set; plain data. */
export interface SeenManifest {
  /** Number the next run gets. */
  readonly nextFile: number;
  readonly runs: readonly SeenRunEntry[];
}

/** The manifest of a new crawl. */
export const EMPTY_SEEN_MANIFEST: SeenManifest = { nextFile: 0, runs: [] };

export class SeenRuns {
  readonly #directory: string;
  #nextFile = 0;
  #runs: SeenRunEntry[] = [];
  /** Files of runs in a merge that is under way. */
  readonly #merging = new Set<number>();

  /** @param directory `frontier/`; created when missing */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Takes up the committed manifest: verifies every run (about 1 ms a million keys' megabyte), removes run files it does not name.
   * @returns reasons, one for each run that is missing or damaged; when there are any, the caller resets to the empty manifest and
   *   rebuilds from the log, or refuses
   * @throws CrawlError `disk` from the system
   */
  open(manifest: SeenManifest): string[] {
    return onDisk(this.#directory, () => {
      mkdirSync(this.#directory, { recursive: true });
      this.#nextFile = manifest.nextFile;
      this.#runs = [...manifest.runs];
      const named = new Set(manifest.runs.map((run) => runName(run.file)));
      const reasons: string[] = [];
      for (const run of manifest.runs) {
        const damage = this.#damageOf(run);
        if (damage !== undefined) reasons.push(damage);
      }
      for (const name of readdirSync(this.#directory)) {
        if (!/^seen-\d+\.run(\.tmp)?$/.test(name) || named.has(name)) continue;
        rmSync(join(this.#directory, name));
      }
      return reasons;
    });
  }

  /** What to commit. */
  manifest(): SeenManifest {
    return { nextFile: this.#nextFile, runs: [...this.#runs] };
  }

  /** Keys in all runs; a key in two runs counts twice until they are merged. */
  get keys(): number {
    return this.#runs.reduce((sum, run) => sum + run.keys, 0);
  }

  /**
   * Writes the keys of a frozen memtable as a new durable run.
   * @param keys in any order, repeats allowed, at least one; sorted in place (native sort: 80 ns a key at a million)
   * @returns its entry, already part of the manifest
   * @throws CrawlError `disk` or `disk-full`
   */
  addRun(keys: BigUint64Array<ArrayBuffer>): SeenRunEntry {
    assert(keys.length > 0, () => 'seen run without keys');
    const file = this.#nextFile;
    this.#nextFile += 1;
    const path = join(this.#directory, runName(file));
    keys.sort();
    const words = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2);
    const written = onDisk(path, () => {
      const writer = new SeenRunWriter(path, keys.length);
      try {
        for (let at = 0; at < words.length; at += 2) writer.add(words[at + 1]!, words[at]!);
        return writer.finish();
      } catch (error) {
        writer.abandon();
        throw error;
      }
    });
    const entry = { file, keys: written };
    this.#runs.push(entry);
    return entry;
  }

  /**
   * The next merge, with its output's number reserved; undefined when nothing is to be merged or a merge is under way. Do it with
   * `mergeSeenRuns` on a pool thread, then call `applyMerge` or `abandonMerge`.
   */
  planMerge(): SeenMergePlan | undefined {
    if (this.#merging.size > 0) return undefined;
    const inputs = chooseMerge(this.#runs);
    if (inputs === undefined) return undefined;
    for (const input of inputs) this.#merging.add(input.file);
    const output = this.#nextFile;
    this.#nextFile += 1;
    return { inputs, output };
  }

  /** Puts a finished merge into the manifest. Once that is committed, call `removeMerged` with the same plan. */
  applyMerge(plan: SeenMergePlan, merged: SeenRunEntry): void {
    assert(merged.file === plan.output, () => `merge gave run ${merged.file}`);
    assert(
      plan.inputs.every((input) => this.#merging.has(input.file)),
      () => 'merge was not planned',
    );
    this.#runs = [...this.#runs.filter((run) => !this.#merging.has(run.file)), merged];
    this.#merging.clear();
  }

  /** Forgets a merge that failed; its inputs stay. */
  abandonMerge(): void {
    this.#merging.clear();
  }

  /** Deletes the inputs of a merge; the manifest without them must be durable. Shards that still read them keep them by descriptor. */
  removeMerged(plan: SeenMergePlan): void {
    onDisk(this.#directory, () => {
      for (const input of plan.inputs) {
        assert(
          !this.#runs.some((run) => run.file === input.file),
          () => `seen run ${input.file} is still in the manifest`,
        );
        rmSync(join(this.#directory, runName(input.file)), { force: true });
      }
      syncDirectory(this.#directory);
    });
  }

  /** Every key in every run, in blocks of pairs low, high (valid until the next): to rebuild the Bloom filter. */
  *keyBlocks(): Generator<Uint32Array, void, undefined> {
    for (const entry of this.#runs) {
      const opened = SeenRun.open(join(this.#directory, runName(entry.file)), {
        verifyKeys: false,
        filter: false,
      });
      assert(opened.kind === 'run', () => `seen run ${entry.file} vanished`);
      try {
        yield* opened.run.keyBlocks();
      } finally {
        opened.run.close();
      }
    }
  }

  #damageOf(entry: SeenRunEntry): string | undefined {
    const path = join(this.#directory, runName(entry.file));
    const opened = SeenRun.open(path, { verifyKeys: true, filter: false });
    if (opened.kind === 'damaged') return opened.reason;
    const { keys } = opened.run;
    opened.run.close();
    return keys === entry.keys ? undefined : `${path} holds ${keys} keys, not ${entry.keys}`;
  }
}
