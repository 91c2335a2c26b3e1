import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostPace } from '../../../src/actors/host-pace.ts';
import { HostQueues } from '../../../src/actors/host-queues.ts';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import type { HostMessage, RobotsAnswer } from '../../../src/actors/messages.ts';
import { RobotsDesk } from '../../../src/actors/robots-desk.ts';
import { SeededRandom } from '../../../src/base/random.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import type { ActorContext } from '../../../src/runtime/actor.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import { lendServices } from '../../support/actors/host-services.ts';

const hasher = createHasher(await xxhash(), 5n);
const ORIGIN = 'http://site.test';

/** A host whose robots.txt has just moved to another host, and the messages its timers send it. */
function askingHost() {
  const { services, id } = lendServices(hasher);
  const robots = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []);
  const queues = new HostQueues(services, id, undefined);
  const pace = HostPace.fresh(services.policy.gap);
  const desk = new RobotsDesk({ services, id, robots, queues, pace });
  const driver = new VirtualDispatcher({ clock: new VirtualClock(), random: new SeededRandom(1) });
  const received: HostMessage[] = [];
  let own: ActorContext<HostMessage> | undefined;
  driver.dispatcher.spawn<HostMessage>('host', (context) => {
    own = context;
    return { receive: (message) => void received.push(message) };
  });
  const context = own as ActorContext<HostMessage>;
  const moved: RobotsAnswer = {
    kind: 'response',
    status: 301,
    cacheControl: undefined,
    ageSeconds: 0,
    retryAfterSeconds: 0,
    location: 'http://other.test/robots.txt',
    body: new Uint8Array(0),
    truncated: false,
  };
  robots.asked(ORIGIN);
  const errand = { url: `${ORIGIN}/robots.txt`, origin: ORIGIN, ask: undefined };
  desk.answered(errand, moved, context);
  return { services, driver, desk, context, received };
}

test('RobotsDesk waits for another host no longer than it may, then takes the file for unreachable', () => {
  const { services, driver, desk, context, received } = askingHost();
  strictEqual(desk.errands.isAwaiting, true);
  driver.advanceTo(services.policy.robotsAskMs - 1);
  strictEqual(received.length, 0);
  driver.advanceTo(services.policy.robotsAskMs);
  const [message] = received;
  strictEqual(message?.kind, 'robots-answered');
  if (message?.kind !== 'robots-answered') return;
  strictEqual(message.answer.kind, 'unreachable');
  strictEqual(desk.askAnswered(message.askId, message.answer, context), true);
  strictEqual(desk.errands.isEmpty, true);
});

test('RobotsDesk takes the answer of another host once: what comes late is not awaited any more', () => {
  const { desk, context } = askingHost();
  const answer: RobotsAnswer = { kind: 'unreachable', reason: 'reset' };
  strictEqual(desk.askAnswered(99, answer, context), false);
  strictEqual(desk.askAnswered(1, answer, context), true);
  strictEqual(desk.askAnswered(1, answer, context), false);
});
