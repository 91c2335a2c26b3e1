// Takes content codings off a payload (RFC 9110 §8.4): gzip, deflate, br, and zstd where Node's zlib has it. Step 9 of a URL's life.
// Three rules. Bounded: output is cut at a limit whatever the input claims, so no bomb costs more than that (I10). Honest: a stream that
// ends early or is damaged gives what could be read of it, marked as truncated, never passed off as whole; if nothing could be read the
// answer failed. Brief: small payloads are decoded at once on this thread (gunzipSync of 10 KB took 47 µs against 301 µs on zlib's own
// threads), and whatever may take longer than a few milliseconds goes there.

import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { headerValues } from '../domain/header-list.ts';
import { type ContentCoding, type Decoded, isZlib, ZSTD } from './content-coding.ts';
import { decodeStreaming } from './content-streams.ts';

/** Codings one answer may have on top of each other; two occur in practice, more are an attack on the reader. */
export const CONTENT_CODINGS_MAX = 4;

/** What is decoded at once on this thread: at most this much in … */
const SYNC_INPUT_BYTES_MAX = 65_536;
/** … and this much out: about 3 ms of inflating at 400 MB/s, measured on the project's machines. */
const SYNC_OUTPUT_BYTES_MAX = 1_048_576;

/** The Accept-Encoding that names exactly what can be undone here. */
export const ACCEPT_ENCODING = ZSTD === undefined ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd';

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'], // RFC 9110 §8.4.1.3
  ['deflate', 'deflate'],
  ['br', 'br'], // RFC 7932
  ...(ZSTD === undefined ? [] : [['zstd', 'zstd'] as const]), // RFC 8878
]);

/**
 * The codings of an answer, in the order in which they are to be taken off.
 * @param headers flat list of the answer's fields
 * @returns empty when there is none or one of them is unknown; undefined when there are more than CONTENT_CODINGS_MAX
 */
export function contentCodings(headers: readonly string[]): readonly ContentCoding[] | undefined {
  const fields = headerValues(headers, 'content-encoding');
  if (fields.length === 0) return [];
  const codings: ContentCoding[] = [];
  for (const token of fields.join(',').split(',')) {
    const name = token.trim().toLowerCase();
    if (name === '' || name === 'identity') continue;
    const coding = CODINGS.get(name);
    if (coding === undefined) return [];
    codings.push(coding);
    if (codings.length > CONTENT_CODINGS_MAX) return undefined;
  }
  return codings.reverse();
}

/**
 * Takes codings off a payload.
 * @param codings from `contentCodings`; not empty
 * @param bytesMax longest output of each stage; what follows is cut off
 * @param done called once, at once or later; never with an error
 */
export function decodeContent(
  payload: Uint8Array,
  codings: readonly ContentCoding[],
  bytesMax: number,
  done: (decoded: Decoded) => void,
): void {
  let body = payload;
  for (let stage = 0; stage < codings.length; stage += 1) {
    const next = decodeAtOnce(body, codings[stage] as ContentCoding, bytesMax);
    if (next === undefined) {
      decodeStreaming(body, codings.slice(stage), bytesMax, done);
      return;
    }
    body = next;
  }
  done({ body, state: 'whole' });
}

/** The whole stream decoded, or undefined when it is large, damaged or cut: then the streaming way finds out. */
function decodeAtOnce(
  input: Uint8Array,
  coding: ContentCoding,
  bytesMax: number,
): Uint8Array | undefined {
  // An empty body is empty in every coding: servers label 0 bytes as gzip.
  if (input.length === 0) return input;
  if (input.length > SYNC_INPUT_BYTES_MAX) return undefined;
  const maxOutputLength = Math.min(bytesMax, SYNC_OUTPUT_BYTES_MAX);
  try {
    if (coding === 'gzip') {
      // The trailer states the length (RFC 1952 §2.3.1): one area of that size instead of growing ones halves the time.
      const chunkSize = boundedChunk(isizeOf(input), maxOutputLength);
      return gunzipSync(input, { maxOutputLength, chunkSize });
    }
    const chunkSize = boundedChunk(input.length * 5, maxOutputLength);
    if (coding === 'br') return brotliDecompressSync(input, { maxOutputLength, chunkSize });
    if (coding === 'zstd') return ZSTD?.decompressSync(input, { maxOutputLength, chunkSize });
    return isZlib(input)
      ? inflateSync(input, { maxOutputLength, chunkSize })
      : inflateRawSync(input, { maxOutputLength, chunkSize });
  } catch {
    return undefined;
  }
}

function boundedChunk(wanted: number, maxOutputLength: number): number {
  return Math.min(Math.max(wanted + 64, 1_024), Math.max(maxOutputLength, 1_024));
}

/** The last four bytes of a gzip stream: its length modulo 2^32, if the sender is honest. */
function isizeOf(input: Uint8Array): number {
  if (input.length < 18) return 0;
  const at = input.length - 4;
  const [a, b, c, d] = [input[at], input[at + 1], input[at + 2], input[at + 3]];
  return (
    ((a as number) | ((b as number) << 8) | ((c as number) << 16) | ((d as number) << 24)) >>> 0
  );
}
