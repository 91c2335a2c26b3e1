// What nodes say over the bus, what the server is configured with, and when a crawl is over. A real server is met in test/integration/cluster.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { isRemoteBatch } from '../../../src/app/peer-messages.ts';
import { busConfig, canSync, serverVersion } from '../../../src/cluster/bus-config.ts';
import { CrawlEnd } from '../../../src/cluster/crawl-end.ts';
import { type Envelope, EnvelopeCodec } from '../../../src/cluster/envelopes.ts';
import { linkOf } from '../../support/actors-fixtures.ts';

const NODE = { name: 'a', address: '10.0.0.1', port: 7070, weight: 1, region: undefined };
const OTHER = { ...NODE, name: 'b', address: '10.0.0.2' };

test('busConfig opens no port without the secret, and the monitor on loopback only', () => {
  const text = busConfig({
    ...{ node: NODE, servers: [NODE, OTHER], dir: '/d', secret: 'very "secret"' },
    ...{ tlsDir: undefined, syncsAlways: true },
  });
  ok(text.includes('authorization { token: "very \\"secret\\"" }'));
  ok(text.includes('http: "127.0.0.1:7072"'));
  ok(text.includes('sync_interval: always'));
  ok(text.includes('nats-route://hostler:very%20%22secret%22@10.0.0.2:7073'));
  ok(text.includes('authorization { user: "hostler"'));
});

test('canSync knows the first version whose writes can be synced', () => {
  deepStrictEqual(serverVersion('nats-server: v2.9.10'), [2, 9, 10]);
  strictEqual(serverVersion('no version'), undefined);
  deepStrictEqual(
    [
      [2, 9, 10],
      [2, 10, 22],
      [2, 10, 23],
      [2, 11, 0],
      [3, 0, 0],
    ].map((version) => canSync(version as unknown as [number, number, number])),
    [false, false, true, true, true],
  );
});

test('EnvelopeCodec reads what it wrote, and only as what it is', () => {
  const codec = new EnvelopeCodec();
  const envelopes: Envelope[] = [
    {
      ...{ kind: 'links', node: 'a', incarnation: 'i', run: 'r', shard: 0, batch: 1, base: 0 },
      bytes: new Uint8Array([1, 2]),
    },
    { kind: 'acks', run: 'r', shard: 1, partition: 7, through: 9 },
    {
      ...{ kind: 'ask', node: 'a', run: 'r', shard: 0, askId: 4, url: 'http://h/robots.txt' },
      ...{ host: 'h', hostKey: 5n },
    },
    {
      ...{ kind: 'answer', run: 'r', shard: 0, askId: 4 },
      answer: { kind: 'unreachable', reason: 'dns' },
    },
    { kind: 'state', node: 'a', run: 'r', isQuiet: true, activity: 3, ending: undefined },
  ];
  for (const envelope of envelopes) {
    const bytes = codec.encode(envelope);
    strictEqual(codec.read(envelope.kind, bytes)?.kind, envelope.kind);
    const wrong = envelope.kind === 'acks' ? 'state' : 'acks';
    strictEqual(codec.read(wrong, bytes), undefined);
    for (let cut = 0; cut < bytes.length; cut += 1) {
      strictEqual(codec.read(envelope.kind, bytes.slice(0, cut)), undefined);
    }
  }
});

test('EnvelopeCodec refuses fields of other types and sizes', () => {
  const codec = new EnvelopeCodec();
  const good = { kind: 'acks', run: 'r', shard: 1, partition: 7, through: 9 } as const;
  for (const bad of [
    { ...good, shard: -1 },
    { ...good, partition: 1.5 },
    { ...good, through: '9' },
    { ...good, run: 'r'.repeat(65) },
    { ...good, kind: 'other' },
  ]) {
    strictEqual(codec.read('acks', codec.encode(bad as unknown as Envelope)), undefined);
  }
});

test('isRemoteBatch takes links and keys and nothing else', () => {
  ok(isRemoteBatch({ links: [linkOf('a')], known: [5n] }));
  ok(!isRemoteBatch({ links: [linkOf('a')], known: [5] }));
  ok(!isRemoteBatch({ links: [{ ...linkOf('a'), hops: -1 }], known: [] }));
  ok(!isRemoteBatch({ links: 'x', known: [] }));
  ok(!isRemoteBatch({ links: [] }));
});

test('CrawlEnd.isDone needs every live node quiet, every partition owned, and nothing done between two rounds', () => {
  const end = new CrawlEnd();
  const say = (node: string, isQuiet: boolean, activity: number, nowMs: number): void =>
    end.heard({ kind: 'state', node, run: 'r', isQuiet, activity, ending: undefined }, nowMs);
  const live = ['a', 'b'];
  say('a', true, 1, 0);
  strictEqual(end.isDone(live, true, 0), false);
  say('b', true, 1, 100);
  strictEqual(end.isDone(live, true, 100), false);
  strictEqual(end.isDone(live, true, 600), false);
  say('b', true, 2, 700);
  strictEqual(end.isDone(live, true, 1_200), false);
  strictEqual(end.isDone(live, false, 2_300), false);
  strictEqual(end.isDone(live, true, 2_400), false);
  say('a', true, 1, 2_500);
  say('b', true, 2, 2_500);
  strictEqual(end.isDone(live, true, 3_500), true);
  strictEqual(end.isDone(live, true, 5_600), false, 'what nobody has said lately is not known');
});
