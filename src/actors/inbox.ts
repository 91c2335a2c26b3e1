// Step 3, the receiving half: which batches of one other shard are committed here. Batches finish in any order; the sender is told the
// greatest number up to which all are committed (a cumulative watermark, CLUSTER.md).

import { assert } from '../base/assert.ts';

export class Inbox {
  #through = 0;
  readonly #beyond = new Set<number>();

  get through(): number {
    return this.#through;
  }

  /** True when this batch was committed before: a repetition, to be acknowledged again and otherwise ignored. */
  isCommitted(batch: number): boolean {
    return batch <= this.#through || this.#beyond.has(batch);
  }

  /** The sender knows that everything up to `through` was committed, here or by an owner before. */
  skipTo(through: number): void {
    if (through <= this.#through) return;
    this.#through = through;
    for (const batch of this.#beyond) if (batch <= through) this.#beyond.delete(batch);
    while (this.#beyond.delete(this.#through + 1)) this.#through += 1;
  }

  /** Notes a committed batch. @returns true when the watermark rose */
  committed(batch: number): boolean {
    assert(!this.isCommitted(batch), () => `batch ${batch} committed twice`);
    this.#beyond.add(batch);
    const before = this.#through;
    while (this.#beyond.delete(this.#through + 1)) this.#through += 1;
    return this.#through > before;
  }
}
