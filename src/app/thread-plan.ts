// What the main thread gives a shard thread at its start, and what the two say to each other after. Plain data, ports and shared memory.

import type { MessagePort } from 'node:worker_threads';
import type { ShardCommand } from '../actors/messages.ts';
import type { StorageEvent } from '../actors/ports.ts';
import type { ResponseCounts } from '../actors/response-times.ts';
import type { HostNotice } from '../actors/services.ts';
import type { ShardStatus } from '../actors/shard-ports.ts';
import type { CrawlConfig } from '../config/options.ts';
import type { AsnTable } from '../net/asn-lookup.ts';
import type { BloomHandle } from '../runtime/bloom-generations.ts';
import type { TopOrder } from '../runtime/inspection.ts';
import type { ClockAnchor } from '../runtime/real-clock.ts';
import type { AllowanceMemory } from '../runtime/shared-allowance.ts';
import type { BudgetMemory } from '../runtime/shared-budget.ts';
import type { TracedMessage } from '../runtime/turn-records.ts';
import type { SeenRunEntry } from '../storage/seen-merge.ts';
import type { HostSettingOptions } from './host-settings.ts';
import type { RemoteSeat } from './shard-remote.ts';

/** Memory that all threads of the process share. */
export interface SharedMemories {
  readonly bloom: BloomHandle;
  /** One Int32: 1 once the filter holds every known key; until then each look-up goes to the exact store. */
  readonly bloomReady: SharedArrayBuffer;
  readonly recent: SharedArrayBuffer;
  readonly addresses: BudgetMemory;
  /** Error rates of autonomous systems (shard-networks.ts). */
  readonly networks: SharedArrayBuffer;
  /** Accounts of registrable domains (actors/domain-accounts.ts). */
  readonly domains: SharedArrayBuffer;
  /** Fingerprints of pages (domain/simhash-index.ts). */
  readonly fingerprints: SharedArrayBuffer;
  readonly pages: AllowanceMemory;
  /** One BigUint64 for each shard: the page it is parsing, 0 when none. Read when the shard died. */
  readonly parsing: SharedArrayBuffer;
  /** One Int32 for each shard that grows while its event loop turns. */
  readonly turns: SharedArrayBuffer;
}

/** workerData of a shard thread: its plan comes over the port, once, when the store is open. */
export interface ShardThreadGift {
  readonly planPort: MessagePort;
}

/** What a shard thread begins with. */
export interface ShardThreadPlan {
  readonly shard: number;
  readonly shards: number;
  readonly config: CrawlConfig;
  readonly userAgent: string;
  /** Seed of the URL and host keys. */
  readonly hashSeed: bigint;
  readonly partitions: number;
  /** Canonical seeds, for the scope. */
  readonly scopeSeeds: readonly string[];
  /** What the opt-out file said at the start. */
  readonly optOut: readonly string[];
  readonly trustedCertificates: readonly string[];
  /** When the process started, by both clocks. */
  readonly anchor: ClockAnchor;
  readonly memories: SharedMemories;
  /** Pages held responsible for deaths of crawl threads, by URL key, with how many. */
  readonly suspects: ReadonlyMap<bigint, number>;
  readonly seenRuns: readonly SeenRunEntry[];
  readonly storagePort: MessagePort;
  readonly controlPort: MessagePort;
  /** To the render thread; undefined when nothing is rendered. */
  readonly renderPort: MessagePort | undefined;
  /** The seat in the cluster; undefined on one machine. */
  readonly remote: RemoteSeat | undefined;
  /** A port to each other shard; null at the own place. */
  readonly peerPorts: readonly (MessagePort | null)[];
}

/** From the main thread to a shard, over its control port. */
export type ToShardThread =
  | { readonly kind: 'command'; readonly command: ShardCommand }
  | { readonly kind: 'report-status'; readonly id: number }
  | { readonly kind: 'bloom-grown'; readonly buffer: SharedArrayBuffer }
  /** The opt-out file was read again. */
  | { readonly kind: 'opt-out'; readonly domains: readonly string[] }
  /** The operator's settings of hosts were read again. */
  | { readonly kind: 'host-settings'; readonly options: HostSettingOptions }
  /** The table of autonomous systems was read. */
  | { readonly kind: 'asn-table'; readonly table: AsnTable }
  /** Finish: abort what is in flight after `graceMs`, commit, close, end the thread. */
  | { readonly kind: 'finish'; readonly graceMs: number }
  /** A question of an operator; answered by `inspected` with the same id. */
  | { readonly kind: 'inspect'; readonly id: number; readonly query: ShardQuery }
  /** Tell what an actor handles, by `traced` with the same id, until `end-trace`. */
  | {
      readonly kind: 'trace';
      readonly id: number;
      readonly actor: string;
      readonly eventsMax: number;
    }
  | { readonly kind: 'end-trace'; readonly id: number };

/** Read-only questions about a shard. */
export type ShardQuery =
  | { readonly kind: 'shard' }
  | { readonly kind: 'host'; readonly hostKey: bigint }
  | { readonly kind: 'tree'; readonly path: string; readonly limit: number }
  | { readonly kind: 'top'; readonly by: TopOrder; readonly limit: number }
  | { readonly kind: 'state'; readonly actor: string }
  | { readonly kind: 'mailbox'; readonly actor: string }
  | { readonly kind: 'heap' }
  | { readonly kind: 'slow-turns' }
  | { readonly kind: 'next-hosts'; readonly limit: number }
  | { readonly kind: 'cpu'; readonly seconds: number }
  | { readonly kind: 'dead-letters' };

/** From a shard to the main thread. */
export type FromShardThread =
  | {
      readonly kind: 'status';
      readonly id: number;
      readonly status: ShardStatus;
      readonly load: ShardLoad;
    }
  | { readonly kind: 'recovered'; readonly hosts: number }
  | { readonly kind: 'noticed'; readonly notice: HostNotice }
  | { readonly kind: 'inspected'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'traced'; readonly id: number; readonly event: TracedMessage }
  | {
      readonly kind: 'storage-failed';
      readonly event: Extract<StorageEvent, { kind: 'storage-failed' }>;
    }
  /** An actor failed: a bug of ours. */
  | {
      readonly kind: 'actor-failed';
      readonly actor: string;
      readonly error: string;
      readonly stack: string;
    }
  | { readonly kind: 'finished' };

/** Cost figures of a shard thread since its start. */
export interface ShardLoad {
  readonly loopDelayMs: number;
  readonly loopDelayMaxMs: number;
  readonly hostsActive: number;
  readonly seen: {
    readonly added: number;
    readonly confirmed: number;
    readonly falsePositives: number;
  };
  /** Connections open. */
  readonly connections: number;
  /** Milliseconds spent running actors. */
  /** Batches sent to other nodes and taken in from them. */
  readonly remoteActivity: number;
  readonly busyMs: number;
  readonly deadLetters: number;
  readonly responses: ResponseCounts;
}
