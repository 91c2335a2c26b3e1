import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SeededRandom } from '../../../src/base/random.ts';
import { Dispatcher } from '../../../src/runtime/dispatcher.ts';
import { traceActor } from '../../../src/runtime/inspection.ts';
import { SlowTurns, type TracedMessage } from '../../../src/runtime/turn-records.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';

type Word = { readonly kind: 'word'; readonly takesMs: number };
const word = (takesMs: number): Word => ({ kind: 'word', takesMs });

/** A dispatcher whose actors take the time that their messages say. */
function timed(): Dispatcher & { readonly spend: (ms: number) => void } {
  let spentMs = 0;
  const dispatcher = new Dispatcher({
    clock: new VirtualClock(),
    random: new SeededRandom(1),
    stopwatch: () => spentMs,
  });
  return Object.assign(dispatcher, {
    spend: (ms: number) => {
      spentMs += ms;
    },
  });
}

test('Dispatcher keeps its longest turns, longest first, with actor and kind', () => {
  const dispatcher = timed();
  const spender = () => ({ receive: ({ takesMs }: Word) => dispatcher.spend(takesMs) });
  const slow = dispatcher.spawn<Word>('slow', spender);
  const quick = dispatcher.spawn<Word>('quick', spender);
  dispatcher.tell(slow, word(30));
  dispatcher.tell(quick, word(1));
  dispatcher.runUntilIdle();
  dispatcher.tell(slow, word(50));
  dispatcher.runUntilIdle();
  deepStrictEqual(
    dispatcher.records.slow.longest().map(({ actor, kind, messages, turnMs }) => ({
      ...{ actor, kind, messages, turnMs },
    })),
    [
      { actor: 'slow', kind: 'word', messages: 1, turnMs: 50 },
      { actor: 'slow', kind: 'word', messages: 1, turnMs: 30 },
    ],
  );
  strictEqual(dispatcher.find('slow')?.busyMs, 80);
  strictEqual(dispatcher.find('quick')?.busyMs, 1);
});

test('SlowTurns holds a bounded number and loses none of the longest', () => {
  const turns = new SlowTurns();
  for (let ms = 0; ms < 10_000; ms += 1) {
    const turnMs = (ms * 7_919) % 10_000;
    if (turnMs >= turns.leastMs) turns.note({ at: 0, actor: 'a', messages: 1, turnMs }, undefined);
  }
  deepStrictEqual(
    turns.longest().map(({ turnMs }) => turnMs),
    Array.from({ length: 100 }, (_, index) => 9_999 - index),
  );
});

test('traceActor tells what an actor handles, also one that starts later, until it is ended', () => {
  const dispatcher = timed();
  const told: TracedMessage[] = [];
  const end = traceActor(dispatcher, 'late', 100, (message) => told.push(message));
  const late = dispatcher.spawn<Word>('late', () => ({
    receive: ({ takesMs }) => {
      if (takesMs === 3) throw new Error('three');
    },
  }));
  for (const ms of [1, 2]) dispatcher.tell(late, word(ms));
  dispatcher.runUntilIdle();
  deepStrictEqual(
    told.map(({ kind, text }) => [kind, text]),
    [
      ['word', 'kind=word takesMs=1'],
      ['word', 'kind=word takesMs=2'],
    ],
  );
  dispatcher.tell(late, word(3));
  dispatcher.runUntilIdle();
  strictEqual(told.length, 3, 'a message whose handling fails is told too');
  end();
  ok(dispatcher.find('late')?.tracer === undefined);
});

test('traceActor is silent after its number of messages, and an old end leaves a newer trace alone', () => {
  const dispatcher = timed();
  const told: string[] = [];
  const ref = dispatcher.spawn<Word>('one', () => ({ receive: () => undefined }));
  const endFirst = traceActor(dispatcher, 'one', 2, () => told.push('first'));
  for (let count = 0; count < 5; count += 1) dispatcher.tell(ref, word(1));
  dispatcher.runUntilIdle();
  traceActor(dispatcher, 'one', 2, () => told.push('second'));
  endFirst();
  dispatcher.tell(ref, word(1));
  dispatcher.runUntilIdle();
  deepStrictEqual(told, ['first', 'first', 'second']);
});
