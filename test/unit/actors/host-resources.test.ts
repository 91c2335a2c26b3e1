// What rendered pages want of a host: in which order, by which rules, and what is never sent.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostAddresses } from '../../../src/actors/host-addresses.ts';
import { HostQueues } from '../../../src/actors/host-queues.ts';
import { HostResources } from '../../../src/actors/host-resources.ts';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import type { HostMessage, ResourceAsk } from '../../../src/actors/messages.ts';
import type { FetchOutcome } from '../../../src/actors/ports.ts';
import type { ResourceAnswer } from '../../../src/actors/render-port.ts';
import { monotonicMs, wallMs } from '../../../src/base/units.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import type { ActorContext } from '../../../src/runtime/actor.ts';
import { lendServices } from '../../support/actors/host-services.ts';
import { entryOf, responseOf } from '../../support/actors-fixtures.ts';

const hasher = createHasher(await xxhash(), 7n);
const NOW = wallMs(1_800_000_000_000);
const ORIGIN = 'http://site.test';

/** A host with this robots.txt, and what its asks were answered. */
function host(robotsText: string | undefined) {
  const lent = lendServices(hasher, []);
  const answers: [number, ResourceAnswer][] = [];
  const state = { hasStopped: false };
  const services = {
    ...lent.services,
    hasStoppedRendering: () => state.hasStopped,
    answerResource: (ask: ResourceAsk, answer: ResourceAnswer) => answers.push([ask.askId, answer]),
  };
  const queues = new HostQueues(services, lent.id, undefined);
  const robots = new HostRobots(services.policy, []);
  if (robotsText !== undefined) {
    const body = new TextEncoder().encode(robotsText);
    const rest = { cacheControl: undefined, ageSeconds: 0, retryAfterSeconds: 0 };
    const found = { kind: 'response', status: 200, ...rest, location: undefined } as const;
    robots.answered(ORIGIN, `${ORIGIN}/robots.txt`, { ...found, body, truncated: false }, NOW);
  }
  const addresses = new HostAddresses();
  const parts = { services, id: lent.id, robots, queues, addresses };
  const resources = new HostResources(parts);
  return { ...lent, resources, queues, addresses, answers, state };
}

const context = { now: () => monotonicMs(1_000), wallNow: () => NOW } as ActorContext<HostMessage>;

const ask = (askId: number, path: string, untilMs = 60_000): ResourceAsk => {
  return {
    from: 0,
    askId,
    url: `${ORIGIN}${path}`,
    isForeign: false,
    untilMs: monotonicMs(untilMs),
  };
};

const refusals = (answers: readonly [number, ResourceAnswer][]) =>
  answers.map(([id, answer]) => [id, answer.kind === 'refused' ? answer.reason : answer.kind]);

test('HostResources.next obeys robots.txt, and passes over what nobody waits for', () => {
  const { resources, answers } = host('User-agent: *\nDisallow: /private');
  resources.take(ask(1, '/private/data.json'));
  resources.take(ask(2, '/late.js', 1_000));
  resources.take(ask(3, '/app.js'));
  strictEqual(resources.next(context)?.kind, 'allowed');
  deepStrictEqual(refusals(answers), [
    [1, 'robots'],
    [2, 'late'],
  ]);
});

test('HostResources.next asks for robots.txt first, as for a page', () => {
  const { resources } = host(undefined);
  resources.take(ask(1, '/app.js'));
  const admission = resources.next(context);
  deepStrictEqual(admission?.kind === 'fetch-first' && admission.robotsUrl, `${ORIGIN}/robots.txt`);
  strictEqual(resources.isWaiting, true);
});

test('HostResources.next refuses everything of a host that must not be contacted', () => {
  const forbidden = host('');
  forbidden.addresses.asked();
  const outcome = { kind: 'forbidden', addresses: ['169.254.169.254'], ttlMs: 1_000 } as const;
  forbidden.addresses.answered(outcome, monotonicMs(0));
  forbidden.resources.take(ask(1, '/latest/meta-data/'));
  strictEqual(forbidden.resources.next(context), undefined);
  deepStrictEqual(refusals(forbidden.answers), [[1, 'address']]);
  const optedOut = host('');
  optedOut.optedOut.add('site.test');
  optedOut.resources.take(ask(2, '/app.js'));
  strictEqual(optedOut.resources.next(context), undefined);
  deepStrictEqual(refusals(optedOut.answers), [[2, 'opt-out']]);
});

test('HostResources gives its share of the requests to asks while pages wait, and all when none do', () => {
  const { resources, queues } = host('');
  queues.push(0, { ...entryOf('page'), url: `${ORIGIN}/page` });
  let served = '';
  for (let request = 0; request < 100; request += 1) {
    resources.take(ask(request, '/data.json'));
    const isResource = resources.next(context) !== undefined;
    if (isResource) resources.begin(() => true);
    resources.served(isResource ? 'resource' : 'page');
    served += isResource ? 'r' : 'p';
  }
  strictEqual(served.replaceAll('p', '').length, 30);
  queues.advance(0);
  strictEqual(resources.next(context)?.kind, 'allowed');
});

test('HostResources.take refuses asks beyond its bound', () => {
  const { resources, answers } = host('');
  for (let id = 0; id < 300; id += 1) resources.take(ask(id, '/a'));
  strictEqual(answers.length, 44);
  deepStrictEqual(refusals(answers)[0], [256, 'busy']);
});

test('HostResources.ended gives the browser what it needs of an answer, and no half of one', () => {
  const { resources, answers } = host('');
  const response = responseOf('{}');
  const headers = ['Content-Type', 'application/json', 'Set-Cookie', 'a=b', 'X-Other', '1'];
  resources.ended(ask(1, '/a'), { ...response, headers });
  resources.ended(ask(2, '/a'), { ...response, truncated: 'length' });
  resources.ended(ask(3, '/a'), { kind: 'failed' } as FetchOutcome);
  const [, first] = answers[0] as [number, ResourceAnswer];
  deepStrictEqual(first.kind === 'response' && first.headers, ['content-type', 'application/json']);
  deepStrictEqual(refusals(answers), [
    [1, 'response'],
    [2, 'failed'],
    [3, 'failed'],
  ]);
});

test("HostResources keeps no host awake once the shard drains, nor once its partition is another node's", () => {
  const { resources, answers, state } = host('');
  resources.take(ask(1, '/a'));
  strictEqual(resources.isWaiting, true);
  state.hasStopped = true;
  strictEqual(resources.isWaiting, false);
  state.hasStopped = false;
  resources.refuseAll('elsewhere');
  strictEqual(resources.isWaiting, false);
  deepStrictEqual(refusals(answers), [[1, 'elsewhere']]);
});
