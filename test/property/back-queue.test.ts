// BackQueue against an array, with crashes: what a crash leaves is a row of cursors, the chunk rows and the log, as of the last commit;
// recovery is the real one (queue-recovery.ts).
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { BackQueue, CHUNK_ENTRIES, EMPTY_CURSORS } from '../../src/actors/back-queue.ts';
import type { DiscoveredCheckpoint } from '../../src/actors/ports.ts';
import { recoverQueues } from '../../src/actors/queue-recovery.ts';
import type { QueueEntry } from '../../src/actors/rows.ts';
import { entryOf, HOST, MapChunks, PARTITION, rowWithTail } from '../support/actors-fixtures.ts';

type Step =
  | { readonly kind: 'push'; readonly count: number }
  | { readonly kind: 'take'; readonly count: number }
  | { readonly kind: 'commit'; readonly withRow: boolean }
  | { readonly kind: 'spill' | 'unload' | 'reload' | 'crash' };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('push' as const), count: fc.integer({ min: 1, max: 150 }) }),
    fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 150 }) }),
    fc.record({ kind: fc.constant('commit' as const), withRow: fc.boolean() }),
    fc.record({ kind: fc.constantFrom('spill', 'unload', 'reload', 'crash') }),
  ) as fc.Arbitrary<Step>,
  { maxLength: 40 },
);

/** A queue with its disk: committed chunk rows, log and cursors, and those of now. */
class Bench {
  chunks = new MapChunks();
  queue = new BackQueue(this.chunks, EMPTY_CURSORS);
  model: string[] = [];
  log: QueueEntry[] = [];
  #pushed = 0;
  #committed = { chunks: new Map<number, readonly QueueEntry[]>(), log: 0, cursors: EMPTY_CURSORS };
  #committedModel: { done: number; pushed: number } = { done: 0, pushed: 0 };
  #done = 0;
  /** True when the row has to be in the next commit: the host touches it with every done mark and spill of its own. */
  #touched = false;

  run(step: Step): void {
    switch (step.kind) {
      case 'push':
        for (let n = 0; n < step.count; n += 1) this.#push();
        break;
      case 'take':
        for (let n = 0; n < step.count && this.model.length > 0; n += 1) this.#take();
        break;
      case 'commit':
        this.#commit(step.withRow || this.#touched);
        break;
      case 'spill':
        this.queue.spill();
        this.#touched = true;
        break;
      case 'unload':
        this.queue.unload();
        this.#touched = true;
        break;
      case 'reload':
        this.queue.unload();
        this.#touched = true;
        this.queue = new BackQueue(this.chunks, this.queue.cursors());
        break;
      case 'crash':
        this.#crash();
        break;
    }
  }

  #push(): void {
    const name = `n${this.#pushed}`;
    this.#pushed += 1;
    this.model.push(name);
    this.log.push(this.queue.push(entryOf(name)));
  }

  #take(): void {
    strictEqual(this.queue.peek()?.url, `http://h.test/${this.model.shift()}`);
    this.queue.advance();
    this.#done += 1;
    this.#touched = true;
  }

  #commit(withRow: boolean): void {
    const cursors = withRow ? this.queue.cursors() : this.#committed.cursors;
    const done = withRow ? this.#done : this.#committedModel.done;
    this.#committed = { chunks: new Map(this.chunks.rows), log: this.log.length, cursors };
    this.#committedModel = { done, pushed: this.#pushed };
    this.#touched = false;
  }

  #crash(): void {
    const { chunks, cursors } = this.#committed;
    this.log = this.log.slice(0, this.#committed.log);
    this.chunks = new MapChunks();
    for (const [first, row] of chunks) this.chunks.rows.set(first, row);
    const row = { ...rowWithTail(0) };
    const entries: DiscoveredCheckpoint[] = this.log.map((entry) => ({
      ...{ hostKey: HOST, partition: PARTITION, band: 0, entry },
    }));
    const recovered = recoverQueues({
      ...{ host: 'h.test', hostKey: HOST, partition: PARTITION, entries },
      row: { ...row, queues: [cursors, row.queues[1], row.queues[2]] },
    });
    for (const chunk of recovered.chunks) this.chunks.write(chunk.entries);
    this.queue = new BackQueue(this.chunks, recovered.row?.queues[0] ?? cursors);
    const { done, pushed } = this.#committedModel;
    this.#pushed = pushed;
    this.#done = done;
    this.model = Array.from({ length: pushed - done }, (_, n) => `n${done + n}`);
    this.#touched = false;
    this.#commit(true);
  }
}

test('BackQueue gives what an array gives, across spills, passivation and crashes', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const bench = new Bench();
      for (const step of list) {
        bench.run(step);
        strictEqual(bench.queue.length, bench.model.length);
        ok(bench.queue.resident <= 4 * CHUNK_ENTRIES, `${bench.queue.resident} in memory`);
      }
      bench.run({ kind: 'take', count: bench.model.length + 1 });
      strictEqual(bench.queue.peek(), undefined);
      deepStrictEqual([...bench.chunks.rows.keys()], [], 'chunk rows stay behind');
    }),
    { numRuns: 300 },
  );
});
