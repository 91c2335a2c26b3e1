// What the runtime costs: heap (against a Map index beside arrays), message between actors, timer, codec, link. Targets (PERFORMANCE.md and
// the design): tell and receive at most 150 ns, a small message over a link in batches of 100 at most 1.5 µs for both ends together.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { IndexedHeap } from '../src/base/heap.ts';
import { SeededRandom } from '../src/base/random.ts';
import type { ActorRef } from '../src/runtime/actor.ts';
import { Codec } from '../src/runtime/codec.ts';
import type { Frame } from '../src/runtime/link.ts';
import { LinkEnd } from '../src/runtime/link.ts';
import { VirtualClock } from '../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../src/runtime/virtual-dispatcher.ts';
import { measure, parameter } from './measure.ts';

const hosts = parameter('hosts', 20_000, 1_000_000);
const messages = parameter('messages', 20_000, 500_000);
const rounds = parameter('rounds', 3, 11);

/** The alternative to IndexedHeap: the same binary heap with a Map from key to position. */
class MapHeap {
  readonly #keys: bigint[] = [];
  readonly #priorities: number[] = [];
  readonly #positions = new Map<bigint, number>();

  set(key: bigint, priority: number): void {
    const known = this.#positions.get(key);
    const position = known ?? this.#keys.length;
    this.#put(position, key, priority);
    this.#down(this.#up(position));
  }

  pop(): bigint | undefined {
    const key = this.#keys[0];
    const lastKey = this.#keys.pop();
    const lastPriority = this.#priorities.pop();
    if (key === undefined || lastKey === undefined || lastPriority === undefined) return undefined;
    this.#positions.delete(key);
    if (this.#keys.length > 0) {
      this.#put(0, lastKey, lastPriority);
      this.#down(0);
    }
    return key;
  }

  #put(position: number, key: bigint, priority: number): void {
    this.#keys[position] = key;
    this.#priorities[position] = priority;
    this.#positions.set(key, position);
  }

  #swap(a: number, b: number): void {
    const key = this.#keys[a] as bigint;
    const priority = this.#priorities[a] as number;
    this.#put(a, this.#keys[b] as bigint, this.#priorities[b] as number);
    this.#put(b, key, priority);
  }

  #up(start: number): number {
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if ((this.#priorities[parent] as number) <= (this.#priorities[position] as number)) break;
      this.#swap(parent, position);
      position = parent;
    }
    return position;
  }

  #down(start: number): void {
    let position = start;
    for (;;) {
      let child = position * 2 + 1;
      if (child >= this.#keys.length) return;
      const right = this.#priorities[child + 1];
      if (right !== undefined && right < (this.#priorities[child] as number)) child += 1;
      if ((this.#priorities[position] as number) <= (this.#priorities[child] as number)) return;
      this.#swap(position, child);
      position = child;
    }
  }
}

interface Schedule {
  set(key: bigint, priority: number): unknown;
  pop(): bigint | undefined;
}

/** Takes the next host and puts it back later, as the host schedule does for each fetch. */
function benchHeap(name: string, schedule: Schedule): void {
  const random = new SeededRandom(1);
  const before = memoryBytes();
  for (let index = 0; index < hosts; index++) {
    schedule.set(BigInt.asUintN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n), random.float());
  }
  const bytes = ((memoryBytes() - before) / hosts).toFixed(0);
  let now = 1;
  measure({
    name: `${name}: take and put back, ${hosts} hosts, ${bytes} B each`,
    operations: messages,
    rounds,
    round: () => {
      let sum = 0;
      for (let index = 0; index < messages; index++) {
        const key = schedule.pop() as bigint;
        now += 1e-6;
        schedule.set(key, now + random.float());
        sum = (sum + Number(BigInt.asUintN(16, key))) | 0;
      }
      return sum;
    },
  });
}

function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function benchTell(actors: number): void {
  const { dispatcher } = new VirtualDispatcher({
    clock: new VirtualClock(),
    random: new SeededRandom(1),
    mailboxMax: messages,
  });
  let sum = 0;
  const refs: ActorRef<{ readonly kind: 'add'; readonly amount: number }>[] = [];
  for (let index = 0; index < actors; index++) {
    refs.push(
      dispatcher.spawn(`actor-${index}`, () => ({
        receive(message) {
          sum = (sum + message.amount) | 0;
        },
      })),
    );
  }
  measure({
    name: `tell and receive, ${actors} actors`,
    operations: messages,
    rounds,
    round: () => {
      for (let index = 0; index < messages; index++) {
        const ref = refs[(index * 7919) % actors] as (typeof refs)[number];
        dispatcher.tell(ref, { kind: 'add', amount: index });
        if (index % 1000 === 999) dispatcher.runUntilIdle();
      }
      dispatcher.runUntilIdle();
      return sum;
    },
  });
}

function benchTimers(): void {
  const clock = new VirtualClock();
  const virtual = new VirtualDispatcher({ clock, random: new SeededRandom(1) });
  let fired = 0;
  const count = Math.min(messages, 100_000);
  const ref = virtual.dispatcher.spawn<number>('timed', () => ({
    receive(kept, context) {
      fired += 1;
      if (kept !== 1) return;
      for (let index = 0; index < count; index++) {
        const id = context.after(context.random.below(1000), 0);
        if (index % 2 === 0) context.cancel(id);
      }
    },
  }));
  measure({
    name: `timer set, then fired or cancelled, ${count} pending`,
    operations: count,
    rounds,
    round: () => {
      virtual.dispatcher.tell(ref, 1);
      virtual.advanceTo(clock.now() + 1000);
      return fired;
    },
  });
}

interface Discovered {
  readonly kind: 'discovered-url';
  readonly url: string;
  readonly depth: number;
  readonly hi: number;
  readonly lo: number;
}

const urls: Discovered[] = Array.from({ length: 100 }, (_, index) => ({
  kind: 'discovered-url',
  url: `https://www.example${index % 7}.com/docs/page/${index * 7919}.html`,
  depth: index % 9,
  hi: Math.imul(index, 0x9e3779b1) >>> 0,
  lo: Math.imul(index, 0x85ebca6b) >>> 0,
}));
const isDiscovered = (value: unknown): value is Discovered =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'discovered-url';

function benchCodec(): void {
  const codec = new Codec();
  const bytes = codec.encodeBatch(urls);
  const batches = Math.ceil(messages / 100);
  measure({
    name: `encode, ${(bytes.length / 100).toFixed(0)} B a message, batches of 100`,
    operations: batches * 100,
    rounds,
    round: () => {
      let sum = 0;
      for (let batch = 0; batch < batches; batch++) sum += codec.encodeBatch(urls).length;
      return sum;
    },
  });
  measure({
    name: 'scan, decode and validate, batches of 100',
    operations: batches * 100,
    rounds,
    round: () => {
      let sum = 0;
      for (let batch = 0; batch < batches; batch++) {
        const result = codec.decodeBatch(bytes, isDiscovered);
        if (result.kind === 'ok') sum += result.messages.length;
      }
      return sum;
    },
  });
}

/** Both ends on one thread over a real MessageChannel, pumped by hand: the CPU of both sides without waiting. */
function benchLink(): void {
  const { port1, port2 } = new MessageChannel();
  let received = 0;
  const common = {
    codec: new Codec(),
    alarms: new VirtualClock(),
    validate: isDiscovered,
    creditsMax: 4096,
  };
  const end = (port: typeof port1, onMessage: (message: Discovered) => void) =>
    new LinkEnd<Discovered, Discovered>(
      {
        post: (frame: Frame, transfer: ArrayBuffer[]) => port.postMessage(frame, transfer),
        close: () => port.close(),
      },
      { ...common, name: 'bench', onMessage },
    );
  const left = end(port1, () => undefined);
  const right = end(port2, () => {
    received += 1;
  });
  const pump = (): void => {
    for (let got = receiveMessageOnPort(port2); got; got = receiveMessageOnPort(port2)) {
      right.accept(got.message as Frame);
    }
    for (let got = receiveMessageOnPort(port1); got; got = receiveMessageOnPort(port1)) {
      left.accept(got.message as Frame);
    }
  };
  measure({
    name: 'link, both ends, batches of 100',
    operations: messages,
    rounds,
    round: () => {
      for (let index = 0; index < messages; index++) {
        if (!left.send(urls[index % 100] as Discovered)) pump();
        if (index % 1000 === 999) pump();
      }
      left.flush();
      pump();
      return received;
    },
  });
  left.close();
  right.close();
}

benchHeap('IndexedHeap', new IndexedHeap());
benchHeap('Map beside arrays', new MapHeap());
benchTell(1);
benchTell(1000);
benchTimers();
benchCodec();
benchLink();
