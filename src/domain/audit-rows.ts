// Rows of numbers by a 64-bit key, for the audit's replay (audit-proof.ts): what it must remember of each host and origin of a crawl that
// may have a million of them. A row is `width` doubles in one typed array, so a million hosts cost some 100 bytes each and are no work for
// the collector. Two names with one key (6e-8 expected among a million at 64 bits) would share a row.

import { assert } from '../base/assert.ts';
import { HashTable64 } from '../base/hash-table64.ts';

/** Hosts or origins of one crawl: 2^28 are more than any. */
const ROWS_MAX = 2 ** 28;
const ROWS_INITIAL = 1024;

/** A bounded table of rows; rows are only added. */
export class AuditRows {
  readonly #width: number;
  readonly #places = new HashTable64({ countMax: ROWS_MAX, values: 'uint32' });
  #cells: Float64Array;
  #count = 0;

  /** @param width numbers in a row, at least 1 */
  constructor(width: number) {
    assert(width >= 1, () => 'a row needs a number');
    this.#width = width;
    this.#cells = new Float64Array(ROWS_INITIAL * width);
  }

  get size(): number {
    return this.#count;
  }

  /** Bytes of the arrays it lives in. */
  get bytes(): number {
    return this.#cells.byteLength + this.#places.bytes;
  }

  /** Where the row of a key begins, or undefined when it has none. */
  find(key: bigint): number | undefined {
    const place = this.#places.getKey(key);
    return place === undefined ? undefined : place * this.#width;
  }

  /** Adds a row of zeros for a key that has none. @returns where it begins */
  add(key: bigint): number {
    assert(this.find(key) === undefined, () => `a second row for ${key}`);
    const at = this.#count * this.#width;
    if (at + this.#width > this.#cells.length) {
      const cells = new Float64Array(this.#cells.length * 2);
      cells.set(this.#cells);
      this.#cells = cells;
    }
    const isKept = this.#places.setKey(key, this.#count);
    assert(isKept, () => `more than ${ROWS_MAX} rows`);
    this.#count += 1;
    return at;
  }

  get(row: number, column: number): number {
    return this.#cells[row + column] as number;
  }

  set(row: number, column: number, value: number): void {
    assert(column < this.#width, () => `column ${column} of ${this.#width}`);
    this.#cells[row + column] = value;
  }
}
