import { notStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostActor } from '../../../src/actors/host-actor.ts';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import type { HostMessage, ShardMessage } from '../../../src/actors/messages.ts';
import { SeededRandom } from '../../../src/base/random.ts';
import { wallMs } from '../../../src/base/units.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import { lendServices } from '../../support/actors/host-services.ts';

const hasher = createHasher(await xxhash(), 5n);

test('HostActor wants no slot before a row is durable that says it is contacted, with the longest Crawl-delay', () => {
  const { services, checkpoint, id } = lendServices(hasher);
  const wishes: ShardMessage[] = [];
  const driver = new VirtualDispatcher({ clock: new VirtualClock(), random: new SeededRandom(1) });
  const lent = {
    ...services,
    toShard: (message: ShardMessage) => void wishes.push(message),
    toHost: (host: Parameters<typeof services.toHost>[0], message: HostMessage) =>
      driver.dispatcher.tell(host, message),
  };
  const ref = driver.dispatcher.spawn<HostMessage>(
    'host',
    (context) => new HostActor(lent, id, context),
  );
  const tell = (message: HostMessage): void => {
    driver.dispatcher.tell(ref, message);
    driver.runDue();
  };
  const url = 'http://site.test/';
  const marks = { isHome: true, isRespelled: false, isSuspect: false, fromOtherHost: false };
  const link = { ...id, ...marks, url, urlKey: hasher.urlKey(url), depth: 0, hops: 0 };
  const token = { applied: () => {} };
  tell({ kind: 'offer-urls', links: [{ ...link, purpose: 'page' }], token });
  tell({
    kind: 'host-resolved',
    outcome: { kind: 'resolved', addresses: ['192.0.2.1'], ttlMs: 60_000 },
  });
  const other = { ...link, url: `${url}other`, urlKey: hasher.urlKey(`${url}other`) };
  tell({ kind: 'offer-urls', links: [{ ...other, purpose: 'page' }], token });
  strictEqual(wishes.length, 0);
  services.stage.flush();
  const row = checkpoint.batches[0]?.hosts[0]?.row;
  strictEqual(row?.crawlDelayMs, services.policy.gap.maxCrawlDelayMs);
  notStrictEqual(row?.lastEndedAt, 0);
  services.stage.committed(1, []);
  driver.runDue();
  strictEqual(wishes[0]?.kind, 'host-ready');
});

test('HostRobots.areKnown is false until a robots.txt was read, so that the row keeps the longest Crawl-delay after a failed one', () => {
  const { services, id } = lendServices(hasher);
  const robots = new HostRobots(services.policy, []);
  const origin = `http://${id.host}`;
  const answered = (status: number, text: string): void => {
    const body = new TextEncoder().encode(text);
    const whole = { truncated: false, location: undefined, cacheControl: undefined };
    const answer = { kind: 'response', status, body, ageSeconds: 0, retryAfterSeconds: 0 } as const;
    robots.asked(origin);
    robots.answered(origin, `${origin}/robots.txt`, { ...answer, ...whole }, wallMs(1));
  };
  strictEqual(robots.areKnown, false);
  answered(503, '');
  strictEqual(robots.areKnown, false);
  answered(200, 'User-agent: *\nCrawl-delay: 7\n');
  strictEqual(robots.areKnown, true);
  answered(503, '');
  strictEqual(robots.areKnown, true);
});

test('HostActor that links woke keeps its turn in the schedule unless one of them comes before it', () => {
  const asksFor = (scheduled: 0 | 1 | 2 | undefined): number => {
    const { services, id } = lendServices(hasher);
    let asked = 0;
    const lent = {
      ...services,
      scheduledBand: () => scheduled,
      resolver: {
        resolve: () => {
          asked += 1;
        },
      },
    };
    const clock = new VirtualClock();
    const driver = new VirtualDispatcher({ clock, random: new SeededRandom(1) });
    const ref = driver.dispatcher.spawn<HostMessage>(
      'host',
      (context) => new HostActor(lent, id, context),
    );
    const url = `http://${id.host}/a/b/c/d`;
    const marks = { isHome: false, isRespelled: false, isSuspect: false, fromOtherHost: false };
    const link = { ...id, ...marks, url, urlKey: hasher.urlKey(url), depth: 1, hops: 0 };
    const token = { applied: () => {} };
    driver.dispatcher.tell(ref, {
      kind: 'offer-urls',
      links: [{ ...link, purpose: 'page' }],
      token,
    });
    driver.runDue();
    return asked;
  };
  // A link at depth 1 is of band 1. A host that is not in the schedule, or in a later turn, has to find out when it may be asked.
  strictEqual(asksFor(undefined), 1);
  strictEqual(asksFor(2), 1);
  strictEqual(asksFor(1), 0);
  strictEqual(asksFor(0), 0);
});
