// Small values that tests of the actors' parts share: keys, links, pages, a chunk store and a checkpoint port that remember what they
// were given. No mocks of our own classes: these are ends of the ports.
import type { ChunkStore } from '../../src/actors/back-queue.ts';
import type { RoutedLink } from '../../src/actors/messages.ts';
import type {
  CheckpointBatch,
  CheckpointPort,
  FetchResponse,
  PageCheckpoint,
} from '../../src/actors/ports.ts';
import { newHostRow } from '../../src/actors/queue-recovery.ts';
import type { HostRow, QueueEntry } from '../../src/actors/rows.ts';
import {
  hostKey,
  type MonotonicMs,
  monotonicMs,
  partitionIndex,
  urlKey,
  wallMs,
} from '../../src/base/units.ts';

export const HOST = hostKey(7n);
export const PARTITION = partitionIndex(3);
export const at = (ms: number): MonotonicMs => monotonicMs(ms);

/** An entry without its place in a queue. */
export function entryOf(name: string): Omit<QueueEntry, 'sequence'> {
  const key = urlKey(BigInt(`0x${Buffer.from(name).toString('hex').slice(0, 14)}`));
  const url = `http://h.test/${name}`;
  return { url, urlKey: key, depth: 1, attempts: 0, hops: 0, purpose: 'page' };
}

/** Chunk rows in memory, found as storage finds them: by the greatest first sequence not above the one asked for. */
export class MapChunks implements ChunkStore {
  readonly rows = new Map<number, readonly QueueEntry[]>();

  read(sequence: number): readonly QueueEntry[] | undefined {
    let best = -1;
    for (const first of this.rows.keys()) if (first <= sequence && first > best) best = first;
    return this.rows.get(best);
  }

  write(entries: readonly QueueEntry[]): void {
    this.rows.set((entries[0] as QueueEntry).sequence, entries);
  }

  remove(firstSequence: number): void {
    this.rows.delete(firstSequence);
  }
}

/** Keeps the batches it is given. */
export class KeptBatches implements CheckpointPort {
  readonly batches: CheckpointBatch[] = [];

  submit(batch: CheckpointBatch): void {
    this.batches.push(batch);
  }

  pendingBytes(): number {
    return 0;
  }
}

export function linkOf(path: string, host = 'h.test', key = 1n): RoutedLink {
  return {
    url: `http://${host}/${path}`,
    urlKey: urlKey(key),
    host,
    hostKey: hostKey(BigInt(host.length)),
    partition: PARTITION,
    depth: 1,
    hops: 0,
    isHome: path === '',
    isRespelled: false,
    isSuspect: false,
    fromOtherHost: false,
    purpose: 'page',
  };
}

export function responseOf(body: string): FetchResponse {
  const bytes = new TextEncoder().encode(body);
  return {
    ...{ kind: 'response', status: 200, reason: 'OK', headers: [], payload: bytes, body: bytes },
    truncated: undefined,
    requestHead: '',
    address: '192.0.2.1',
    startedMs: at(0),
    responseMs: 1,
    endedMs: at(2),
  };
}

export function pageOf(name: string, body = 'text'): PageCheckpoint {
  const { url, urlKey: key, depth, hops } = entryOf(name);
  return {
    ...{ hostKey: HOST, partition: PARTITION, urlKey: key, url, depth, hops },
    fetchedAt: wallMs(1),
    response: responseOf(body),
    failure: undefined,
    redirectTo: undefined,
    parse: true,
    purpose: 'page',
    prior: undefined,
  };
}

export function rowWithTail(tail: number): HostRow {
  const row = newHostRow('h.test', PARTITION);
  const cursors = { head: 0, chunkEnd: tail, tail };
  return { ...row, queues: [cursors, row.queues[1], row.queues[2]] };
}
