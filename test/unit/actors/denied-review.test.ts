import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostAddresses } from '../../../src/actors/host-addresses.ts';
import { HostAdmission } from '../../../src/actors/host-admission.ts';
import { HostBudget } from '../../../src/actors/host-budget.ts';
import { HostLedger } from '../../../src/actors/host-ledger.ts';
import { HostPace } from '../../../src/actors/host-pace.ts';
import { HostQueues } from '../../../src/actors/host-queues.ts';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import { HostVisits } from '../../../src/actors/host-visits.ts';
import type { HostMessage, RobotsAnswer, RoutedLink } from '../../../src/actors/messages.ts';
import type { DeniedCheckpoint } from '../../../src/actors/ports.ts';
import { RobotsDesk } from '../../../src/actors/robots-desk.ts';
import { SeededRandom } from '../../../src/base/random.ts';
import { monotonicMs, partitionIndex, type UrlKey, wallMs } from '../../../src/base/units.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import type { ActorContext } from '../../../src/runtime/actor.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import { lendServices } from '../../support/actors/host-services.ts';

const ORIGIN = 'http://site.test';
const hasher = createHasher(await xxhash(), 5n);
const FORBIDDING = 'User-agent: *\nDisallow: /old\nDisallow: /never\nDisallow: /*9$';

function deniedUrl(path: string): DeniedCheckpoint {
  const url = `${ORIGIN}${path}`;
  const urlKey = hasher.urlKey(url);
  const entry = { sequence: 9, url, urlKey, depth: 2, attempts: 0, hops: 0 };
  return {
    hostKey: hasher.hostKey('site.test'),
    partition: partitionIndex(0),
    band: 1,
    entry: { ...entry, purpose: 'page' },
  };
}

/** A link in a spelling of its own; `urlKey` is its URL's. */
function spelled(url: string, urlKey: UrlKey): RoutedLink {
  return {
    url,
    urlKey,
    host: 'site.test',
    hostKey: hasher.hostKey('site.test'),
    partition: partitionIndex(0),
    depth: 1,
    hops: 0,
    isHome: false,
    isRespelled: true,
    isSuspect: false,
    fromOtherHost: false,
    purpose: 'page',
  };
}

function file(text: string): RobotsAnswer {
  return {
    kind: 'response',
    status: 200,
    cacheControl: undefined,
    ageSeconds: 0,
    retryAfterSeconds: 0,
    location: undefined,
    body: Buffer.from(text),
    truncated: false,
  };
}

/** A host whose rules forbid, with its desk and its admission. */
function forbiddingHost(denied: readonly DeniedCheckpoint[]) {
  const lent = lendServices(hasher, denied);
  const { services, id } = lent;
  const robots = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []);
  robots.asked(ORIGIN);
  robots.answered(ORIGIN, `${ORIGIN}/robots.txt`, file(FORBIDDING), wallMs(1_704_067_200_000));
  const queues = new HostQueues(services, id, undefined);
  const pace = HostPace.fresh(services.policy.gap);
  const ledger = new HostLedger(services, id, undefined);
  const desk = new RobotsDesk({ services, id, robots, queues, pace });
  const admission = new HostAdmission({
    ...{ services, id, robots, queues, ledger },
    addresses: new HostAddresses(),
    budget: new HostBudget(services, id, queues, undefined),
    visits: new HostVisits({ services, id, queues }),
  });
  return { ...lent, robots, queues, pace, desk, admission };
}

/** A context to call a part of an actor with. */
function contextOf(): ActorContext<HostMessage> {
  let context: ActorContext<HostMessage> | undefined;
  const clock = new VirtualClock();
  const { dispatcher } = new VirtualDispatcher({ clock, random: new SeededRandom(1) });
  dispatcher.spawn<HostMessage>('part', (own) => {
    context = own;
    return { receive: () => {} };
  });
  return context as ActorContext<HostMessage>;
}

test('RobotsDesk queues what new rules allow of the URLs that the old ones denied, and no more', () => {
  const host = forbiddingHost([deniedUrl('/old/1'), deniedUrl('/never/1')]);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  host.desk.answered(errand, file('User-agent: *\nDisallow: /never'), contextOf());
  strictEqual(host.queues.length, 1);
  strictEqual(host.queues.peek()?.entry.url, `${ORIGIN}/old/1`);
  strictEqual(host.queues.peek()?.band, 1);
  host.services.stage.flush();
  deepStrictEqual(
    host.checkpoint.batches[0]?.deniedRemovals.map(({ urlKey }) => urlKey),
    [hasher.urlKey(`${ORIGIN}/old/1`)],
  );
});

test('RobotsDesk looks at no denied URL when the rules are the same as before', () => {
  const host = forbiddingHost([deniedUrl('/elsewhere')]);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  host.desk.answered(errand, file(FORBIDDING), contextOf());
  strictEqual(host.queues.length, 0);
});

test('RobotsDesk keeps the Crawl-delay of the rules it read, capped', () => {
  const host = forbiddingHost([]);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  host.desk.answered(errand, file('User-agent: *\nCrawl-delay: 3'), contextOf());
  strictEqual(host.pace.crawlDelayMs, 3_000);
  host.desk.answered(errand, file('User-agent: *\nCrawl-delay: 3000'), contextOf());
  strictEqual(host.pace.crawlDelayMs, 30_000);
  strictEqual(host.pace.tryPermit(monotonicMs(0))?.gapMs, 0);
});

test('RobotsDesk reports a Crawl-delay that is cut once, not at each fetch of the same file', () => {
  const host = forbiddingHost([]);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  const long = file('User-agent: *\nCrawl-delay: 3000');
  for (const answer of [file('User-agent: *\nCrawl-delay: 30'), long, long]) {
    host.desk.answered(errand, answer, contextOf());
  }
  deepStrictEqual(host.notices, [
    { code: 'crawl-delay-capped', host: 'site.test', askedMs: 3_000_000, keptMs: 30_000 },
  ]);
  host.services.stage.flush();
  strictEqual(host.checkpoint.batches[0]?.counters['crawl-delays.capped'], 1);
});

test('RobotsDesk looks at denied URLs again when an operator had the rules refreshed', () => {
  const host = forbiddingHost([deniedUrl('/elsewhere')]);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  host.robots.refresh();
  host.desk.answered(errand, file(FORBIDDING), contextOf());
  strictEqual(host.queues.peek()?.entry.url, `${ORIGIN}/elsewhere`);
});

test('HostAdmission.judge sets queued URLs of a host aside once it is opted out', () => {
  const host = forbiddingHost([]);
  const url = `${ORIGIN}/page`;
  host.admission.admit({ ...spelled(url, hasher.urlKey(url)), isRespelled: false });
  const head = host.queues.peek();
  strictEqual(head?.entry.url, url);
  strictEqual(host.admission.judge(head, wallMs(1_704_067_200_001))?.kind, 'allowed');
  host.optedOut.add('site.test');
  strictEqual(host.admission.judge(head, wallMs(1_704_067_200_001)), undefined);
  host.services.stage.flush();
  deepStrictEqual(
    host.checkpoint.batches[0]?.denied.map(({ entry }) => entry.url),
    [url],
  );
  strictEqual(host.checkpoint.batches[0]?.counters['skipped.opt-out'], 1);
});

test('HostAdmission.admit keeps a denied spelling out of the seen set and takes another one of the URL', () => {
  const host = forbiddingHost([]);
  const canonical = hasher.urlKey(`${ORIGIN}/page?a=1&b=2`);
  host.admission.admit(spelled(`${ORIGIN}/old?b=2&a=1`, canonical));
  strictEqual(host.queues.length, 0);
  strictEqual(host.seen.size, 0);
  host.admission.admit({
    ...spelled(`${ORIGIN}/page?a=1&b=2`, canonical),
    isRespelled: false,
  });
  strictEqual(host.queues.length, 1);
});

test('HostAdmission.admit lifts the denial of a URL that comes in an allowed spelling', () => {
  const denied = deniedUrl('/page?x');
  const host = forbiddingHost([denied]);
  host.seen.add(denied.entry.urlKey);
  host.admission.admit(spelled(`${ORIGIN}/page?b`, denied.entry.urlKey));
  strictEqual(host.queues.length, 1);
  host.services.stage.flush();
  strictEqual(host.checkpoint.batches[0]?.deniedRemovals.length, 1);
});

test('HostAdmission.admit queues a spelling under its own key while the rules are unknown, so that it hides no other', () => {
  const host = forbiddingHost([]);
  const url = 'http://site.test:8080/page?b=2&a=1';
  const canonical = hasher.urlKey('http://site.test:8080/page?a=1&b=2');
  host.admission.admit(spelled(url, canonical));
  deepStrictEqual([...host.seen], [hasher.urlKey(url)]);
  const entry = host.queues.peek()?.entry;
  strictEqual(entry?.urlKey, hasher.urlKey(url));
});

test('HostAdmission.judge keeps an allowed spelling waiting until the parked one it is to replace has been denied', () => {
  const { admission, queues, seen, services } = forbiddingHost([]);
  const url = `${ORIGIN}/page9`;
  const urlKey = hasher.urlKey(url);
  seen.add(urlKey);
  queues.park({ url, urlKey, depth: 1, attempts: 0, hops: 0, purpose: 'page' });
  admission.admit(spelled(`${url}?utm_source=feed`, urlKey));
  const judgeHead = (): void => {
    const head = queues.peek();
    ok(head !== undefined);
    strictEqual(admission.judge(head, wallMs(1_704_067_200_001)), undefined);
    queues.advance(head.band);
  };
  const release = (): void => {
    const entry = queues.takeParked();
    ok(entry !== undefined);
    queues.push(2, entry);
  };
  judgeHead();
  strictEqual(queues.parked, 2, 'the spare waits behind the other one');
  release();
  judgeHead();
  strictEqual(services.stage.stagedDenied(urlKey), 'denied');
  release();
  judgeHead();
  strictEqual(queues.peek()?.entry.url, `${url}?utm_source=feed`);
  strictEqual(queues.peek()?.entry.urlKey, urlKey);
});
