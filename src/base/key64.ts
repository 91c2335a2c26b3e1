// The two shapes of a 64-bit key and the way between them: a bigint at the API of hosts and rows, two unsigned 32-bit halves on the
// paths that run once per URL (a bigint costs an allocation, the halves none). One shared scratch word converts without arithmetic on
// bigints; it is safe because no function here is re-entered.

const word = new BigUint64Array(1);
const halves = new Uint32Array(word.buffer);
/** Which half of the scratch word is the low one on this machine. */
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** The upper 32 bits of a 64-bit key, 0 … 2^32 − 1. */
export function keyHi(key: bigint): number {
  word[0] = key;
  return halves[HIGH] as number;
}

/** The lower 32 bits of a 64-bit key, 0 … 2^32 − 1. */
export function keyLo(key: bigint): number {
  word[0] = key;
  return halves[LOW] as number;
}

/** The unsigned 64-bit key of two halves; each half is taken modulo 2^32. */
export function keyOf(hi: number, lo: number): bigint {
  halves[HIGH] = hi;
  halves[LOW] = lo;
  return word[0] as bigint;
}

/** Mixes both halves into 32 well-spread bits: the home position of a key in a hash table. */
export function keySpread(hi: number, lo: number): number {
  let mixed = Math.imul(lo ^ (hi >>> 15), 0x2c1b3c6d) ^ Math.imul(hi ^ (lo >>> 13), 0x297a2d39);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
