// Which autonomous system an address belongs to, as sorted ranges in shared memory (before step 8 of a URL's life; DESIGN.md §4): read once
// by the main thread, searched by all. 12 bytes an IPv4 range, 20 an IPv6 one; the whole Internet's table takes some 8 MB. IPv6 ranges are
// kept to 64 bits: networks are announced in blocks of /48 or larger, so the lower half of an address tells nothing about its network.

import { assert } from '../base/assert.ts';
import { parseAddress } from './address-block.ts';

/** Sorted ranges; passes between threads as it is. Ends are included. */
export interface AsnRanges {
  readonly starts4: Uint32Array;
  readonly ends4: Uint32Array;
  readonly numbers4: Uint32Array;
  /** Upper 64 bits of the addresses. */
  readonly starts6: BigUint64Array;
  readonly ends6: BigUint64Array;
  readonly numbers6: Uint32Array;
}

/** One range of a family, ends included; IPv6 addresses as their upper 64 bits. */
export type AsnRange =
  | { readonly family: 4; readonly start: number; readonly end: number; readonly asn: number }
  | { readonly family: 6; readonly start: bigint; readonly end: bigint; readonly asn: number };

/** Gathers ranges in any order, in typed arrays: half a million objects would take 100 MB for a moment. */
export class AsnRangeList {
  #size4 = 0;
  #size6 = 0;
  #starts4 = new Uint32Array(ROWS_FIRST);
  #ends4 = new Uint32Array(ROWS_FIRST);
  #numbers4 = new Uint32Array(ROWS_FIRST);
  #starts6 = new BigUint64Array(ROWS_FIRST);
  #ends6 = new BigUint64Array(ROWS_FIRST);
  #numbers6 = new Uint32Array(ROWS_FIRST);

  get size(): number {
    return this.#size4 + this.#size6;
  }

  add(range: AsnRange): void {
    if (range.family === 4) this.#add4(range.start, range.end, range.asn);
    else this.#add6(range.start, range.end, range.asn);
  }

  /** The ranges sorted by their starts, in shared memory; of several with one start the first added counts. */
  pack(): AsnRanges {
    const order4 = orderOf(this.#starts4, this.#size4);
    const order6 = orderOf(this.#starts6, this.#size6);
    return {
      starts4: arranged(this.#starts4, order4, new Uint32Array(shared(this.#size4 * 4))),
      ends4: arranged(this.#ends4, order4, new Uint32Array(shared(this.#size4 * 4))),
      numbers4: arranged(this.#numbers4, order4, new Uint32Array(shared(this.#size4 * 4))),
      starts6: arranged(this.#starts6, order6, new BigUint64Array(shared(this.#size6 * 8))),
      ends6: arranged(this.#ends6, order6, new BigUint64Array(shared(this.#size6 * 8))),
      numbers6: arranged(this.#numbers6, order6, new Uint32Array(shared(this.#size6 * 4))),
    };
  }

  #add4(start: number, end: number, asn: number): void {
    const at = this.#size4;
    if (at === this.#starts4.length) {
      this.#starts4 = grown(this.#starts4, new Uint32Array(at * 2));
      this.#ends4 = grown(this.#ends4, new Uint32Array(at * 2));
      this.#numbers4 = grown(this.#numbers4, new Uint32Array(at * 2));
    }
    this.#starts4[at] = start;
    this.#ends4[at] = end;
    this.#numbers4[at] = asn;
    this.#size4 = at + 1;
  }

  #add6(start: bigint, end: bigint, asn: number): void {
    const at = this.#size6;
    if (at === this.#starts6.length) {
      this.#starts6 = grown(this.#starts6, new BigUint64Array(at * 2));
      this.#ends6 = grown(this.#ends6, new BigUint64Array(at * 2));
      this.#numbers6 = grown(this.#numbers6, new Uint32Array(at * 2));
    }
    this.#starts6[at] = start;
    this.#ends6[at] = end;
    this.#numbers6[at] = asn;
    this.#size6 = at + 1;
  }
}

const ROWS_FIRST = 1_024;

type Row = Uint32Array | BigUint64Array;

function shared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

function grown<Rows extends Row>(from: Rows, into: Rows): Rows {
  for (let at = 0; at < from.length; at += 1) into[at] = from[at] as number & bigint;
  return into;
}

/** The order of the first `size` rows by their starts; undefined when they stand in it already, as published tables do. */
function orderOf(starts: Row, size: number): Uint32Array | undefined {
  let isSorted = true;
  for (let at = 1; at < size && isSorted; at += 1) {
    isSorted = (starts[at - 1] as number) <= (starts[at] as number);
  }
  if (isSorted) return undefined;
  const order = Uint32Array.from({ length: size }, (_, at) => at);
  return order.sort((one, other) => {
    const [first, second] = [starts[one] as number, starts[other] as number];
    return first < second ? -1 : first > second ? 1 : one - other;
  });
}

function arranged<Rows extends Row>(from: Row, order: Uint32Array | undefined, into: Rows): Rows {
  for (let at = 0; at < into.length; at += 1) {
    into[at] = from[order?.[at] ?? at] as number & bigint;
  }
  return into;
}

/** The number of the autonomous system of a textual address; undefined when no range holds it. O(log n), no allocation for IPv4. */
export function asnOf(ranges: AsnRanges, address: string): number | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined) return undefined;
  if (parsed.family === 4) {
    const at = lastAtMost(ranges.starts4, parsed.value);
    return at >= 0 && parsed.value <= (ranges.ends4[at] as number)
      ? ranges.numbers4[at]
      : undefined;
  }
  const value = upperHalf(parsed.groups);
  const at = lastAtMost(ranges.starts6, value);
  return at >= 0 && value <= (ranges.ends6[at] as bigint) ? ranges.numbers6[at] : undefined;
}

/** The upper 64 bits of an IPv6 address in eight groups. */
export function upperHalf(groups: readonly number[]): bigint {
  assert(groups.length === 8, () => `${groups.length} groups`);
  const [first = 0, second = 0, third = 0, fourth = 0] = groups;
  const high = BigInt(first * 65_536 + second);
  return (high << 32n) | BigInt(third * 65_536 + fourth);
}

/** Index of the last element that is at most `value`; −1 when there is none. Of equal ones the first. */
function lastAtMost<Value extends number | bigint>(sorted: ArrayLike<Value>, value: Value): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as Value) <= value) low = middle + 1;
    else high = middle;
  }
  while (low >= 2 && sorted[low - 2] === sorted[low - 1]) low -= 1;
  return low - 1;
}
