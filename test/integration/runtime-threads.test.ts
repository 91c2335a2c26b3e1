// The runtime over real threads: links with credits, starting and stopping threads, the guarded pool, shared tables under contention.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { after, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { SeededRandom } from '../../src/base/random.ts';
import { BloomFilter } from '../../src/runtime/bloom.ts';
import { Codec } from '../../src/runtime/codec.ts';
import type { LinkEnd } from '../../src/runtime/link.ts';
import { WorkerPool } from '../../src/runtime/pool.ts';
import { RealAlarms } from '../../src/runtime/real-clock.ts';
import { RealDispatcher } from '../../src/runtime/real-dispatcher.ts';
import { RecentKeys } from '../../src/runtime/recent-keys.ts';
import { type ThreadExit, ThreadHost } from '../../src/runtime/thread-host.ts';
import { openThreadLink } from '../../src/runtime/thread-link.ts';
import { type EchoGift, type EchoMessage, isEcho } from './fixtures/echo-message.ts';
import type { GuardedInput } from './fixtures/guarded-run.ts';
import { matchingLo, type WriterGift } from './fixtures/key-pattern.ts';

const alarms = new RealAlarms();
const entry = (name: string): URL => new URL(`./fixtures/${name}.js`, import.meta.url);

function echoHost(exits: ThreadExit[] = [], troubles: string[] = []): ThreadHost {
  return new ThreadHost({
    name: 'echo',
    entry: entry('echo-thread'),
    alarms,
    onExit: (exit) => exits.push(exit),
    onTrouble: (error) => troubles.push(error),
  });
}

test('ThreadLink carries messages both ways in order, within credits, over real threads', async () => {
  const { port1, port2 } = new MessageChannel();
  const exits: ThreadExit[] = [];
  const troubles: string[] = [];
  const host = echoHost(exits, troubles);
  const gift: EchoGift = { port: port2, misbehave: 'no' };
  deepStrictEqual(await host.start({ workerData: gift, transfer: [port2] }), { kind: 'ready' });
  const total = 2000;
  const heard: number[] = [];
  let sent = 0;
  await new Promise<void>((resolve) => {
    const link: LinkEnd<EchoMessage, EchoMessage> = openThreadLink(port1, {
      name: 'main',
      codec: new Codec(),
      alarms,
      creditsMax: 64,
      validate: isEcho,
      onMessage: (message) => {
        strictEqual(message.key, BigInt(message.number) << 40n);
        heard.push(message.number);
        if (heard.length === total) resolve();
      },
      onCredit: () => pour(),
    });
    const pour = (): void => {
      while (sent < total) {
        if (!link.send({ kind: 'echo', number: sent, key: BigInt(sent) << 40n })) return;
        sent += 1;
      }
      link.flush();
    };
    pour();
    strictEqual(sent, 64, 'credits bound what is under way');
  });
  deepStrictEqual(
    heard,
    Array.from({ length: total }, (_, index) => index),
  );
  strictEqual((await host.stop()).kind, 'exited');
  deepStrictEqual(troubles, []);
  deepStrictEqual(exits, [{ kind: 'stopped', code: 0, error: '', isOutOfMemory: false }]);
});

test('ThreadLink moves bulk buffers to the other thread and back without copying', async () => {
  const { port1, port2 } = new MessageChannel();
  const host = echoHost();
  const gift: EchoGift = { port: port2, misbehave: 'no' };
  await host.start({ workerData: gift, transfer: [port2] });
  const body = new Uint8Array(100_000).fill(7);
  const returned = await new Promise<ArrayBuffer[]>((resolve) => {
    const link = openThreadLink<EchoMessage, EchoMessage>(port1, {
      name: 'main',
      codec: new Codec(),
      alarms,
      validate: isEcho,
      onMessage: () => undefined,
      onReturned: resolve,
    });
    strictEqual(link.sendBulk({ kind: 'echo', number: 1, key: 1n }, [body.buffer]), true);
    strictEqual(body.byteLength, 0, 'the buffer has left this thread');
  });
  strictEqual(new Uint8Array(returned[0] as ArrayBuffer)[99_999], 7);
  await host.stop();
});

test('ThreadLink tells when the other thread is gone, and then refuses', async () => {
  const { port1, port2 } = new MessageChannel();
  const host = echoHost();
  const gift: EchoGift = { port: port2, misbehave: 'no' };
  await host.start({ workerData: gift, transfer: [port2] });
  let link: LinkEnd<EchoMessage, EchoMessage> | undefined;
  const closed = new Promise<void>((resolve) => {
    link = openThreadLink(port1, {
      name: 'main',
      codec: new Codec(),
      alarms,
      validate: isEcho,
      onMessage: () => undefined,
      onClosed: resolve,
    });
  });
  await host.terminate();
  await closed;
  strictEqual(link?.send({ kind: 'echo', number: 1, key: 1n }), false);
});

test('ThreadHost reports a thread that fails to start, with its error as a value', async () => {
  const exits: ThreadExit[] = [];
  const host = echoHost(exits);
  const gift: EchoGift = { port: undefined, misbehave: 'throw' };
  const start = await host.start({ workerData: gift });
  strictEqual(start.kind, 'exited');
  match(exits[0]?.error ?? '', /RangeError: cannot start/);
  strictEqual(exits[0]?.kind, 'failed');
  strictEqual(host.isRunning, false);
});

test('ThreadHost reports a thread that is not ready in time and can end it', async () => {
  const exits: ThreadExit[] = [];
  const host = echoHost(exits);
  const gift: EchoGift = { port: undefined, misbehave: 'never-ready' };
  deepStrictEqual(await host.start({ workerData: gift }, 100), { kind: 'not-ready-in-time' });
  await host.terminate();
  strictEqual(exits[0]?.kind, 'terminated');
});

test('ThreadHost.replace stops a thread and starts its successor; trouble arrives as a value', async () => {
  const troubles: string[] = [];
  const host = echoHost([], troubles);
  const gift: EchoGift = { port: undefined, misbehave: 'trouble' };
  strictEqual((await host.start({ workerData: gift })).kind, 'ready');
  strictEqual((await host.replace({ workerData: gift })).kind, 'ready');
  strictEqual(host.starts, 2);
  match(troubles[0] ?? '', /survived/);
  await host.stop();
});

const pool = new WorkerPool<GuardedInput, number>({
  entry: entry('guarded-run'),
  alarms,
  threadsMax: 2,
  queueMax: 50,
  runMsMax: 20_000,
  heapMiBMax: 32,
});
after(() => pool.close());

test('WorkerPool survives runs that loop, exhaust memory, throw or exit, and each fails alone', async () => {
  const runs: [GuardedInput, number][] = [];
  for (let round = 0; round < 2; round++) {
    runs.push([{ kind: 'loop' }, 300]);
    runs.push([{ kind: 'allocate' }, 20_000]);
    runs.push([{ kind: 'throw' }, 20_000]);
    runs.push([{ kind: 'exit' }, 20_000]);
    runs.push([{ kind: 'double', value: 21 + round }, 20_000]);
  }
  const outcomes = await Promise.all(
    runs.map(([input, runMsMax]) => pool.run(input, { runMsMax })),
  );
  for (let round = 0; round < 2; round++) {
    const [loop, allocate, thrown, exit, double] = outcomes.slice(round * 5, round * 5 + 5);
    deepStrictEqual(loop, { kind: 'timeout' });
    deepStrictEqual(allocate, { kind: 'out-of-memory' });
    match(thrown?.kind === 'failed' ? thrown.error : '', /TypeError: bad page/);
    strictEqual(exit?.kind, 'failed');
    deepStrictEqual(double, { kind: 'ok', value: (21 + round) * 2 });
  }
  const { ok: good, timeout, outOfMemory, failed, running, waiting } = pool.counters;
  deepStrictEqual([good, timeout, outOfMemory, failed, running, waiting], [2, 2, 2, 4, 0, 0]);
});

test('WorkerPool.run refuses at once when its queue is full', async () => {
  const small = new WorkerPool<GuardedInput, number>({
    entry: entry('guarded-run'),
    alarms,
    threadsMax: 1,
    queueMax: 1,
    runMsMax: 20_000,
    heapMiBMax: 64,
  });
  const first = small.run({ kind: 'double', value: 1 });
  const second = small.run({ kind: 'double', value: 2 });
  strictEqual(small.run({ kind: 'double', value: 3 }), undefined);
  deepStrictEqual(
    [await first, await second],
    [
      { kind: 'ok', value: 2 },
      { kind: 'ok', value: 4 },
    ],
  );
  await small.close();
  strictEqual(small.run({ kind: 'double', value: 4 }), undefined);
});

test('RecentKeys.has never reports a key made of halves of two others, with two threads writing', async () => {
  const keys = RecentKeys.create(8);
  const control = new SharedArrayBuffer(8);
  const words = new Int32Array(control);
  const hosts = [1, 2].map((seed) => {
    const host = new ThreadHost({ name: `writer-${seed}`, entry: entry('keys-writer'), alarms });
    const gift: WriterGift = { buffer: keys.buffer, control, seed };
    return { host, started: host.start({ workerData: gift }) };
  });
  for (const { started } of hosts) strictEqual((await started).kind, 'ready');
  const random = new SeededRandom(3);
  let falsePresent = 0;
  let present = 0;
  const rounds = Atomics.load(words, 1);
  for (let look = 0; look < 2_000_000 || Atomics.load(words, 1) < rounds + 200; look++) {
    ok(look < 200_000_000, 'the writers make progress');
    const hi = 1 + random.below(24);
    const other = 1 + random.below(24);
    if (hi !== other && keys.has(hi, matchingLo(other))) falsePresent += 1;
    if (keys.has(hi, matchingLo(hi))) present += 1;
  }
  Atomics.store(words, 0, 1);
  for (const { host } of hosts) await host.stop();
  strictEqual(falsePresent, 0);
  ok(present > 1000, `${present} true hits`);
});

test('BloomFilter filled here answers the same in a filter attached to its buffer', () => {
  const filter = BloomFilter.create({ expectedKeys: 1000, falsePositiveRate: 0.01 });
  const attached = BloomFilter.attach(filter.buffer);
  strictEqual(attached.add(1, 2), true);
  strictEqual(filter.mayHave(1, 2), true);
  strictEqual(filter.keys, 1);
});

test('RealDispatcher runs actors and timers in real time without being driven', async () => {
  const real = new RealDispatcher({ random: new SeededRandom(1) });
  const heard = await new Promise<string[]>((resolve) => {
    const log: string[] = [];
    const ref = real.dispatcher.spawn<string>('actor', () => ({
      receive(message, context) {
        log.push(message);
        if (message === 'start') {
          context.after(20, 'later');
          context.after(5, 'soon');
          context.tell(context.self, 'now');
        }
        if (message === 'later') resolve(log);
      },
    }));
    real.dispatcher.tell(ref, 'start');
  });
  deepStrictEqual(heard, ['start', 'now', 'soon', 'later']);
  ok(real.takeLoopDelay().maxMs >= 0);
  real.stop();
});
