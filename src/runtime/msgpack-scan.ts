// Proves, before msgpackr sees them, that bytes are one well-formed MessagePack value of the kinds our codec writes. msgpackr trusts
// lengths: five bytes can claim an array of four billion items, deep nesting overflows its stack, and its extensions can build regular
// expressions. This scan is linear in the bytes, uses a fixed stack and allocates nothing that input could size. Formats are those of the
// MessagePack specification; records are msgpackr's extension 0x72 ('r'): `d4 72 ID [keys…] values…` defines a shape and gives its first
// object, and then the byte ID (0x40–0x7f) alone begins a further object of that shape.

/** Keys a record may have, and bytes of a key: far above any message, far below trouble. */
const RECORD_KEYS_MAX = 256;
const KEY_BYTES_MAX = 255;
const DEPTH_LIMIT = 64;

/** Bytes of payload after the tokens 0xc0 … 0xdf that carry a fixed number of them; −1: not one of these. */
const FIXED_BYTES = new Int8Array([
  0, -1, 0, 0, -1, -1, -1, -1, -1, -1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1,
  -1, -1, -1, -1,
]);

/** Why bytes were refused. */
export type ScanProblem =
  | 'truncated'
  | 'trailing-bytes'
  | 'too-deep'
  | 'unknown-record'
  | 'bad-record'
  | 'forbidden-type';

const remaining = new Int32Array(DEPTH_LIMIT + 1);
const recordKeys = new Int32Array(64);

/** Reads tokens of one input. Not re-entrant: the stack and the table of records are shared. */
class Scanner {
  readonly #bytes: Uint8Array;
  position: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.position = start;
  }

  get left(): number {
    return this.#bytes.length - this.position;
  }

  /** The next byte, or −1 at the end. */
  byte(): number {
    if (this.position >= this.#bytes.length) return -1;
    const value = this.#bytes[this.position] as number;
    this.position += 1;
    return value;
  }

  /** A big-endian length of 1, 2 or 4 bytes, or −1 when it is cut off. */
  length(width: number): number {
    if (this.left < width) return -1;
    let value = 0;
    for (let index = 0; index < width; index++) value = value * 256 + this.byte();
    return value;
  }

  /** Passes over bytes. Returns whether they are there. */
  skip(count: number): boolean {
    if (count < 0 || this.left < count) return false;
    this.position += count;
    return true;
  }
}

/**
 * Checks one MessagePack value that begins at `start` and must end with the bytes.
 * @param depthMax containers inside one another, at most 64
 * @returns undefined when all is well
 */
export function scanMessagePack(
  bytes: Uint8Array,
  start: number,
  depthMax: number,
): ScanProblem | undefined {
  const scanner = new Scanner(bytes, start);
  const deepest = Math.min(depthMax, DEPTH_LIMIT);
  recordKeys.fill(-1);
  let depth = 0;
  remaining[0] = 1;
  for (;;) {
    while (remaining[depth] === 0) {
      if (depth === 0) return scanner.left === 0 ? undefined : 'trailing-bytes';
      depth -= 1;
    }
    remaining[depth] = (remaining[depth] as number) - 1;
    const children = scanToken(scanner);
    if (typeof children === 'string') return children;
    if (children === 0) continue;
    // Each child takes a byte at least: a count above what is left is a lie.
    if (children > scanner.left) return 'truncated';
    if (depth === deepest) return 'too-deep';
    depth += 1;
    remaining[depth] = children;
  }
}

/** Passes over one token with its payload; returns how many values must follow inside it. */
function scanToken(scanner: Scanner): number | ScanProblem {
  const token = scanner.byte();
  if (token < 0) return 'truncated';
  if (token < 0x40 || token >= 0xe0) return 0;
  if (token < 0x80) {
    const keys = recordKeys[token - 0x40] as number;
    return keys < 0 ? 'unknown-record' : keys;
  }
  if (token < 0x90) return 'forbidden-type';
  if (token < 0xa0) return token - 0x90;
  if (token < 0xc0) return scanner.skip(token - 0xa0) ? 0 : 'truncated';
  const fixed = FIXED_BYTES[token - 0xc0] as number;
  if (fixed >= 0) return scanner.skip(fixed) ? 0 : 'truncated';
  return scanSized(scanner, token);
}

function scanSized(scanner: Scanner, token: number): number | ScanProblem {
  switch (token) {
    case 0xc4:
    case 0xd9:
      return scanner.skip(scanner.length(1)) ? 0 : 'truncated';
    case 0xc5:
    case 0xda:
      return scanner.skip(scanner.length(2)) ? 0 : 'truncated';
    case 0xc6:
    case 0xdb:
      return scanner.skip(scanner.length(4)) ? 0 : 'truncated';
    case 0xdc:
      return lengthOr(scanner.length(2));
    case 0xdd:
      return lengthOr(scanner.length(4));
    case 0xd4:
      return scanExtension(scanner);
    default:
      return 'forbidden-type';
  }
}

function lengthOr(length: number): number | ScanProblem {
  return length < 0 ? 'truncated' : length;
}

/** `d4 00 00` is undefined; `d4 72 ID` defines a record; nothing else is ours. */
function scanExtension(scanner: Scanner): number | ScanProblem {
  const type = scanner.byte();
  const value = scanner.byte();
  if (value < 0) return 'truncated';
  if (type === 0) return 0;
  if (type !== 0x72) return 'forbidden-type';
  if (value < 0x40 || value > 0x7f) return 'bad-record';
  const token = scanner.byte();
  const isShort = token >= 0x90 && token < 0xa0;
  const keys = isShort ? token - 0x90 : token === 0xdc ? scanner.length(2) : -1;
  if (keys < 0 || keys > RECORD_KEYS_MAX) return 'bad-record';
  for (let key = 0; key < keys; key++) {
    const keyToken = scanner.byte();
    const isShortKey = keyToken >= 0xa0 && keyToken < 0xc0;
    const length = isShortKey ? keyToken - 0xa0 : keyToken === 0xd9 ? scanner.length(1) : -1;
    if (length > KEY_BYTES_MAX || !scanner.skip(length)) return 'bad-record';
  }
  recordKeys[value - 0x40] = keys;
  return keys;
}
