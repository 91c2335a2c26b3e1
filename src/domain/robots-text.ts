// The bytes of a /robots.txt as text that is safe to work on: step 5 of a URL's life (DESIGN.md §1).
//
// Invariants: the result is pure ASCII, so that no line is lost to a bad encoding: every byte above 0x7F becomes its
// percent escape, which is what RFC 9309 §2.2.2 asks of a path anyway. A file in Latin-1 thus names the octets its own
// server sends in links, and a file in UTF-8 the octets of UTF-8; nothing has to be guessed.
// Work and memory are linear in the bytes kept, at most three characters for each.

/** Least number of bytes a crawler must parse: 500 KiB (RFC 9309 §2.5). */
export const ROBOTS_BYTES_LEAST = 500 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const PERCENT = 0x25;
const HEX_DIGITS = new TextEncoder().encode('0123456789ABCDEF');
const DECODER = new TextDecoder();

/** A file as ASCII text; `truncated` is true when bytes beyond the limit were left out. */
export interface RobotsText {
  readonly text: string;
  readonly truncated: boolean;
}

/**
 * Cuts, strips the UTF-8 byte order mark, and escapes what is not ASCII. Never throws.
 * @param bytes the decoded body (content encodings removed)
 * @param options.bytesMax bytes to keep; raised to `ROBOTS_BYTES_LEAST` when smaller. A longer file is cut after the
 *   last line that is whole within the limit, since half a path is another rule.
 * @param options.truncated true when the fetcher itself stopped early: the last unterminated line is then dropped too
 */
export function robotsText(
  bytes: Uint8Array,
  options: { readonly bytesMax: number; readonly truncated?: boolean },
): RobotsText {
  const bytesMax = Math.max(options.bytesMax, ROBOTS_BYTES_LEAST);
  const truncated = bytes.length > bytesMax || options.truncated === true;
  const end = truncated ? wholeLinesEnd(bytes, Math.min(bytesMax, bytes.length)) : bytes.length;
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return { text: asciiOf(bytes.subarray(Math.min(start, end), end)), truncated };
}

/** End of the last line that is whole within `limit` bytes; a line end right at the limit completes its line. */
function wholeLinesEnd(bytes: Uint8Array, limit: number): number {
  for (let index = Math.min(limit, bytes.length - 1); index >= 0; index--) {
    const byte = bytes[index];
    if (byte === LF || byte === CR) return index;
  }
  return 0;
}

function asciiOf(bytes: Uint8Array): string {
  let count = 0;
  for (const byte of bytes) if (byte >= 0x80) count++;
  if (count === 0) return DECODER.decode(bytes);
  const escaped = new Uint8Array(bytes.length + 2 * count);
  let write = 0;
  for (const byte of bytes) {
    if (byte < 0x80) {
      escaped[write++] = byte;
      continue;
    }
    escaped[write++] = PERCENT;
    escaped[write++] = HEX_DIGITS[byte >> 4]!;
    escaped[write++] = HEX_DIGITS[byte & 15]!;
  }
  return DECODER.decode(escaped);
}
