import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { AssertionFailure } from '../../../src/base/assert.ts';
import { Codec } from '../../../src/runtime/codec.ts';
import { DeadLetters } from '../../../src/runtime/dead-letters.ts';
import type { LinkOptions, LinkProblem } from '../../../src/runtime/link.ts';
import { localLinkPair } from '../../../src/runtime/local-link.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';

interface Note {
  readonly kind: 'note';
  readonly number: number;
  readonly text?: unknown;
}
const note = (number: number): Note => ({ kind: 'note', number });
const isNote = (value: unknown): value is Note =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'note';

function options(
  alarms: VirtualClock,
  heard: number[],
  more: Partial<LinkOptions<Note>> = {},
): LinkOptions<Note> {
  return {
    name: 'link',
    codec: new Codec(),
    alarms,
    validate: isNote,
    onMessage: (message) => void heard.push(message.number),
    ...more,
  };
}

test('LinkEnd.send gathers messages and sends them after the delay or when the batch is full', () => {
  const clock = new VirtualClock();
  const heard: number[] = [];
  const { left } = localLinkPair(options(clock, [], { batchCountMax: 3 }), options(clock, heard));
  left.send(note(1));
  clock.advanceTo(1);
  deepStrictEqual(heard, []);
  clock.advanceTo(3);
  deepStrictEqual(heard, [1]);
  for (const number of [2, 3, 4]) left.send(note(number));
  clock.advanceTo(3);
  deepStrictEqual(heard, [1, 2, 3, 4]);
  strictEqual(left.counters.batchesSent, 2);
});

test('LinkEnd.send refuses at zero credit until the receiver grants, then calls onCredit', () => {
  const clock = new VirtualClock();
  const heard: number[] = [];
  let resumed = 0;
  const limits = { creditsMax: 8, grantsOnReturn: false };
  const { left, right } = localLinkPair(
    options(clock, [], { ...limits, onCredit: () => void resumed++ }),
    options(clock, heard, limits),
  );
  for (let number = 0; number < 8; number++) strictEqual(left.send(note(number)), true);
  strictEqual(left.send(note(8)), false);
  clock.advanceTo(10);
  strictEqual(heard.length, 8);
  strictEqual(left.send(note(8)), false);
  right.grant(1);
  clock.advanceTo(11);
  strictEqual(left.send(note(8)), false, 'a grant under a quarter of the credits is held back');
  right.grant(1);
  clock.advanceTo(12);
  strictEqual(resumed, 1);
  strictEqual(left.credits, 2);
  strictEqual(left.counters.refused, 3);
});

test('a link keeps flowing with the smallest windows and any latency, in order', () => {
  const clock = new VirtualClock();
  for (const creditsMax of [1, 2, 3, 7]) {
    const heard: number[] = [];
    let sent = 0;
    const pour = (): void => {
      while (sent < 100 && left.send(note(sent))) sent += 1;
    };
    let tick = 0;
    const { left } = localLinkPair(
      options(clock, [], { creditsMax, onCredit: pour }),
      options(clock, heard, { creditsMax }),
      () => (tick++ * 7) % 5,
    );
    pour();
    clock.advanceTo(clock.now() + 10_000);
    deepStrictEqual(
      heard,
      Array.from({ length: 100 }, (_, index) => index),
    );
    ok(left.credits > 0);
  }
});

test('LinkEnd.sendBulk moves buffers, bounds their bytes and keeps the order with messages', () => {
  const clock = new VirtualClock();
  const log: string[] = [];
  const returned: number[] = [];
  const { left, right } = localLinkPair<Note, Note>(
    options(clock, [], {
      bulkBytesMax: 1000,
      onReturned: (buffers) => void returned.push(...buffers.map((each) => each.byteLength)),
    }),
    options(clock, [], {
      bulkBytesMax: 1000,
      grantsOnReturn: false,
      onMessage: (message, buffers) => {
        log.push(`${message.number}:${buffers.map((each) => each.byteLength).join()}`);
        right.returnBuffers(buffers);
      },
    }),
  );
  const buffer = new ArrayBuffer(600);
  left.send(note(1));
  strictEqual(left.sendBulk(note(2), [buffer]), true);
  strictEqual(buffer.byteLength, 0);
  left.send(note(3));
  const refused = new ArrayBuffer(600);
  strictEqual(left.sendBulk(note(4), [refused]), false);
  strictEqual(refused.byteLength, 600, 'a refused buffer stays here');
  clock.advanceTo(10);
  deepStrictEqual(log, ['1:', '2:600', '3:']);
  deepStrictEqual(returned, [600]);
  right.grant(3, 600);
  clock.advanceTo(11);
  strictEqual(left.sendBulk(note(5), [new ArrayBuffer(5000)]), true, 'a large one goes alone');
});

test('a link drops a message that has no encoding, reports it, and sends the others', () => {
  const clock = new VirtualClock();
  const heard: number[] = [];
  const problems: LinkProblem[] = [];
  const { left } = localLinkPair(
    options(clock, [], { onProblem: (problem) => problems.push(problem) }),
    options(clock, heard),
  );
  left.send(note(1));
  left.send({ kind: 'note', number: 2, text: 2n ** 80n });
  left.send(note(3));
  left.flush();
  clock.advanceTo(1);
  deepStrictEqual(heard, [1, 3]);
  strictEqual(problems[0]?.kind, 'unencodable');
  strictEqual(left.counters.unencodable, 1);
});

test('a link splits what is over the batch limit and refuses only the message that is', () => {
  const clock = new VirtualClock();
  const heard: number[] = [];
  const codec = new Codec({ batchBytesMax: 1000 });
  const { left } = localLinkPair(options(clock, [], { codec }), options(clock, heard, { codec }));
  for (let number = 0; number < 10; number++) {
    left.send({ kind: 'note', number, text: 'x'.repeat(number === 4 ? 2000 : 300) });
  }
  left.flush();
  clock.advanceTo(1);
  deepStrictEqual(heard, [0, 1, 2, 3, 5, 6, 7, 8, 9]);
  strictEqual(left.counters.unencodable, 1);
});

test('a link reports what its validator refuses and gives the credits back', () => {
  const clock = new VirtualClock();
  const problems: LinkProblem[] = [];
  const { left } = localLinkPair<Note, Note>(
    options(clock, [], { creditsMax: 4 }),
    options(clock, [], { creditsMax: 4, onProblem: (problem) => problems.push(problem) }),
  );
  const other = { kind: 'other', number: 1 } as unknown as Note;
  for (let number = 0; number < 4; number++) left.send(other);
  clock.advanceTo(10);
  deepStrictEqual(problems, [{ kind: 'undecodable', problem: { kind: 'invalid', index: 0 } }]);
  strictEqual(left.credits, 4);
});

test('LinkEnd.close sends what waits, and both ends refuse afterwards', () => {
  const clock = new VirtualClock();
  const heard: number[] = [];
  let closed = 0;
  const { left, right } = localLinkPair<Note, Note>(
    options(clock, []),
    options(clock, heard, { onClosed: () => void closed++ }),
  );
  left.send(note(1));
  left.close();
  strictEqual(left.send(note(2)), false);
  clock.advanceTo(1);
  deepStrictEqual(heard, [1]);
  strictEqual(closed, 1);
  strictEqual(right.send(note(3)), false);
});

test('Codec.encodeBatch owns its buffer, so that it can be transferred', () => {
  const bytes = new Codec().encodeBatch([note(1)]);
  strictEqual(bytes.byteOffset, 0);
  strictEqual(bytes.buffer.byteLength, bytes.byteLength);
});

test('Codec.decodeBatch refuses another version, another format and too many messages', () => {
  const codec = new Codec({ messagesMax: 3, batchBytesMax: 200 });
  const good = codec.encodeBatch([note(1), note(2)]);
  const other = good.slice();
  other[1] = 9;
  deepStrictEqual(codec.decodeBatch(other, isNote), { kind: 'other-version', version: 9 });
  strictEqual(codec.decodeBatch(new Uint8Array([1, 2, 3]), isNote).kind, 'not-a-batch');
  strictEqual(codec.decodeBatch(new Uint8Array(201), isNote).kind, 'too-large');
  const many = new Codec().encodeBatch([1, 2, 3, 4].map(note));
  deepStrictEqual(codec.decodeBatch(many, isNote), { kind: 'too-many', messages: 4 });
  throws(() => codec.encodeBatch([1, 2, 3, 4].map(note)), AssertionFailure);
  throws(() => codec.encodeBatch([{ ...note(1), text: 'x'.repeat(300) }]), RangeError);
});

test('Codec.decodeBatch refuses lengths that lie, nesting without end and foreign types', () => {
  const codec = new Codec();
  const hostile = (...bytes: number[]): Uint8Array => new Uint8Array([0x48, 1, ...bytes]);
  const problem = (bytes: Uint8Array): string => {
    const result = codec.decodeBatch(bytes, isNote);
    return result.kind === 'malformed' ? result.problem : result.kind;
  };
  strictEqual(problem(hostile(0xdd, 0xff, 0xff, 0xff, 0xff)), 'truncated');
  strictEqual(problem(hostile(0xdb, 0xff, 0xff, 0xff, 0xff)), 'truncated');
  strictEqual(problem(hostile(...new Array<number>(100_000).fill(0x91), 0xc0)), 'too-deep');
  strictEqual(problem(hostile(0x91, 0xd6, 0xff, 0, 0, 0, 0)), 'forbidden-type');
  strictEqual(
    problem(hostile(0x91, 0xc7, 5, 0x78, 0x92, 0xa1, 0x61, 0xa1, 0x67)),
    'forbidden-type',
  );
  strictEqual(problem(hostile(0x91, 0x81, 0xa1, 0x61, 1)), 'forbidden-type');
  strictEqual(problem(hostile(0x91, 0x45)), 'unknown-record');
  strictEqual(problem(hostile(0x91, 0xd4, 0x72, 0x40, 0x91, 0xc0, 1)), 'bad-record');
  strictEqual(problem(hostile(0x91, 0x01, 0x02)), 'trailing-bytes');
  strictEqual(problem(hostile(0xc0)), 'unreadable');
});

test('DeadLetters keeps the last ones as short texts and counts all', () => {
  const letters = new DeadLetters(3);
  for (let at = 0; at < 10; at++) {
    const message = { kind: `kind-${at % 2}`, body: 'x'.repeat(1e5), nested: { deep: [1] } };
    letters.record({ to: 'actor', message, reason: 'stopped', at });
  }
  letters.record({ to: 'actor', message: 'bare', reason: 'unroutable', at: 10 });
  strictEqual(letters.count, 11);
  deepStrictEqual(
    letters.recent().map((letter) => letter.at),
    [8, 9, 10],
  );
  for (const letter of letters.recent()) ok(letter.text.length <= 300);
  deepStrictEqual(
    [...letters.countByKind()],
    [
      ['kind-0', 5],
      ['kind-1', 5],
      ['(none)', 1],
    ],
  );
  for (let index = 0; index < 1000; index++) {
    letters.record({ to: 'a', message: { kind: `k${index}` }, reason: 'failed', at: 0 });
  }
  ok(letters.countByKind().size <= 201, 'kinds are bounded');
});
