// Everything a host does about robots.txt besides obeying it (step 5): takes answers in, follows their redirects on this host or by asking
// the owner of another, sets the crawl delay, and looks again at URLs that the old rules denied. Owned by the host actor alone.

import { cappedCrawlDelayMs } from '../domain/politeness.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { HostPace } from './host-pace.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostRobots } from './host-robots.ts';
import type { HostMessage, HostPlaceIdentity, RobotsAnswer, RobotsAsk } from './messages.ts';
import { type RobotsErrand, RobotsErrands } from './robots-errands.ts';
import type { HostServices } from './services.ts';

/** Denied URLs looked at again when the rules of their host change. */
const DENIED_REVIEW_MAX = 4_096;

export interface DeskOwner {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly robots: HostRobots;
  readonly queues: HostQueues;
  readonly pace: HostPace;
}

export class RobotsDesk {
  readonly #owner: DeskOwner;
  readonly errands = new RobotsErrands();

  constructor(owner: DeskOwner) {
    this.#owner = owner;
  }

  /** Another host's origin redirected its robots.txt here. */
  asked(ask: RobotsAsk): void {
    if (this.errands.take(ask)) return;
    this.#owner.services.answerRobots(ask, { kind: 'unreachable', reason: 'protocol' });
  }

  /** The answer to one of this host's own asks. False when it was not awaited any more. */
  askAnswered(askId: number, answer: RobotsAnswer, context: ActorContext<HostMessage>): boolean {
    const awaited = this.errands.answered(askId);
    if (awaited === undefined) return false;
    this.#ownAnswered(awaited.origin, awaited.url, answer, context);
    return true;
  }

  /** A robots request of this host ended, made for itself or for another host. */
  answered(errand: RobotsErrand, answer: RobotsAnswer, context: ActorContext<HostMessage>): void {
    if (errand.ask !== undefined) this.#owner.services.answerRobots(errand.ask, answer);
    else this.#ownAnswered(errand.origin, errand.url, answer, context);
  }

  /** The request could not even be made: no address of the host may be contacted. */
  refused(errand: RobotsErrand, context: ActorContext<HostMessage>): void {
    if (this.errands.next()?.url === errand.url) this.errands.done();
    this.answered(errand, { kind: 'unreachable', reason: 'address-refused' }, context);
  }

  #ownAnswered(
    origin: string,
    url: string,
    answer: RobotsAnswer,
    context: ActorContext<HostMessage>,
  ): void {
    const { services, id, robots } = this.#owner;
    const delayBefore = robots.crawlDelaySeconds();
    const step = robots.answered(origin, url, answer, context.wallNow());
    if (step.kind === 'redirected') {
      this.#follow(origin, step.url, context);
      return;
    }
    services.stage.robots(id.hostKey, id.partition, step.row);
    this.#obeyCrawlDelay(delayBefore);
    if (step.rulesChanged) this.#reviewDenied();
    services.robotsRead(id, origin, step.sitemaps);
  }

  /** Takes the rules' delay over, and reports one that is cut the first time it is met (DESIGN.md §4). */
  #obeyCrawlDelay(secondsBefore: number | undefined): void {
    const { services, id, robots, pace } = this.#owner;
    const policy = services.gapPolicyOf(id.host);
    const seconds = robots.crawlDelaySeconds();
    const keptMs = cappedCrawlDelayMs(seconds, policy);
    pace.setCrawlDelay(keptMs);
    const askedMs = (seconds ?? 0) * 1_000;
    if (askedMs <= keptMs || (secondsBefore ?? 0) * 1_000 > policy.maxCrawlDelayMs) return;
    services.stage.count('crawl-delays.capped');
    services.notice({ code: 'crawl-delay-capped', host: id.host, askedMs, keptMs });
  }

  #follow(origin: string, url: string, context: ActorContext<HostMessage>): void {
    const { services, id } = this.#owner;
    if (services.hostOf(url) === id.host) {
      this.errands.follow(origin, url);
      return;
    }
    const askId = services.askRobots(id, url);
    this.errands.expect(askId, origin, url);
    const answer: RobotsAnswer = { kind: 'unreachable', reason: 'read-timeout' };
    context.after(services.policy.robotsAskMs, { kind: 'robots-answered', askId, answer });
  }

  /** URLs that the old rules denied and the new ones allow go back into the queue. */
  #reviewDenied(): void {
    const { services, id, robots, queues } = this.#owner;
    let looks = 0;
    for (const { band, entry } of services.reader.denied(id.hostKey, id.partition)) {
      looks += 1;
      if (looks > DENIED_REVIEW_MAX) break;
      if (robots.knownVerdict(entry.url)?.allowed !== true) continue;
      services.stage.removeDenied(id.hostKey, id.partition, entry.urlKey);
      const { sequence: _sequence, ...again } = entry;
      queues.push(band, again);
    }
  }
}
