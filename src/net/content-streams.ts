// The thorough way to take content codings off (content-decoding.ts has the quick one): for payloads that are large, cut, damaged or
// followed by rubbish. Runs on zlib's own threads, step 9 of a URL's life. gzip is taken apart here and inflated raw: Node's gunzip calls
// rubbish behind a complete member an error, and does not tell a damaged stream from a complete one with a wrong sum.
// Output is cut at a limit (I10); the input is there whole, so nothing waits for the network and nothing can hang (field bug N1).

import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { type ContentCoding, type Decoded, isZlib, ZSTD } from './content-coding.ts';
import { joinChunks } from './payload-collector.ts';

/** Output is fetched from zlib in pieces of this size. */
const CHUNK_BYTES = 65_536;
/** … and in smaller ones from a damaged stream, of which the last piece is lost. */
const SALVAGE_CHUNK_BYTES = 2_048;
/** Members of one gzip stream that are read; more are cut off as `length`. A million empty ones would fit into 20 MB. */
const GZIP_MEMBERS_MAX = 1_000;

/** One stream read as far as it goes. */
interface StageResult extends Decoded {
  /** Input bytes the stream took up; what follows them is rubbish or another member. */
  readonly consumed: number;
}

/**
 * Takes codings off a payload, one after the other.
 * @param bytesMax longest output of each stage
 * @param done called once, later
 */
export function decodeStreaming(
  payload: Uint8Array,
  codings: readonly ContentCoding[],
  bytesMax: number,
  done: (decoded: Decoded) => void,
): void {
  const [coding, ...rest] = codings;
  if (coding === undefined) {
    done({ body: payload, state: 'whole' });
    return;
  }
  const next = (stage: Decoded): void => {
    if (rest.length === 0) {
      done(stage);
      return;
    }
    // What is left of an inner stream is itself cut; the first thing that went wrong is what counts.
    decodeStreaming(stage.body, rest, bytesMax, (inner) => {
      done(stage.state === 'whole' ? inner : { body: inner.body, state: stage.state });
    });
  };
  if (payload.length === 0) next({ body: payload, state: 'whole' });
  else if (coding === 'gzip') new GzipStage(payload, bytesMax, next).start();
  else runStage(streamFor(coding, payload), payload, bytesMax, next);
}

/** Makes a fresh stream for one reading. */
type StreamMaker = (options: zlib.ZlibOptions) => Transform & zlib.Zlib;

function streamFor(coding: 'deflate' | 'br' | 'zstd', payload: Uint8Array): StreamMaker {
  if (coding === 'br') return (options) => zlib.createBrotliDecompress(options);
  if (coding === 'zstd' && ZSTD !== undefined) return ZSTD.createDecompress;
  return isZlib(payload) ? zlib.createInflate : zlib.createInflateRaw;
}

/** Reads one stream. What zlib had in hand when it met an error is lost, so a faulty one is read again, to be saved. */
function runStage(
  maker: StreamMaker,
  input: Uint8Array,
  bytesMax: number,
  done: (result: StageResult) => void,
): void {
  readStream(maker({ chunkSize: CHUNK_BYTES }), input, bytesMax, (result) => {
    const { state } = result;
    if (state === 'whole' || state === 'length') {
      done(result);
      return;
    }
    // Asked to flush at the end instead of to finish, zlib takes an early end for a pause and hands out all it has.
    const finishFlush =
      maker === zlib.createInflate || maker === zlib.createInflateRaw
        ? zlib.constants.Z_SYNC_FLUSH
        : zlib.constants.BROTLI_OPERATION_FLUSH;
    const chunkSize = state === 'cut' ? CHUNK_BYTES : SALVAGE_CHUNK_BYTES;
    const again = maker({ chunkSize, finishFlush });
    readStream(again, input, bytesMax, (saved) => {
      done({ ...saved, state: saved.state === 'length' ? 'length' : state });
    });
  });
}

/** Feeds one stream its input and gathers its output. */
function readStream(
  stream: Transform & zlib.Zlib,
  input: Uint8Array,
  bytesMax: number,
  done: (result: StageResult) => void,
): void {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  const end = (state: Decoded['state']): void => {
    if (ended) return;
    ended = true;
    const consumed = stream.bytesWritten;
    stream.destroy();
    done({ body: joinChunks(chunks, length), state, consumed });
  };
  stream.on('data', (chunk: Uint8Array) => {
    if (ended) return;
    const room = bytesMax - length;
    const kept = chunk.length <= room ? chunk : chunk.subarray(0, room);
    chunks.push(kept);
    length += kept.length;
    if (kept.length < chunk.length) end('length');
  });
  stream.on('end', () => end('whole'));
  stream.on('close', () => end('damaged'));
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // zlib reports an early end of input as a buffer it could not fill.
    end(error.code === 'Z_BUF_ERROR' ? 'cut' : 'damaged');
  });
  stream.end(input);
}

/** A gzip stream: any number of members, each with its own header and sum (RFC 1952 §2.2). */
class GzipStage {
  readonly #input: Uint8Array;
  readonly #bytesMax: number;
  readonly #done: (decoded: Decoded) => void;
  readonly #bodies: Uint8Array[] = [];
  #length = 0;
  #offset = 0;

  constructor(input: Uint8Array, bytesMax: number, done: (decoded: Decoded) => void) {
    this.#input = input;
    this.#bytesMax = bytesMax;
    this.#done = done;
  }

  start(): void {
    this.#member();
  }

  #member(): void {
    const start = gzipHeaderEnd(this.#input, this.#offset);
    if (start === 'none' || start === 'cut') {
      // Behind a complete member anything else is rubbish and ignored; before the first there is nothing to be had.
      if (this.#bodies.length > 0 && start === 'none') this.#end('whole');
      else this.#end(start === 'cut' ? 'cut' : 'damaged');
      return;
    }
    if (this.#bodies.length >= GZIP_MEMBERS_MAX) {
      this.#end('length');
      return;
    }
    const input = this.#input.subarray(start);
    const room = this.#bytesMax - this.#length;
    runStage(zlib.createInflateRaw, input, room, (result) => this.#memberEnded(start, result));
  }

  #memberEnded(start: number, result: StageResult): void {
    this.#bodies.push(result.body);
    this.#length += result.body.length;
    if (result.state !== 'whole') {
      this.#end(result.state);
      return;
    }
    const trailer = start + result.consumed;
    if (trailer + 8 > this.#input.length) {
      this.#end('cut');
      return;
    }
    const sum = readUint32(this.#input, trailer);
    if (sum !== zlib.crc32(result.body) >>> 0) {
      this.#end('damaged');
      return;
    }
    this.#offset = trailer + 8;
    if (this.#offset >= this.#input.length) this.#end('whole');
    else this.#member();
  }

  #end(state: Decoded['state']): void {
    this.#done({ body: joinChunks(this.#bodies, this.#length), state });
  }
}

/** Flag bits of RFC 1952 §2.3.1. */
const HEADER_CRC = 2;
const EXTRA = 4;
const NAME = 8;
const COMMENT = 16;

/** Where the deflate stream of the member at `offset` begins; `none` when no member begins there. */
function gzipHeaderEnd(input: Uint8Array, offset: number): number | 'none' | 'cut' {
  const rest = input.length - offset;
  if (rest >= 1 && input[offset] !== 0x1f) return 'none';
  if (rest >= 2 && input[offset + 1] !== 0x8b) return 'none';
  if (rest >= 3 && input[offset + 2] !== 8) return 'none';
  if (rest < 10) return 'cut';
  const flags = input[offset + 3] as number;
  let position = offset + 10;
  if ((flags & EXTRA) !== 0) {
    if (position + 2 > input.length) return 'cut';
    position += 2 + (input[position] as number) + 256 * (input[position + 1] as number);
  }
  for (const text of [NAME, COMMENT]) {
    if ((flags & text) === 0) continue;
    const zero = position > input.length ? -1 : input.indexOf(0, position);
    if (zero < 0) return 'cut';
    position = zero + 1;
  }
  if ((flags & HEADER_CRC) !== 0) position += 2;
  return position > input.length ? 'cut' : position;
}

function readUint32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
}
