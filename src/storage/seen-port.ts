// What the storage thread needs of the seen set's sorted runs (step 4): take a shard's keys, say which runs there are. The manifest is opaque
// bytes, kept in table meta and committed with the batches, so a run counts exactly when its keys' log entries do.

import type { Tables } from './tables.ts';
import { nameKey } from './tables.ts';

/** The storage side of the seen set. */
export interface SeenRunsPort {
  /**
   * Writes keys as a sorted run, durable at return; the next `manifest()` names it.
   * @param keys unsigned 64-bit keys as pairs of little-endian 32-bit halves, low half first; duplicates allowed
   * @throws system errors
   */
  addRun(keys: ArrayBuffer): void;
  /** The set of runs as bytes for readers to open. */
  manifest(): Uint8Array;
}

const MANIFEST = nameKey('seen');

/** Puts the manifest; inside the commit's transaction. */
export function putManifest(tables: Tables, manifest: Uint8Array): void {
  tables.meta.putSync(MANIFEST, Buffer.from(manifest));
}

/** The committed manifest; undefined before the first run. */
export function readManifest(tables: Tables): Uint8Array | undefined {
  return tables.meta.get(MANIFEST);
}
