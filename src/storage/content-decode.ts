// Removes content codings (RFC 9110 §8.4) from a stored payload, synchronously and bounded, when a body is read back for parsing or replay
// (step 11). Codings: gzip, deflate (with or without the zlib wrapper, as servers send both), br. Never throws.
// A payload that is cut short or damaged yields what comes before the fault, as a fetcher that was streaming would have kept. zlib offers
// no partial result in one call, so the longest sound prefix is found by bisection: at most 32 decodings of at most the bound each, for
// faulty payloads only.

import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';

type Decoder = (payload: Uint8Array, bytesMax: number) => Buffer;

/** Most codings on one body that are removed; more is taken for an attack and left as it is. */
const CODINGS_MAX = 4;
/**
 * How far beyond the bound one decoding may go, so that bodies a little too long need no bisection, and one that is needed can close in on
 * the bound itself: one byte of brotli can stand for a copy of 16 MiB (RFC 7932 §5), one of deflate for 2 KiB.
 */
const OVERSHOOT_BYTES = 16 * 1024 * 1024;

/**
 * The body of a payload.
 * @param payload the message body without transfer coding
 * @param contentEncoding value of Content-Encoding, `''` when absent
 * @param bodyBytesMax the body is cut at this length
 * @returns the payload itself when there is no coding, an unknown one, or one that does not match the bytes at all
 */
export function decodeContent(
  payload: Uint8Array,
  contentEncoding: string,
  bodyBytesMax: number,
): Uint8Array {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  let body = payload;
  if (codings.length <= CODINGS_MAX) {
    for (const coding of codings.reverse()) {
      const decoder = decoderOf(coding, body);
      if (decoder === undefined || body.byteLength === 0) break;
      const decoded = decodePrefix(decoder, body, bodyBytesMax);
      if (decoded === undefined) break;
      body = decoded;
    }
  }
  return body.byteLength > bodyBytesMax ? body.subarray(0, bodyBytesMax) : body;
}

function decoderOf(coding: string, payload: Uint8Array): Decoder | undefined {
  const finishFlush = constants.Z_SYNC_FLUSH;
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return (bytes, maxOutputLength) => gunzipSync(bytes, { finishFlush, maxOutputLength });
    case 'deflate': {
      const inflate = hasZlibHeader(payload) ? inflateSync : inflateRawSync;
      return (bytes, maxOutputLength) => inflate(bytes, { finishFlush, maxOutputLength });
    }
    case 'br':
      return (bytes, maxOutputLength) =>
        brotliDecompressSync(bytes, {
          finishFlush: constants.BROTLI_OPERATION_FLUSH,
          maxOutputLength,
        });
    default:
      return undefined;
  }
}

/** RFC 1950 §2.2: method 8, and the two bytes a multiple of 31. */
function hasZlibHeader(payload: Uint8Array): boolean {
  const [first = 0, second = 0] = payload;
  return (first & 15) === 8 && ((first << 8) | second) % 31 === 0;
}

/** Decodes the longest prefix that is sound and fits; undefined when not even the beginning is sound. */
function decodePrefix(decoder: Decoder, payload: Uint8Array, bytesMax: number): Buffer | undefined {
  const attempt = (bytes: number): Buffer | undefined => {
    try {
      return decoder(payload.subarray(0, bytes), bytesMax + OVERSHOOT_BYTES);
    } catch {
      return undefined;
    }
  };
  const whole = attempt(payload.byteLength);
  if (whole !== undefined) return whole;
  let sound = 0;
  let faulty = payload.byteLength;
  let best: Buffer | undefined;
  while (faulty - sound > 1) {
    const middle = (sound + faulty) >>> 1;
    const decoded = attempt(middle);
    if (decoded === undefined) {
      faulty = middle;
      continue;
    }
    sound = middle;
    best = decoded;
    if (decoded.byteLength >= bytesMax) break;
  }
  return best === undefined || best.byteLength === 0 ? undefined : best;
}
