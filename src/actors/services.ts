// What a shard lends its host actors: the policy of the crawl and the shard's own stages. Host actors hold nothing else of the outside
// world, and none of these gives them a way to make a request without a permit (host-pace.ts).

import type { HostKey, MonotonicMs, UrlKey, WallMs } from '../base/units.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import type { RecrawlPolicy } from '../domain/recrawl.ts';
import type { UrlBudgetOptions } from '../domain/url-budget.ts';
import type { UrlShape } from '../domain/url-shape.ts';
import type { ActorRef } from '../runtime/actor.ts';
import type { Place } from '../runtime/shared-budget.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { DomainAccounts } from './domain-accounts.ts';
import type { FetchGate } from './fetch-gate.ts';
import type { TenureBook } from './fetch-tenure.ts';
import type {
  HostMessage,
  HostPlaceIdentity,
  ResourceAsk,
  RobotsAnswer,
  RobotsAsk,
  RoutedLink,
  ShardMessage,
} from './messages.ts';
import type { OperatorSettings } from './operator-settings.ts';
import type { ResolvePort } from './ports.ts';
import type { ResourceAnswer } from './render-port.ts';
import type { Residency } from './residency.ts';
import type { Band } from './rows.ts';
import type { StagedReader } from './staged-reader.ts';

/** The part of the configuration that host actors act on. Times in milliseconds. */
export interface CrawlPolicy {
  /** The pace of hosts for which the operator has no rule of their own. */
  readonly gap: GapPolicy;
  /** Product token looked for in robots.txt, for example `hostler`. */
  readonly productToken: string;
  /** Redirects followed for a page before it fails as too-many-redirects; 0 … 20. */
  readonly redirectsMax: number;
  /** Bytes of a robots.txt that are read; RFC 9309 §2.5 asks for at least 500 KiB. */
  readonly robotsBytesMax: number;
  /** How long a robots answer asked of another host is waited for. */
  readonly robotsAskMs: number;
  readonly budget: UrlBudgetOptions;
  /** URLs waiting on a shard above which new ones of the last band are parked; at twice as many, those of the middle band too. */
  readonly waitingHigh: number;
  /** How long parked URLs wait for their first review; twice as long for each further one, up to `reviewMsMax`. */
  readonly reviewMsMin: number;
  readonly reviewMsMax: number;
  readonly recrawl: RecrawlPolicy;
  /** Percent of a host's requests for pages due for another visit while it has something to discover too; 1 … 99. */
  readonly freshnessShare: number;
  /** Percent of a host's requests for what its rendered pages want, while it has pages to fetch too; 1 … 99. */
  readonly renderShare: number;
  /** Pages may be rendered: copies of a page enter the unparsed log too, since one shell stands for many pages. */
  readonly renders: boolean;
}

/** Budget of requests per IP address, shared by all threads of the process. */
export interface AddressBudget {
  /** Takes a place at the address now, or gives a ticket to come again with (runtime/shared-budget.ts). */
  tryTake(address: string, nowMs: MonotonicMs, ticketMs: MonotonicMs | undefined): Place;
  release(address: string): void;
}

/** Error rates of autonomous systems, shared by all threads of the process (domain/asn-backoff.ts). */
export interface NetworkBackoff {
  /** The autonomous system of an address; undefined when no table knows it. */
  networkOf(address: string): number | undefined;
  /** By what the waits of its hosts are multiplied now; 1 or more. */
  factorOf(network: number): number;
  /** One of its hosts was heard. */
  heard(network: number, voice: 'answered' | 'troubled'): void;
}

/** Something about a host that its operator should know; nothing fails. */
export interface HostNotice {
  readonly code: 'crawl-delay-capped';
  readonly host: string;
  /** What the host asked for, and what is kept, milliseconds. */
  readonly askedMs: number;
  readonly keptMs: number;
}

/** How many pages may still be stored (`--max-pages`), shared by all threads. */
export interface PageAllowance {
  /** Reserves a page. False while stored and reserved pages reach the limit. */
  tryReserve(): boolean;
  /** Gives a reservation back; `stored` tells whether the page counts for good. */
  settle(stored: boolean): void;
}

/** Steps 4 and 5 as the host's owner uses them. */
export interface SeenSet {
  /** True when the key was never added; it is then added. Only the owner calls this. */
  addIfNew(urlKey: bigint): boolean;
  /** True when the key was added, by any shard of this process; a key of another machine's shard may not be known. */
  has(urlKey: bigint): boolean;
}

export interface HostServices {
  readonly policy: CrawlPolicy;
  readonly residency: Residency;
  readonly reader: StagedReader;
  readonly resolver: ResolvePort;
  readonly stage: CheckpointStage;
  readonly gate: FetchGate;
  /** What this node may fetch now. */
  readonly tenures: TenureBook;
  readonly addresses: AddressBudget;
  /** What an operator has set while the crawl runs. */
  readonly settings: OperatorSettings;
  readonly networks: NetworkBackoff;
  readonly pages: PageAllowance;
  readonly seen: SeenSet;
  readonly domains: DomainAccounts;
  /** Of which kind a URL is, and whether a trap rule suspects it. */
  shapeOf(url: string): UrlShape;
  /** The operator's pace for a host. */
  gapPolicyOf(host: string): GapPolicy;
  /** URLs of a host to begin with (domain/url-budget.ts). */
  urlsOf(host: string): number;
  /** Least gap to an address, whatever was configured: fast crawling is for the operator's own networks (DESIGN.md §9). */
  leastGapMsOf(address: string): number;
  /** True when the host's owner asked not to be crawled. */
  isOptedOut(host: string): boolean;
  /** When this process started, by both clocks: a restored host waits its full gap from here. */
  readonly startedMs: MonotonicMs;
  readonly startedAt: WallMs;
  /** Told at most once for each host and cause. */
  notice(notice: HostNotice): void;
  toShard(message: ShardMessage): void;
  /** The band in whose turn the host stands in the schedule; undefined when it does not. */
  scheduledBand(hostKey: HostKey): Band | undefined;
  /** Queued links of a partition that is another node's. */
  giveAway(links: readonly RoutedLink[]): void;
  /** A queued URL of another owner comes here. False when this node has fetched it before. */
  mayReturn(host: HostPlaceIdentity, urlKey: UrlKey): boolean;
  /** True for a queued URL that was fetched meanwhile: by an owner before this node, or here, when it came in twice with a move. */
  isDoneAlready(host: HostPlaceIdentity, urlKey: UrlKey): boolean;
  /** Delivers what a port answered to a host actor; dropped when it is gone. */
  toHost(host: ActorRef<HostMessage>, message: HostMessage): void;
  /** Identity of a URL: key of its canonical form. */
  keyOf(url: string): UrlKey;
  /** Canonical form of a URL; one that has none is its own. */
  canonicalOf(url: string): string;
  /** Key of a URL exactly as it is spelled. */
  spellingKeyOf(url: string): UrlKey;
  /** Canonical host name of a URL. */
  hostOf(url: string): string;
  /** Asks the owner of the host of `url` for a robots.txt. @returns the id the answer will carry */
  askRobots(asker: HostPlaceIdentity, url: string): number;
  answerRobots(ask: RobotsAsk, answer: RobotsAnswer): void;
  answerResource(ask: ResourceAsk, answer: ResourceAnswer): void;
  /** True once the shard drains: nobody waits for resources any more, and none keeps a host awake. */
  hasStoppedRendering(): boolean;
  /** The robots rules of an origin were decided; `sitemaps` are the absolute URLs they name. */
  robotsRead(host: HostPlaceIdentity, origin: string, sitemaps: readonly string[]): void;
}
