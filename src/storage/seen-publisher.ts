// Brings shards' seen keys into sorted runs and tells all shards (step 4): memtables arrive, become durable runs before the next commit, the
// manifest is committed with the batches, and only then the runs are announced and frozen memtables dropped. Merges happen on a thread of
// their own; their result is taken up the same way, and merged-away files go after the commit that no longer names them.

import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { damaged } from './disk-error.ts';
import type { SeenMergePlan, SeenRunEntry } from './seen-merge.ts';
import type { SeenManifest, SeenRuns } from './seen-runs.ts';
import { EMPTY_SEEN_MANIFEST } from './seen-runs.ts';
import type { Tables } from './tables.ts';
import { nameKey } from './tables.ts';

/** A frozen memtable on its way. */
interface ArrivedKeys {
  readonly shard: number;
  readonly frozenId: number;
  readonly keys: BigUint64Array<ArrayBuffer>;
}

/** What shards are told after a commit: runs to open, runs to close, and whose memtables are in the new runs. */
export interface SeenPublication {
  readonly added: readonly SeenRunEntry[];
  readonly removed: readonly number[];
  readonly frozen: readonly { readonly shard: number; readonly frozenId: number }[];
}

const MANIFEST = nameKey('seen');
const RUNS_MAX = 1_000_000;

/** See the head of this file. One per storage thread. */
export class SeenPublisher {
  readonly #runs: SeenRuns;
  #arrived: ArrivedKeys[] = [];
  #written: ArrivedKeys[] = [];
  #added: SeenRunEntry[] = [];
  #merged: { readonly plan: SeenMergePlan; readonly entry: SeenRunEntry } | undefined;
  #applied: SeenMergePlan | undefined;
  #keys = 0;

  constructor(runs: SeenRuns) {
    this.#runs = runs;
  }

  /** Keys received so far in this run of the crawler. */
  get keysReceived(): number {
    return this.#keys;
  }

  /** True when the next commit has something of the seen set to take up. */
  get waiting(): boolean {
    return this.#arrived.length > 0 || this.#merged !== undefined;
  }

  receive(arrived: ArrivedKeys): void {
    this.#arrived.push(arrived);
    this.#keys += arrived.keys.length;
  }

  /** The next merge to run elsewhere; answer with `merged` or `mergeFailed`. */
  planMerge(): SeenMergePlan | undefined {
    return this.#merged === undefined && this.#applied === undefined
      ? this.#runs.planMerge()
      : undefined;
  }

  merged(plan: SeenMergePlan, entry: SeenRunEntry): void {
    this.#merged = { plan, entry };
  }

  mergeFailed(): void {
    this.#runs.abandonMerge();
  }

  /**
   * Writes what arrived as runs, before the transaction.
   * @returns shards whose keys are now in durable runs
   */
  writeRuns(): number[] {
    const written = this.#arrived;
    for (const { keys } of written) {
      if (keys.length > 0) this.#added.push(this.#runs.addRun(keys));
    }
    this.#arrived = [];
    this.#written = written;
    if (this.#merged !== undefined) {
      this.#runs.applyMerge(this.#merged.plan, this.#merged.entry);
      this.#added.push(this.#merged.entry);
      this.#applied = this.#merged.plan;
      this.#merged = undefined;
    }
    return written.map(({ shard }) => shard);
  }

  /** Puts the manifest if it changed; inside the commit's transaction. */
  putManifest(tables: Tables): void {
    if (this.#added.length > 0) putManifest(tables, this.#runs.manifest());
  }

  /** After the commit: removes merged-away files and says what to tell the shards; undefined when nothing changed. */
  publish(): SeenPublication | undefined {
    if (this.#added.length === 0 && this.#written.length === 0) return undefined;
    const removed = this.#applied?.inputs.map(({ file }) => file) ?? [];
    if (this.#applied !== undefined) this.#runs.removeMerged(this.#applied);
    const frozen = this.#written.map(({ shard, frozenId }) => ({ shard, frozenId }));
    const publication = { added: this.#added, removed, frozen };
    this.#added = [];
    this.#written = [];
    this.#applied = undefined;
    return publication;
  }
}

/** Puts a manifest; inside a transaction. */
export function putManifest(tables: Tables, manifest: SeenManifest): void {
  const writer = new ByteWriter(64 + manifest.runs.length * 12);
  writer.varint(manifest.nextFile);
  writer.varint(manifest.runs.length);
  for (const { file, keys } of manifest.runs) {
    writer.varint(file);
    writer.varint(keys);
  }
  tables.meta.putSync(MANIFEST, writer.view());
}

/**
 * The committed manifest; that of an empty set for a new crawl.
 * @throws CrawlError data-damaged
 */
export function readManifest(tables: Tables): SeenManifest {
  const value = tables.meta.get(MANIFEST);
  if (value === undefined) return EMPTY_SEEN_MANIFEST;
  try {
    const reader = new ByteReader(value);
    const nextFile = reader.varint();
    const count = reader.varint();
    if (count > RUNS_MAX) throw new ByteDamage(`${count} seen runs`);
    const runs: SeenRunEntry[] = [];
    for (let index = 0; index < count; index++) {
      runs.push({ file: reader.varint(), keys: reader.varint() });
    }
    reader.end();
    return { nextFile, runs };
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged('manifest of the seen runs', error);
    throw error;
  }
}
