// What pages in the browser want of one host (steps 5, 8 and 9, docs/RENDERING.md): asks of renderings, each a request of this host like any
// other, in its pace, by its robots rules, to addresses that the guard admits. While the host has pages to fetch too, `renderShare` percent of
// its requests go here. Bounded by ASKS_MAX; an ask that nobody waits for any more is dropped when its turn comes. Owned by the host actor.

import { assert } from '../base/assert.ts';
import type { WallMs } from '../base/units.ts';
import { FreshnessSplit } from '../domain/split.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { HostAddresses } from './host-addresses.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostRequest } from './host-requests.ts';
import type { Admission, HostRobots } from './host-robots.ts';
import type { HostMessage, HostPlaceIdentity, ResourceAsk } from './messages.ts';
import type { FetchOutcome } from './ports.ts';
import type { ResourceAnswer, ResourceRefusal } from './render-port.ts';
import type { HostServices } from './services.ts';

/** Asks waiting at one host; further ones are refused. A page may make some sixty requests, and few pages are rendered at once. */
const ASKS_MAX = 256;
/** Headers that a browser needs of an answer; the rest stays in the archive. */
const NEEDED_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'location', 'cache-control', 'expires', 'date', 'age'],
  'access-control-allow-origin',
]);

interface ResourceOwner {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly robots: HostRobots;
  readonly queues: HostQueues;
  readonly addresses: HostAddresses;
}

/** What is known of an ask whose turn it is. */
type NextAdmission = Exclude<Admission, { kind: 'denied' }>;

export class HostResources {
  readonly #owner: ResourceOwner;
  readonly #asks: ResourceAsk[] = [];
  readonly #split: FreshnessSplit;

  constructor(owner: ResourceOwner) {
    this.#owner = owner;
    this.#split = new FreshnessSplit(owner.services.policy.renderShare);
  }

  /** True while an ask waits that somebody waits for. */
  get isWaiting(): boolean {
    return this.#asks.length > 0 && !this.#owner.services.hasStoppedRendering();
  }

  take(ask: ResourceAsk): void {
    if (this.#asks.length >= ASKS_MAX) this.#refuse(ask, 'busy');
    else this.#asks.push(ask);
  }

  /** Answers every ask by a refusal. */
  refuseAll(reason: ResourceRefusal): void {
    for (const ask of this.#asks.splice(0)) this.#refuse(ask, reason);
  }

  /** Whether the first ask may be sent; undefined when there is none, or the queue goes first. What can never be sent is answered and gone. */
  next(context: ActorContext<HostMessage>): NextAdmission | undefined {
    if (this.#asks.length === 0 || this.#isQueueNext(context)) return undefined;
    for (;;) {
      const ask = this.#asks[0];
      if (ask === undefined) return undefined;
      const admission = this.#judge(ask, context);
      if (typeof admission !== 'string') return admission;
      this.#asks.shift();
      this.#refuse(ask, admission);
    }
  }

  /** Starts the request of the first ask. @returns whether it was started; it waits on if not */
  begin(start: (request: Extract<HostRequest, { kind: 'resource' }>) => boolean): boolean {
    const ask = this.#asks[0];
    assert(ask !== undefined, () => 'no ask to begin with');
    if (!start({ kind: 'resource', url: ask.url, ask })) return false;
    this.#asks.shift();
    return true;
  }

  /** A request was made, for one or the other, while both may have waited. */
  served(kind: 'page' | 'resource'): void {
    const both = this.#owner.queues.length > 0 && (kind === 'resource' || this.isWaiting);
    if (both) this.#split.served(kind === 'resource' ? 'freshness' : 'discovery');
  }

  /** The request of an ask has ended. */
  ended(ask: ResourceAsk, outcome: FetchOutcome): void {
    this.#owner.services.answerResource(ask, answerOf(outcome));
  }

  /** A page that has to wait for its robots.txt lets asks of other origins go before it. */
  #isQueueNext(context: ActorContext<HostMessage>): boolean {
    const { queues, robots } = this.#owner;
    const head = this.#split.isFreshnessNext ? undefined : queues.peek();
    if (head === undefined) return false;
    return robots.admission(head.entry.url, context.wallNow()).kind !== 'wait';
  }

  #judge(ask: ResourceAsk, context: ActorContext<HostMessage>): NextAdmission | ResourceRefusal {
    const { services, id, robots, addresses } = this.#owner;
    if (context.now() >= ask.untilMs) return 'late';
    if (services.isOptedOut(id.host)) return 'opt-out';
    if (addresses.forbidden) return 'address';
    const wallNow: WallMs = context.wallNow();
    const admission = robots.admission(ask.url, wallNow);
    if (admission.kind === 'denied') return 'robots';
    // An unreachable robots.txt closes the host for hours: longer than a page can wait. While one is being asked for, it can.
    if (admission.kind === 'wait' && admission.untilAt > wallNow) return 'robots-unreachable';
    return admission;
  }

  #refuse(ask: ResourceAsk, reason: ResourceRefusal): void {
    this.#owner.services.stage.count(`render.refused.${reason}`);
    this.#owner.services.answerResource(ask, { kind: 'refused', reason });
  }
}

function answerOf(outcome: FetchOutcome): ResourceAnswer {
  if (outcome.kind === 'failed') return { kind: 'refused', reason: 'failed' };
  if (outcome.truncated !== undefined) return { kind: 'refused', reason: 'failed' };
  const { status, body } = outcome;
  const headers: string[] = [];
  for (let at = 0; at + 1 < outcome.headers.length; at += 2) {
    const name = (outcome.headers[at] as string).toLowerCase();
    if (NEEDED_HEADERS.has(name)) headers.push(name, outcome.headers[at + 1] as string);
  }
  return { kind: 'response', status, headers, body };
}
