import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SeededRandom } from '../../../src/base/random.ts';
import type { Actor, ActorContext } from '../../../src/runtime/actor.ts';
import { AskBook } from '../../../src/runtime/ask.ts';
import type { DispatcherOptions } from '../../../src/runtime/dispatcher.ts';
import {
  actorState,
  dispatcherRow,
  mailboxRows,
  topRows,
  treeRows,
} from '../../../src/runtime/inspection.ts';
import { Mailbox } from '../../../src/runtime/mailbox.ts';
import type { ActorFailure, SupervisionPolicy } from '../../../src/runtime/supervisor.ts';
import { Timers } from '../../../src/runtime/timers.ts';
import { VirtualActors } from '../../../src/runtime/virtual-actors.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';

type Word = { readonly kind: 'word'; readonly text: string };
const word = (text: string): Word => ({ kind: 'word', text });

function virtual(options: Partial<DispatcherOptions> = {}): VirtualDispatcher {
  const clock = new VirtualClock();
  return new VirtualDispatcher({ random: new SeededRandom(1), ...options, clock });
}

/** An actor that writes down what it gets and does what it is told. */
function scribe(
  heard: string[],
  act: (text: string, context: ActorContext<Word>) => void = () => undefined,
): () => Actor<Word> {
  return () => ({
    receive(message, context) {
      heard.push(message.text);
      act(message.text, context);
    },
    inspect: () => ({ heard: heard.length }),
  });
}

const STRICT: SupervisionPolicy = {
  restartsMax: 2,
  windowMs: 10_000,
  backoffMinMs: 100,
  backoffMaxMs: 1000,
  escalation: 'stop',
};

test('Mailbox.offer refuses at its bound while offerOwn uses the reserve for timers', () => {
  const mailbox = new Mailbox<number>(2);
  deepStrictEqual([mailbox.offer(1), mailbox.offer(2), mailbox.offer(3)], [true, true, false]);
  strictEqual(mailbox.offerOwn(4), true);
  let own = 0;
  while (mailbox.offerOwn(5) && own < 1000) own += 1;
  ok(own < 100, 'the reserve is bounded too');
  deepStrictEqual([mailbox.take(), mailbox.take(), mailbox.take()], [1, 2, 4]);
});

test('Dispatcher delivers messages of one sender in order', () => {
  const { dispatcher } = virtual();
  const heard: string[] = [];
  const ref = dispatcher.spawn('scribe', scribe(heard));
  for (let index = 0; index < 100; index++) dispatcher.tell(ref, word(`${index}`));
  strictEqual(dispatcher.runUntilIdle(), 100);
  deepStrictEqual(
    heard,
    Array.from({ length: 100 }, (_, index) => `${index}`),
  );
});

test('Dispatcher.runUntilIdle lets a flooded actor starve nobody', () => {
  const { dispatcher } = virtual({ messagesPerTurn: 4 });
  const heard: string[] = [];
  const flooded = dispatcher.spawn('flooded', scribe(heard));
  const quiet = dispatcher.spawn('quiet', scribe(heard));
  for (let index = 0; index < 100; index++) dispatcher.tell(flooded, word('flood'));
  dispatcher.tell(quiet, word('drop'));
  dispatcher.runUntilIdle();
  strictEqual(heard.indexOf('drop'), 4);
});

test('Dispatcher.runUntilIdle stops at its budget and goes on from there', () => {
  const { dispatcher } = virtual({ messagesPerTurn: 4 });
  const heard: string[] = [];
  const ref = dispatcher.spawn('scribe', scribe(heard));
  for (let index = 0; index < 20; index++) dispatcher.tell(ref, word('x'));
  strictEqual(dispatcher.runUntilIdle(6), 8);
  strictEqual(dispatcher.isIdle, false);
  strictEqual(dispatcher.runUntilIdle(), 12);
});

test('Dispatcher.answer reaches an actor whose mailbox others have filled', () => {
  const { dispatcher } = virtual({ mailboxMax: 3 });
  const heard: string[] = [];
  const ref = dispatcher.spawn('scribe', scribe(heard));
  for (let index = 0; index < 3; index++) dispatcher.tell(ref, word(`${index}`));
  dispatcher.answer(ref, word('answer'));
  strictEqual(dispatcher.deadLetters.count, 0);
  dispatcher.runUntilIdle();
  deepStrictEqual(heard, ['0', '1', '2', 'answer']);
  dispatcher.stop(ref);
  dispatcher.answer(ref, word('late'));
  deepStrictEqual([...dispatcher.deadLetters.countByReason()], [['stopped', 1]]);
});

test('Dispatcher.tell makes a dead letter of a full mailbox and offer returns false', () => {
  const { dispatcher } = virtual({ mailboxMax: 3 });
  const ref = dispatcher.spawn('scribe', scribe([]));
  for (let index = 0; index < 5; index++) dispatcher.tell(ref, word(`${index}`));
  strictEqual(dispatcher.offer(ref, word('offered')), false);
  strictEqual(dispatcher.deadLetters.count, 2);
  deepStrictEqual([...dispatcher.deadLetters.countByReason()], [['mailbox-full', 2]]);
  deepStrictEqual([...dispatcher.deadLetters.countByKind()], [['word', 2]]);
  strictEqual(dispatcher.deadLetters.recent()[0]?.text, 'kind=word text=3');
});

test('context.stop ends an actor and its children, and what waits becomes dead letters', () => {
  const { dispatcher } = virtual();
  const heard: string[] = [];
  const childHeard: string[] = [];
  const ref = dispatcher.spawn(
    'parent',
    scribe(heard, (text, context) => {
      if (text === 'spawn') context.spawn('child', scribe(childHeard));
      if (text === 'stop') context.stop();
    }),
  );
  for (const text of ['spawn', 'stop', 'late']) dispatcher.tell(ref, word(text));
  dispatcher.runUntilIdle();
  deepStrictEqual(heard, ['spawn', 'stop']);
  strictEqual(dispatcher.find('parent/child'), undefined);
  strictEqual(dispatcher.counters.actors, 0);
  dispatcher.tell(ref, word('dead'));
  strictEqual(dispatcher.deadLetters.countByReason().get('stopped'), 2);
});

test('context.after fires in order of deadline, then of setting, at exactly its time', () => {
  const virtualDispatcher = virtual();
  const heard: string[] = [];
  virtualDispatcher.dispatcher.spawn('timed', (context: ActorContext<Word>) => {
    context.after(50, word('b'));
    context.after(10, word('a'));
    context.after(50, word('c'));
    context.cancel(context.after(20, word('never')));
    return { receive: (message) => void heard.push(`${message.text}@${context.now()}`) };
  });
  strictEqual(virtualDispatcher.nextEventTime(), 10);
  virtualDispatcher.advanceTo(49);
  deepStrictEqual(heard, ['a@10']);
  virtualDispatcher.advanceTo(1000);
  deepStrictEqual(heard, ['a@10', 'b@50', 'c@50']);
  strictEqual(virtualDispatcher.nextEventTime(), Infinity);
});

test('Timers holds 20,000 timers, gives them back by deadline and forgets cancelled ones', () => {
  const timers = new Timers<number>();
  const random = new SeededRandom(2);
  const ids = Array.from({ length: 20_000 }, (_, index) => timers.set(random.below(1e6), index));
  for (let index = 0; index < ids.length; index += 2) timers.cancel(ids[index] as (typeof ids)[0]);
  strictEqual(timers.size, 10_000);
  let previous = -1;
  let fired = 0;
  for (let due = timers.takeDue(1e6); due !== undefined; due = timers.takeDue(1e6)) {
    ok(due.deadline >= previous, 'timers fire by deadline');
    strictEqual(due.payload % 2, 1);
    previous = due.deadline;
    fired += 1;
  }
  strictEqual(fired, 10_000);
});

test('a throw in receive fails that actor alone: backoff, fresh state, mail kept, message lost', () => {
  const failures: ActorFailure[] = [];
  const virtualDispatcher = virtual({ onFailure: (failure) => failures.push(failure) });
  const { dispatcher, clock } = virtualDispatcher;
  let lives = 0;
  const heard: string[] = [];
  const factory = (): Actor<Word> => {
    lives += 1;
    return {
      receive(message) {
        if (message.text === 'bang') throw new Error('boom');
        heard.push(`${message.text}@${clock.now() > 0 ? 'later' : 'now'}`);
      },
    };
  };
  const fragile = dispatcher.spawn('fragile', factory, { supervision: STRICT });
  const other = dispatcher.spawn('other', scribe(heard));
  for (const text of ['one', 'bang', 'two']) dispatcher.tell(fragile, word(text));
  dispatcher.tell(other, word('still here'));
  virtualDispatcher.runDue();
  deepStrictEqual(heard, ['one@now', 'still here']);
  strictEqual(dispatcher.find('fragile')?.state, 'backing-off');
  virtualDispatcher.advanceTo(49);
  strictEqual(lives, 1);
  virtualDispatcher.advanceTo(101);
  strictEqual(lives, 2);
  deepStrictEqual(heard, ['one@now', 'still here', 'two@later']);
  strictEqual(failures[0]?.messageKind, 'word');
  strictEqual(failures[0]?.error, 'Error: boom');
  strictEqual(dispatcher.deadLetters.recent()[0]?.reason, 'failed');
});

test('an actor that keeps failing is given up after restartsMax and reported', () => {
  const escalated: ActorFailure[] = [];
  const virtualDispatcher = virtual({ onEscalation: (failure) => escalated.push(failure) });
  const { dispatcher, clock } = virtualDispatcher;
  const failedAt: number[] = [];
  const ref = dispatcher.spawn(
    'doomed',
    scribe([], () => {
      failedAt.push(clock.now());
      throw new Error('again');
    }),
    { supervision: STRICT },
  );
  for (let index = 0; index < 5; index++) dispatcher.tell(ref, word('bang'));
  virtualDispatcher.advanceTo(9000);
  strictEqual(failedAt.length, 3);
  const [first = 0, second = 0, third = 0] = failedAt;
  ok(second - first >= 50 && second - first <= 100, `first pause ${second - first}`);
  ok(third - second >= 100 && third - second <= 200, `second pause ${third - second}`);
  strictEqual(dispatcher.find('doomed'), undefined);
  strictEqual(escalated.length, 1);
  strictEqual(dispatcher.deadLetters.count, 5);
});

test('restarts outside the window are forgotten', () => {
  const virtualDispatcher = virtual();
  const { dispatcher } = virtualDispatcher;
  const bang = scribe([], () => {
    throw new Error('now and then');
  });
  const ref = dispatcher.spawn('rare', bang, { supervision: STRICT });
  for (let round = 1; round <= 10; round++) {
    dispatcher.tell(ref, word('bang'));
    virtualDispatcher.advanceTo(round * 11_000);
  }
  strictEqual(dispatcher.find('rare')?.restarts, 10);
});

test('escalation to the parent restarts it and stops its other children', () => {
  const virtualDispatcher = virtual();
  const { dispatcher } = virtualDispatcher;
  const supervision: SupervisionPolicy = { ...STRICT, restartsMax: 0, escalation: 'parent' };
  let lives = 0;
  dispatcher.spawn('parent', (context: ActorContext<Word>) => {
    lives += 1;
    const bad = context.spawn<Word>(
      'bad',
      scribe([], () => {
        throw new Error('bad child');
      }),
      { supervision },
    );
    context.spawn('good', scribe([]));
    if (lives === 1) context.tell(bad, word('bang'));
    return { receive: () => undefined };
  });
  virtualDispatcher.runDue();
  strictEqual(dispatcher.find('parent/good'), undefined);
  virtualDispatcher.advanceTo(1000);
  strictEqual(lives, 2);
  strictEqual(dispatcher.find('parent/good')?.state, 'running');
  strictEqual(dispatcher.find('parent')?.lastFailure?.messageKind, '(child)');
});

test('AskBook settles once, times out as a message and ignores late answers', () => {
  type Question = { readonly kind: 'answer' | 'timeout'; readonly id: number };
  const virtualDispatcher = virtual();
  const log: string[] = [];
  const book = new AskBook<string, Question>({
    openMax: 2,
    timeoutMessage: (id) => ({ kind: 'timeout', id }),
  });
  const ids: (number | undefined)[] = [];
  const ref = virtualDispatcher.dispatcher.spawn('asker', (context: ActorContext<Question>) => {
    for (const note of ['first', 'second', 'third']) ids.push(book.open(context, 100, note));
    return {
      receive(message, its) {
        const note =
          message.kind === 'answer' ? book.settle(its, message.id) : book.expire(message.id);
        log.push(`${message.kind} ${note}`);
      },
    };
  });
  strictEqual(ids[2], undefined);
  virtualDispatcher.dispatcher.tell(ref, { kind: 'answer', id: ids[0] as number });
  virtualDispatcher.advanceTo(200);
  virtualDispatcher.dispatcher.tell(ref, { kind: 'answer', id: ids[1] as number });
  virtualDispatcher.runDue();
  deepStrictEqual(log, ['answer first', 'timeout second', 'answer undefined']);
  deepStrictEqual(book.counters, { timeouts: 1, lateAnswers: 1 });
});

test('VirtualActors keeps at most activeMax awake, saves on passivation and loses no message', () => {
  const virtualDispatcher = virtual();
  const stored = new Map<number, number>();
  let peak = 0;
  const counters = new VirtualActors<number, Word>({
    dispatcher: virtualDispatcher.dispatcher,
    name: 'count',
    activeMax: 8,
    activate: (key) => () => {
      let count = stored.get(key) ?? 0;
      return {
        receive() {
          count += 1;
        },
        stopped: () => void stored.set(key, count),
      };
    },
  });
  for (let round = 0; round < 50; round++) {
    for (let key = 0; key < 20; key++) {
      counters.tell(key, word('hit'));
      virtualDispatcher.runDue();
      peak = Math.max(peak, counters.size);
    }
  }
  ok(peak <= 9, `${peak} awake`);
  counters.passivateAll();
  virtualDispatcher.runDue();
  strictEqual(counters.size, 0);
  deepStrictEqual(
    [...stored].sort((a, b) => a[0] - b[0]),
    Array.from({ length: 20 }, (_, key) => [key, 50]),
  );
});

test('VirtualActors.offer refuses a new key while every actor awake is busy', () => {
  const virtualDispatcher = virtual();
  const busy = new VirtualActors<string, Word>({
    dispatcher: virtualDispatcher.dispatcher,
    name: 'busy',
    activeMax: 2,
    activate: () => () => ({ receive: () => undefined, isIdle: () => false }),
  });
  strictEqual(busy.offer('a', word('x')), true);
  strictEqual(busy.offer('b', word('x')), true);
  virtualDispatcher.runDue();
  strictEqual(busy.offer('c', word('x')), false);
  busy.tell('d', word('x'));
  strictEqual(virtualDispatcher.dispatcher.deadLetters.countByReason().get('unroutable'), 1);
});

test('VirtualActors wakes an actor again for mail that came while it stopped', () => {
  const virtualDispatcher = virtual();
  const heard: string[] = [];
  let lives = 0;
  const hosts = new VirtualActors<string, Word>({
    dispatcher: virtualDispatcher.dispatcher,
    name: 'host',
    activeMax: 4,
    activate: () => () => {
      lives += 1;
      return scribe(heard, (text, context) => {
        if (text === 'sleep') context.stop();
      })();
    },
  });
  for (const text of ['sleep', 'one', 'two']) hosts.tell('h', word(text));
  virtualDispatcher.runDue();
  deepStrictEqual(heard, ['sleep', 'one', 'two']);
  strictEqual(lives, 2);
  strictEqual(virtualDispatcher.dispatcher.deadLetters.count, 0);
});

test('inspection rows tell path, mailbox, messages and state of each actor', () => {
  const { dispatcher } = virtual();
  const a = dispatcher.spawn('a', scribe([]));
  const b = dispatcher.spawn('b', scribe([]));
  for (let index = 0; index < 3; index++) dispatcher.tell(a, word(`a${index}`));
  dispatcher.tell(b, word('b0'));
  deepStrictEqual(
    topRows(dispatcher, 'mailbox', 1).map((row) => [row.path, row.mailbox]),
    [['a', 3]],
  );
  deepStrictEqual(mailboxRows(dispatcher, 'a', 2), ['kind=word text=a0', 'kind=word text=a1']);
  dispatcher.runUntilIdle();
  deepStrictEqual(
    treeRows(dispatcher, '', 10).map((row) => [row.path, row.messagesHandled, row.mailboxPeak]),
    [
      ['a', 3, 3],
      ['b', 1, 1],
    ],
  );
  deepStrictEqual(actorState(dispatcher, 'a')?.state, { heard: 3 });
  strictEqual(actorState(dispatcher, 'nobody'), undefined);
  const row = dispatcherRow(dispatcher);
  deepStrictEqual([row.actors, row.messagesHandled, row.ready, row.deadLetters], [2, 4, 0, 0]);
});

test('equal seeds give equal runs of a dispatcher, other seeds other runs', () => {
  const run = (seed: number): string => {
    const virtualDispatcher = virtual({ random: new SeededRandom(seed) });
    const log: string[] = [];
    const gossip = (name: string) => (): Actor<Word> => ({
      receive(message, context) {
        log.push(`${name}${message.text}@${context.now()}`);
        if (log.length < 200) context.after(context.random.below(50), word(`${log.length}`));
      },
    });
    for (const name of ['p', 'q', 'r']) {
      virtualDispatcher.dispatcher.tell(
        virtualDispatcher.dispatcher.spawn(name, gossip(name)),
        word('go'),
      );
    }
    virtualDispatcher.advanceTo(10_000);
    return log.join();
  };
  strictEqual(run(5), run(5));
  ok(run(5) !== run(6), 'chance matters');
});
