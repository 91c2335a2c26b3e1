// Opens a shard's side of storage (steps 4, 7 and 10): its view of the tables, its body reader, its client. Everything belongs to the thread
// that calls this.

import type { MessagePort } from 'node:worker_threads';
import type { StorageEvent } from '../actors/ports.ts';
import type { RecrawlPolicy } from '../domain/recrawl.ts';
import { BodyReader } from './body-reader.ts';
import { CheckpointClient } from './checkpoint-client.ts';
import { folderOf } from './directory.ts';
import type { SeenRunsChange } from './storage-message.ts';
import { TableReader } from './table-reader.ts';
import { openTables } from './tables.ts';

/** A shard's storage. */
export interface ShardStorage {
  readonly client: CheckpointClient;
  /** Closes the client and what it reads from; pending receipts are not waited for. */
  close(): Promise<void>;
}

/**
 * @param options `partitions` and `warcPrefix` as the storage thread has them; callbacks as in CheckpointClientOptions
 * @throws CrawlError as `openTables` does
 */
export function openCheckpointClient(options: {
  readonly port: MessagePort;
  readonly dir: string;
  readonly partitions: number;
  readonly warcPrefix: string;
  /** By what the next visit of a page is reckoned. */
  readonly recrawl: RecrawlPolicy;
  readonly onEvent: (event: StorageEvent) => void;
  readonly onSeenRuns: (change: SeenRunsChange) => void;
  readonly onSeenFlushWanted: () => void;
}): ShardStorage {
  const { port, dir, partitions, warcPrefix, recrawl } = options;
  const { onEvent, onSeenRuns, onSeenFlushWanted } = options;
  // The storage thread of this process has all tables open already, so opening them here changes nothing in the shared environment.
  const tables = openTables(dir, { readOnly: true });
  const reader = new TableReader(tables, partitions);
  const bodies = new BodyReader(folderOf(dir, 'warc'), { prefix: warcPrefix });
  const callbacks = { onEvent, onSeenRuns, onSeenFlushWanted };
  const client = new CheckpointClient({ port, reader, bodies, recrawl, ...callbacks });
  const close = async () => {
    client.close();
    port.close();
    bodies.close();
    await tables.root.close();
  };
  return { client, close };
}
