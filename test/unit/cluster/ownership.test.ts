// The rules of ownership one by one (CLUSTER.md), where the simulation (test/simulation/ownership.test.ts) only shows that together they hold.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { leaseTimes } from '../../../src/cluster/lease-times.ts';
import { Ownership } from '../../../src/cluster/ownership.ts';
import type { OwnershipAction } from '../../../src/cluster/ownership-actions.ts';
import { readRecord } from '../../../src/cluster/records.ts';
import { SimBucket } from '../../support/sim/sim-bucket.ts';

const TIMES = leaseTimes(30_000);
const hash = (text: string): bigint =>
  [...text].reduce(
    (sum, char) => BigInt.asUintN(64, (sum ^ BigInt(char.charCodeAt(0))) * 0x9e3779b97f4a7c15n),
    7n,
  );

let drawn = 0;
const nextIncarnation = (): number => {
  drawn += 1;
  return drawn;
};

/** One node over a bucket that answers at once, or when told. */
class Rig {
  readonly ownership: Ownership;
  readonly heard: OwnershipAction[] = [];
  readonly unanswered: Extract<OwnershipAction, { kind: 'write' }>[] = [];
  isAnswering = true;
  nowMs = 0;
  readonly #bucket: SimBucket;

  constructor(name: string, bucket: SimBucket, expectedNodes = 1) {
    this.#bucket = bucket;
    this.ownership = new Ownership({
      name,
      weight: 1,
      region: undefined,
      times: TIMES,
      partitions: 16,
      expectedNodes,
      hash,
      drawIncarnation: () => `i${nextIncarnation()}`,
      nowMs: 0,
      isSuspect: false,
    });
  }

  /** Shows the whole bucket. */
  look(): void {
    this.ownership.viewBegins();
    for (const { key, text, revision } of this.#bucket.entries()) {
      this.ownership.seen(key, text, revision, this.nowMs);
    }
    this.ownership.viewEnds(this.nowMs);
    this.perform();
  }

  at(nowMs: number): void {
    this.nowMs = nowMs;
    this.ownership.tick(nowMs);
    this.perform();
  }

  answer(write: Extract<OwnershipAction, { kind: 'write' }>): void {
    const { op, key, expect, text } = write;
    this.ownership.answered(op, this.#bucket.write(key, expect, text, this.nowMs), this.nowMs);
  }

  perform(): void {
    for (let actions = this.ownership.takeActions(); actions.length > 0; ) {
      for (const action of actions) {
        this.heard.push(action);
        if (action.kind !== 'write') continue;
        if (this.isAnswering) this.answer(action);
        else this.unanswered.push(action);
      }
      actions = this.ownership.takeActions();
    }
  }

  count(kind: OwnershipAction['kind']): number {
    return this.heard.filter((action) => action.kind === kind).length;
  }
}

test('Ownership of a lone node takes every partition, none of them as foreign', () => {
  const rig = new Rig('a', new SimBucket());
  rig.look();
  strictEqual(rig.ownership.owned.length, 16);
  for (const action of rig.heard) ok(action.kind !== 'gained' || !action.isForeign);
  ok(rig.ownership.holds(3, 29_999));
});

test('Ownership.holds ends a lease after the last acknowledged renewal was sent (rule 1)', () => {
  const rig = new Rig('a', new SimBucket());
  rig.look();
  rig.isAnswering = false;
  rig.at(3_000);
  const [renewal] = rig.unanswered;
  ok(renewal !== undefined);
  rig.nowMs = 20_000;
  rig.answer(renewal);
  strictEqual(rig.ownership.deadlineMs, 33_000);
  ok(rig.ownership.holds(0, 32_999));
  ok(!rig.ownership.holds(0, 33_000));
});

test('Ownership drops everything at the deadline, even if a late renewal then succeeds (rule 2)', () => {
  const rig = new Rig('a', new SimBucket());
  rig.look();
  const before = rig.ownership.incarnation;
  rig.isAnswering = false;
  rig.at(3_000);
  const [renewal] = rig.unanswered;
  ok(renewal !== undefined);
  rig.nowMs = 31_000;
  rig.answer(renewal);
  deepStrictEqual(rig.ownership.owned, []);
  ok(rig.ownership.incarnation !== before);
  rig.perform();
  strictEqual(rig.count('lost'), 16);
  ok(!rig.ownership.holds(0, 31_000));
});

test('Ownership waits a lease out that a process of its name may still hold (rule 6)', () => {
  const bucket = new SimBucket();
  const first = new Rig('a', bucket);
  first.look();
  const second = new Rig('a', bucket);
  second.look();
  second.at(TIMES.deadMs - 1);
  deepStrictEqual(second.ownership.owned, []);
  second.at(TIMES.deadMs);
  strictEqual(second.ownership.owned.length, 16);
  strictEqual(second.count('name-taken'), 0);
});

test('Ownership tells of another process that goes on renewing under its name (rule 6)', () => {
  const bucket = new SimBucket();
  const first = new Rig('a', bucket);
  first.look();
  const second = new Rig('a', bucket);
  for (let nowMs = 3_000; nowMs <= 12_000; nowMs += 3_000) {
    first.at(nowMs);
    second.nowMs = nowMs;
    second.look();
  }
  strictEqual(second.count('name-taken'), 1);
  strictEqual(first.ownership.owned.length, 16);
});

test('Ownership starts from a fresh view when its own key went back (rule 7)', () => {
  const bucket = new SimBucket();
  const rig = new Rig('a', bucket);
  rig.look();
  rig.at(3_000);
  bucket.restart(1_000);
  rig.nowMs = 4_000;
  rig.look();
  strictEqual(rig.count('view'), 1);
  strictEqual(rig.count('lost'), 16);
  rig.look();
  rig.at(4_000 + TIMES.deadMs - 1);
  deepStrictEqual(rig.ownership.owned, []);
  rig.at(4_000 + TIMES.deadMs);
  strictEqual(rig.ownership.owned.length, 16);
});

test('Ownership hands about its share over to a node that joins, and gives it back when that one leaves', () => {
  const bucket = new SimBucket();
  const first = new Rig('a', bucket);
  first.look();
  const second = new Rig('b', bucket);
  const settle = (fromMs: number): void => {
    for (let nowMs = fromMs; nowMs < fromMs + 12_000; nowMs += 1_000) {
      for (const rig of [first, second]) {
        rig.at(nowMs);
        rig.look();
        const wanted = rig.heard.filter((action) => action.kind === 'hand-over');
        for (const action of wanted) {
          if (action.kind === 'hand-over') rig.ownership.handedOver(action.partition, nowMs);
        }
        rig.perform();
      }
    }
  };
  settle(1_000);
  strictEqual(first.ownership.owned.length + second.ownership.owned.length, 16);
  ok(second.ownership.owned.length >= 6 && second.ownership.owned.length <= 10);
  const gained = second.heard.filter((action) => action.kind === 'gained');
  ok(gained.every((action) => action.kind === 'gained' && action.isForeign));
  second.ownership.leave(13_000);
  settle(13_000);
  strictEqual(second.ownership.owned.length, 0);
  second.ownership.quit(25_000);
  second.perform();
  strictEqual(second.count('left'), 1);
  strictEqual(first.ownership.owned.length, 16);
});

test('readRecord takes what nodes write and nothing else', () => {
  const lease = { incarnation: 'i1', beat: 2, weight: 1.5, region: 'eu', state: 'live' };
  deepStrictEqual(readRecord('live.a', JSON.stringify(lease)), { kind: 'lease', node: 'a', lease });
  for (const [key, text] of [
    ['live.a', '{'],
    ['live.a', 'null'],
    ['live.a', '[]'],
    ['live.a', JSON.stringify({ ...lease, weight: 0 })],
    ['live.a', JSON.stringify({ ...lease, beat: -1 })],
    ['live.a', JSON.stringify({ ...lease, state: 'x' })],
    ['live.a b', JSON.stringify(lease)],
    ['live.a.b', JSON.stringify(lease)],
    ['part.65536', '{"owner":"a","incarnation":"i","state":"own"}'],
    ['part.1', '{"owner":"","incarnation":"i","state":"own"}'],
    ['part.-1', '{"owner":"a","incarnation":"i","state":"own"}'],
    ['ring', '{"epoch":1,"partitions":0,"members":[]}'],
    [
      'ring',
      '{"epoch":1,"partitions":1,"members":[{"name":"a","weight":1},{"name":"a","weight":1}]}',
    ],
    ['other', '{}'],
  ] as const) {
    strictEqual(readRecord(key, text), undefined, `${key} ${text}`);
  }
});
