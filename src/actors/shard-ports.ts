// What a shard is built with, what it is given by the thread that runs it, and what it tells the main thread of itself.

import type { HostKey, PartitionIndex } from '../base/units.ts';
import type { SimhashIndex } from '../domain/simhash-index.ts';
import type { BandWeights } from './host-schedule.ts';
import type { LinkRouter } from './link-router.ts';
import type { HostMessage, HostPlaceIdentity, ShardPeerMessage } from './messages.ts';
import type { OperatorSettings } from './operator-settings.ts';
import type { ParsingPorts } from './page-parsing.ts';
import type { CheckpointPort, FetchPort, StateReader, StorageEvent } from './ports.ts';
import type { RemotePorts } from './remote-shard.ts';
import type { RenderMode } from './render-desk.ts';
import type { RenderPort } from './render-port.ts';

/** The shard's own bounds. */
export interface ShardOptions {
  readonly shard: number;
  /** Shards of this process. */
  readonly shards: number;
  readonly productToken: string;
  /** Requests in flight, at most. */
  readonly slotsMax: number;
  readonly bandWeights: BandWeights;
  /** Percent of the slots for pages due for another visit while there is something to discover too; 1 … 99. */
  readonly freshnessShare: number;
  /** Visits pages again when they are due. */
  readonly recrawls: boolean;
  /** Longest time something staged waits for its batch to close, milliseconds. */
  readonly flushMs: number;
  /** Bytes awaiting their commit above which no new request is started. */
  readonly pendingBytesMax: number;
  /** Bytes awaiting their parse above which no new request is started. */
  readonly backlogBytesMax: number;
  /** Queue entries and robots rules of awake hosts in memory above which hosts are put to sleep (residency.ts). */
  readonly residentEntriesMax: number;
  /** Reads sitemaps that robots.txt names. */
  readonly sitemaps: boolean;
  /** Asks each origin for /sitemap.xml too. */
  readonly wellKnownSitemaps: boolean;
  /** Absent when nothing is rendered. */
  readonly render?: {
    readonly mode: RenderMode;
    /** Pages with the browser pool at once. */
    readonly inHandMax: number;
  };
}

/** What the shard is given by the thread that runs it. */
export interface ShardPorts extends ParsingPorts {
  readonly fetch: FetchPort;
  /** The browser pool; absent when nothing is rendered. */
  readonly render?: RenderPort | undefined;
  readonly checkpoint: CheckpointPort;
  readonly reader: StateReader;
  readonly router: LinkRouter;
  /** Fingerprints of pages, shared by all shards of the process. */
  readonly fingerprints: SimhashIndex;
  /** The rest of the cluster; undefined on one machine. */
  readonly remote: RemotePorts | undefined;
  partitionOf(hostKey: HostKey): PartitionIndex;
  readonly settings: OperatorSettings;
  /** Delivers to a host actor, waking it up. False when it cannot take the message now. */
  offerHost(host: HostPlaceIdentity | HostKey, message: HostMessage): boolean;
  /** Name resolutions whose answer is awaited. */
  resolvesPending(): number;
  /** Puts up to so many quiet hosts to sleep. */
  restHosts(countMax: number): void;
  /** Hosts whose actors are awake. */
  activeHosts(): Iterable<HostKey>;
  /** Sends to another shard. False when the link has no credit now. */
  sendPeer(shard: number, message: ShardPeerMessage): boolean;
  /** Storage cannot go on: the process has to stop in order. */
  storageFailed(event: Extract<StorageEvent, { kind: 'storage-failed' }>): void;
}

/** What the main thread needs to know to tell whether the crawl is done. */
export interface ShardStatus {
  readonly shard: number;
  readonly inFlight: number;
  /** True when nothing is staged, uncommitted, unparsed or on its way to another shard. */
  readonly quiet: boolean;
  /** Hosts waiting for their gap, by band. */
  readonly waiting: readonly [number, number, number, number];
  readonly backingOff: number;
  /** Hosts that await a DNS or robots answer of another. */
  readonly awaiting: number;
  /** Hosts that could be asked now, were there slots. */
  readonly due: number;
  /** Milliseconds until the next host may be asked after its ordinary gap; Infinity when none waits. */
  readonly nextGapInMs: number;
  /** The same including hosts in trouble. */
  readonly nextInMs: number;
  /** Milliseconds until the next page is due for another visit; Infinity when none is, or pages are not visited again. */
  readonly dueInMs: number;
  readonly parseBacklog: number;
  /** Pages that wait for the browser or are with it. */
  readonly rendering: number;
  readonly pendingBytes: number;
  readonly linksWaiting: number;
  readonly draining: boolean;
}
