// Every message of the crawl (STYLE.md 9): unions on `kind`, commands imperative, facts past, plain encodable data. Messages between
// shards travel packed in batches; messages between a shard and its host actors stay in one thread.

import type { HostKey, MonotonicMs, PartitionIndex, UrlKey, WallMs } from '../base/units.ts';
import type { RobotsUnreachableReason } from '../domain/robots-policy.ts';
import type { PageSeen } from './host-known.ts';
import type { WaitReason } from './host-pace.ts';
import type { ChangedPage } from './page-outlinks.ts';
import type { FetchOutcome, GuardedParseOutcome, ResolveOutcome, StorageEvent } from './ports.ts';
import type { RenderOutcome, ResourceAnswer, WantedResource } from './render-port.ts';
import type { Band } from './rows.ts';

/** A discovered URL on its way to its owner: out of step 1, routed by step 2. */
export interface RoutedLink {
  /** The page's own spelling, absolute, without fragment: what will be sent. */
  readonly url: string;
  readonly urlKey: UrlKey;
  readonly host: string;
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly depth: number;
  /** Redirect hops that led here. */
  readonly hops: number;
  /** True for the root path of a host. */
  readonly isHome: boolean;
  /** True when `url` is not its own canonical form: another spelling of it may have been denied by robots.txt. */
  readonly isRespelled: boolean;
  /** True when a trap rule suspects it, or the page it was found on shows known content: it comes last. */
  readonly isSuspect: boolean;
  /** True when the link was found on another host: it counts towards the host's reputation. */
  readonly fromOtherHost: boolean;
  readonly purpose: 'page' | 'sitemap';
  /** True when it was queued at another owner before and handed over: that it is in the seen set says nothing. */
  readonly isReturned?: boolean;
}

/** Messages from one shard to another, or to itself. */
export type ShardPeerMessage =
  /** Steps 3 and 4: URLs for hosts of the receiving shard. `batch` counts 1, 2, 3 … per sender and receiver. */
  | {
      readonly kind: 'offer-links';
      readonly from: number;
      readonly batch: number;
      readonly links: readonly RoutedLink[];
    }
  /** The receiver has committed all batches of this sender up to `through`. */
  | { readonly kind: 'links-committed'; readonly from: number; readonly through: number }
  /** A robots.txt redirected to a host of the receiving shard: fetch it there, in that host's own pace. */
  | { readonly kind: 'ask-robots'; readonly ask: RobotsAsk; readonly host: HostPlaceIdentity }
  | { readonly kind: 'robots-answered'; readonly askId: number; readonly answer: RobotsAnswer }
  /** A page in the browser wants something of a host of the receiving shard. */
  | { readonly kind: 'ask-resource'; readonly ask: ResourceAsk; readonly host: HostPlaceIdentity }
  | { readonly kind: 'resource-answered'; readonly askId: number; readonly answer: ResourceAnswer };

/** What a batch between machines carries, all of it of one partition. */
export interface RemoteBatch {
  readonly links: readonly RoutedLink[];
  /** Keys of URLs that the sender has settled while the partition was its own. */
  readonly known: readonly UrlKey[];
}

/** A host by its name and keys, as messages carry it. */
export interface HostPlaceIdentity {
  readonly host: string;
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
}

/** A robots.txt that the origin of another host redirected to this host, to be fetched in this host's own pace. */
export interface RobotsAsk {
  /** Shard of the asking host. */
  readonly from: number;
  readonly askId: number;
  readonly url: string;
}

/** Something that a page wants while it is rendered, to be fetched by the owner of its host. */
export interface ResourceAsk {
  /** Shard of the page. */
  readonly from: number;
  readonly askId: number;
  readonly url: string;
  /** Asked for by a page of another host. */
  readonly isForeign: boolean;
  /** Nobody waits for it after this; the threads of a process have one clock. */
  readonly untilMs: MonotonicMs;
}

/** What a robots.txt fetch gave, small enough to travel: the body is cut at the parser's limit before. */
export type RobotsAnswer =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly cacheControl: string | undefined;
      readonly ageSeconds: number;
      readonly retryAfterSeconds: number;
      readonly location: string | undefined;
      readonly body: Uint8Array;
      readonly truncated: boolean;
    }
  | { readonly kind: 'unreachable'; readonly reason: RobotsUnreachableReason };

/** What the main thread, or an operator through it, asks of a shard. */
export type ShardCommand =
  | { readonly kind: 'inject-urls'; readonly urls: readonly InjectedUrl[] }
  | { readonly kind: 'pause-all' }
  | { readonly kind: 'resume-all' }
  /** Nothing is asked at an address, or, resumed, something is again. Spelled as the resolver spells addresses. */
  | { readonly kind: 'pause-address'; readonly address: string; readonly isPaused: boolean }
  /** Hand everything staged over now. */
  | { readonly kind: 'checkpoint' }
  /** Start no more requests; report `drained` once nothing is in flight and everything is committed. */
  | { readonly kind: 'drain' }
  | {
      readonly kind: 'operate-host';
      readonly host: HostPlaceIdentity;
      readonly operation: HostOperation;
    };

export interface InjectedUrl {
  readonly url: string;
  readonly depth: number;
}

/** What an operator may do to a host. */
export type HostOperation =
  | { readonly kind: 'pause'; readonly forMs: number }
  | { readonly kind: 'resume' }
  | { readonly kind: 'set-gap'; readonly gapMs: number | undefined }
  | { readonly kind: 'refresh-robots' }
  | { readonly kind: 'flush-addresses' };

/** Tells whoever handed work to several host actors when all of them have staged it. Stays in one thread, never encoded. */
export interface WorkToken {
  /** One host actor is done with its part. */
  applied(): void;
}

/** A work token that is also told of pages that could not be taken now. */
export interface VisitToken extends WorkToken {
  /** Some page's last visit is not durable yet: all of them are offered once more, later. */
  refused(): void;
}

/** Messages a host actor receives. */
export type HostMessage =
  /** Step 5: links for this host that the Bloom filter does not know, or that are respelled. */
  | {
      readonly kind: 'offer-urls';
      readonly links: readonly RoutedLink[];
      readonly token: WorkToken;
    }
  /** From step 10 back to 6: pages of this host are due for another visit. */
  | {
      readonly kind: 'visit-pages';
      readonly dueAt: WallMs;
      readonly urlKeys: readonly UrlKey[];
      readonly token: VisitToken;
    }
  /** Pages of this host have changed, by its sitemap's word: they are due sooner. */
  | { readonly kind: 'pages-changed'; readonly pages: readonly ChangedPage[] }
  /** Step 8: the schedule gives the host a fetch slot. Answered by `start-fetch` or `slot-returned`. */
  | { readonly kind: 'take-slot' }
  | { readonly kind: 'host-resolved'; readonly outcome: ResolveOutcome }
  | { readonly kind: 'fetch-ended'; readonly outcome: FetchOutcome }
  /** Step 11: what a page of this host was worth. */
  | { readonly kind: 'page-seen'; readonly page: PageSeen }
  | { readonly kind: 'ask-robots'; readonly ask: RobotsAsk }
  /** The answer to an ask of this host's, or the shard's word that none came in time. */
  | { readonly kind: 'robots-answered'; readonly askId: number; readonly answer: RobotsAnswer }
  /** A page in the browser wants something of this host. */
  | { readonly kind: 'ask-resource'; readonly ask: ResourceAsk }
  /** A page of this host was rendered, or passed over although it seemed to need it. */
  | { readonly kind: 'render-ended'; readonly result: 'gained' | 'nothing' | 'passed' }
  /** The row that says this host is being contacted is durable. */
  | { readonly kind: 'contact-committed' }
  /** Move buffered entries into chunk rows: an old log segment is to be deleted. */
  | { readonly kind: 'sweep'; readonly token: WorkToken }
  /** The host's partition is another node's: its queue goes there. */
  | { readonly kind: 'give-away' }
  | { readonly kind: 'operate'; readonly operation: HostOperation };

/** What the bus brings to a shard of a cluster. */
export type RemoteMessage =
  /** A batch of another node's outbox. `base`: what was committed before by any owner. */
  | {
      readonly kind: 'offer-remote';
      readonly sender: string;
      readonly partition: PartitionIndex;
      readonly batch: number;
      readonly base: number;
      readonly content: RemoteBatch;
    }
  /** A receiver has committed our batches of a partition up to `through`. */
  | {
      readonly kind: 'remote-committed';
      readonly partition: PartitionIndex;
      readonly through: number;
    }
  /** Partitions that are this node's from now on: their hosts enter the schedule. */
  | { readonly kind: 'partitions-gained'; readonly partitions: readonly PartitionIndex[] }
  /** Partitions that are no longer this node's: nothing may be in flight there. */
  | { readonly kind: 'partitions-lost'; readonly partitions: readonly PartitionIndex[] }
  /** Another node owns these now: what waits for them is sent again, and what is queued and settled here goes there. */
  | {
      readonly kind: 'partitions-elsewhere';
      readonly partitions: readonly PartitionIndex[];
    };

/** Messages a shard actor receives from its own host actors and ports. */
export type ShardMessage =
  | ShardPeerMessage
  | RemoteMessage
  | ShardCommand
  /** The host has something to fetch at `atMs`, its best entry in `band`. Replaces an earlier message of the same host. */
  | {
      readonly kind: 'host-ready';
      readonly hostKey: HostKey;
      readonly partition: PartitionIndex;
      readonly host: string;
      readonly atMs: MonotonicMs;
      readonly band: Band;
      readonly reason: WaitReason;
    }
  | { readonly kind: 'storage'; readonly event: StorageEvent }
  | { readonly kind: 'pump' }
  /** The timer for what could not be delivered before. */
  | { readonly kind: 'retry' }
  /** The timer for the next host that becomes due. */
  | { readonly kind: 'wake' }
  | { readonly kind: 'parse-next' }
  /** The timer for pages due for another visit. */
  | { readonly kind: 'look-for-due' }
  /** The guarded pool is done with a page. */
  | {
      readonly kind: 'page-parsed';
      readonly unparsedId: number;
      readonly outcome: GuardedParseOutcome;
    }
  /** A page in the browser wants something. */
  | { readonly kind: 'render-wants'; readonly resource: WantedResource }
  | { readonly kind: 'page-rendered'; readonly renderId: number; readonly outcome: RenderOutcome }
  /** The open batch has grown large, or its time is up. */
  | { readonly kind: 'flush' }
  | { readonly kind: 'flush-due' };
