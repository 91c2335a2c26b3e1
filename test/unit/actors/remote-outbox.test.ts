// Links between machines: durable at the sender until the receiver has committed them, taken in once, bounded.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { RemoteInbox } from '../../../src/actors/remote-inbox.ts';
import { RemoteOutbox } from '../../../src/actors/remote-outbox.ts';
import { urlKey } from '../../../src/base/units.ts';
import { RecordingCheckpoint } from '../../support/actors/recording-ports.ts';
import { linkOf } from '../../support/actors-fixtures.ts';

const P = linkOf('a').partition;

function outboxOf() {
  const checkpoint = new RecordingCheckpoint();
  const stage = new CheckpointStage(checkpoint, {
    ...{ pageCommitted: () => {}, opened: () => {}, full: () => {} },
  });
  const sent: { batch: number; base: number; bytes: Uint8Array }[] = [];
  const clock = { nowMs: 0 };
  const rows = new Map<number, Uint8Array>();
  const outbox = new RemoteOutbox({
    shard: 1,
    stage,
    encode: ({ links, known }) => new Uint8Array(10 * (links.length + known.length)),
    publish: ({ batch, base }, bytes) => sent.push({ batch, base, bytes }),
    read: (_partition, id) => rows.get(id),
    nowMs: () => clock.nowMs,
  });
  let committed = 0;
  const commit = (flushes = true): void => {
    if (flushes) stage.flush();
    for (const { outbox: some } of checkpoint.batches.slice(committed)) {
      for (const { id, bytes } of some) {
        if (bytes === undefined) rows.delete(id);
        else rows.set(id, bytes);
      }
      committed += 1;
      stage.committed(committed, []);
    }
  };
  const sealAll = (): void => {
    for (let time = 0; time < 5; time += 1) outbox.seal();
  };
  return { outbox, sent, clock, rows, commit, sealAll, flush: () => stage.flush() };
}

test('RemoteOutbox sends a batch only when its row is durable, and keeps the row until the receiver has committed (I7)', () => {
  const { outbox, sent, rows, commit, sealAll } = outboxOf();
  outbox.add(linkOf('a'));
  strictEqual(outbox.mark, 1);
  sealAll();
  deepStrictEqual([sent.length, outbox.durableThrough, outbox.waiting], [0, 0, 0]);
  commit();
  deepStrictEqual([sent.map(({ batch }) => batch), outbox.durableThrough, rows.size], [[1], 1, 1]);
  commit();
  ok(!outbox.isIdle);
  strictEqual(rows.size, 1);
  outbox.committed(P, 1);
  commit();
  deepStrictEqual([rows.size, outbox.isIdle], [0, true]);
});

test('RemoteOutbox sends nothing of a batch that is still to be committed, though an earlier one is (I7)', () => {
  const { outbox, sent, commit, flush } = outboxOf();
  for (let n = 0; n < 500; n += 1) outbox.add(linkOf(`p${n}`));
  flush();
  for (let n = 0; n < 500; n += 1) outbox.add(linkOf(`q${n}`));
  commit(false);
  deepStrictEqual(
    sent.map(({ batch }) => batch),
    [1],
  );
});

test('RemoteOutbox keeps few batches under way and sends what was not answered again', () => {
  const { outbox, sent, clock, commit } = outboxOf();
  for (let n = 0; n < 3_000; n += 1) outbox.add(linkOf(`p${n}`));
  commit();
  const batches = () => sent.splice(0).map(({ batch }) => batch);
  deepStrictEqual(batches(), [1, 2, 3, 4]);
  outbox.committed(P, 2);
  deepStrictEqual(batches(), [5, 6]);
  clock.nowMs = 3_999;
  outbox.pump();
  deepStrictEqual(batches(), []);
  clock.nowMs = 4_000;
  outbox.pump();
  deepStrictEqual(batches(), [3, 4, 5, 6]);
});

test('RemoteOutbox.ownerChanged sends what the last owner did not commit, and tells what it did', () => {
  const { outbox, sent, commit } = outboxOf();
  for (let n = 0; n < 1_000; n += 1) outbox.add(linkOf(`p${n}`));
  commit();
  outbox.committed(P, 1);
  sent.length = 0;
  outbox.ownerChanged(P);
  deepStrictEqual(
    sent.map(({ batch, base }) => [batch, base]),
    [[2, 1]],
  );
  // A receipt of the owner of before, for what the new one was not sent: it says nothing.
  outbox.committed(P, 3);
  ok(!outbox.isIdle);
});

test('RemoteOutbox.recover takes up the rows of an earlier run, each by one shard', () => {
  const { outbox, sent, rows } = outboxOf();
  const kept = [1_025, 2_048, 3_073].map((id) => ({ partition: P, id, size: 7 }));
  for (const { id } of kept) rows.set(id, new Uint8Array(7));
  outbox.recover(kept, 2);
  outbox.pump();
  deepStrictEqual(
    sent.map(({ batch, bytes }) => [batch, bytes.length]),
    [
      [1, 7],
      [2, 7],
    ],
  );
});

test('RemoteOutbox.isFull stops the parser while a receiver is slow (I10)', () => {
  const { outbox, commit, rows } = outboxOf();
  rows.set(1, new Uint8Array(1));
  outbox.recover([{ partition: P, id: 1, size: 64 * 1024 * 1024 - 10 }], 1_024);
  strictEqual(outbox.isFull, false);
  for (let n = 0; n < 500; n += 1) outbox.add(linkOf(`p${n}`));
  commit();
  strictEqual(outbox.isFull, true);
  outbox.committed(P, 1);
  strictEqual(outbox.isFull, false);
});

test('RemoteInbox takes each batch once, acknowledges repetitions, and waits for no hole that an owner before filled (I7)', () => {
  const inbox = new RemoteInbox();
  const at = (batch: number, base = 0) => ({ partition: P, batch, base });
  strictEqual(inbox.offered('a r 0', at(5, 4)), 'new');
  strictEqual(inbox.offered('a r 0', at(5, 4)), undefined);
  strictEqual(inbox.offered('a r 1', at(5, 4)), 'new');
  strictEqual(inbox.committed('a r 0', P, 5), 5);
  strictEqual(inbox.offered('a r 0', at(5, 4)), 5);
  strictEqual(inbox.offered('a r 0', at(7, 5)), 'new');
  strictEqual(inbox.committed('a r 0', P, 7), 5);
  strictEqual(inbox.offered('a r 0', at(6, 5)), 'new');
  strictEqual(inbox.committed('a r 0', P, 6), 7);
});

test('RemoteOutbox carries the keys of settled URLs beside links', () => {
  const { outbox, sent, commit, sealAll } = outboxOf();
  for (let n = 0; n < 3; n += 1) outbox.addKnown(P, urlKey(BigInt(n)));
  sealAll();
  commit();
  strictEqual(sent[0]?.bytes.length, 30);
});
