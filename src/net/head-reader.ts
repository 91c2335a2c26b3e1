// Stands between a socket and undici's parser (step 9 of a URL's life): reads the head of each response, as it came, for the record, and
// hands undici a head its strict parser takes (why: response-head.ts). undici reads by `socket.read()`, which this replaces on the one
// socket; body bytes pass untouched, one test per chunk. The head is bounded (I10) and scanned once, however small its pieces.
// Cost: about 3 µs a response, less than undici's own header list, which is thereby not needed.

import type { Socket } from 'node:net';
import type { FailureKind } from '../domain/failure.ts';
import { FetchError } from './fetch-error.ts';
import { type ResponseHead, readResponseHead } from './response-head.ts';

/** Who waits for a response on this connection. */
export interface HeadSink {
  /** The first byte of the response arrived. */
  firstByte(): void;
  /** The final head arrived. Called at most once. */
  headRead(head: ResponseHead): void;
}

/** A server may announce much, but not for ever: more interim responses than this are a fault. */
const INTERIM_MAX = 16;
const LF = 10;
const CR = 13;
const PROTOCOL = Buffer.from('HTTP/');

/** Reads heads off one socket. */
export class HeadReader {
  readonly #socket: Socket;
  readonly #headerBytesMax: number;
  readonly #read: () => Buffer | null;
  #sink: HeadSink | undefined;
  /** Bytes of a head that is not whole yet: the first `#length` of the buffer. */
  #buffer: Buffer | undefined;
  #length = 0;
  #interim = 0;

  /**
   * Takes the socket's `read` over.
   * @param headerBytesMax longest head, interim ones counted each, in bytes
   */
  constructor(socket: Socket, headerBytesMax: number) {
    this.#socket = socket;
    this.#headerBytesMax = headerBytesMax;
    this.#read = socket.read.bind(socket);
    socket.read = () => (this.#sink === undefined ? this.#read() : this.#readHead());
  }

  /** The next bytes are the response to a request that is about to be sent. */
  expect(sink: HeadSink): void {
    this.#sink = sink;
    this.#buffer = undefined;
    this.#length = 0;
    this.#interim = 0;
  }

  /** The next bytes for undici, null while the head is not whole. */
  #readHead(): Buffer | null {
    for (;;) {
      const chunk = this.#read();
      if (chunk === null) return null;
      const sink = this.#sink as HeadSink;
      if (this.#length === 0 && this.#interim === 0) sink.firstByte();
      const bytes = this.#append(chunk);
      const ready = this.#scan(bytes, sink, Math.max(bytes.length - chunk.length - 2, 0));
      if (ready !== undefined) return ready;
      if (this.#socket.destroyed) return null;
    }
  }

  /** What undici may have of these bytes; undefined when more must come first. */
  #scan(start: Buffer, sink: HeadSink, searchFrom: number): Buffer | undefined {
    let bytes = start;
    let from = searchFrom;
    for (;;) {
      const whole = bytes.length;
      bytes = withoutLeadingLines(bytes);
      from = Math.max(from - (whole - bytes.length), 0);
      // Not HTTP at all (another protocol's greeting): no use waiting for its end.
      const known = Math.min(bytes.length, PROTOCOL.length);
      if (bytes.compare(PROTOCOL, 0, known, 0, known) !== 0) {
        return this.#break('protocol-error', 'not HTTP');
      }
      const end = headEnd(bytes, from);
      if (end > this.#headerBytesMax || (end < 0 && bytes.length > this.#headerBytesMax)) {
        return this.#break('headers-too-large', `more than ${this.#headerBytesMax} header bytes`);
      }
      if (end < 0) return this.#keep(bytes);
      const reading = readResponseHead(bytes.toString('latin1', 0, end));
      if (reading.kind === 'broken') return this.#break('protocol-error', reading.detail);
      if (reading.kind === 'final') return this.#deliver(reading.head, bytes, end, sink);
      this.#interim += 1;
      if (this.#interim > INTERIM_MAX) {
        return this.#break('protocol-error', `more than ${INTERIM_MAX} interim responses`);
      }
      bytes = bytes.subarray(end);
      from = 0;
      if (bytes.length === 0) return this.#keep(bytes);
    }
  }

  #deliver(head: ResponseHead, bytes: Buffer, end: number, sink: HeadSink): Buffer {
    this.#sink = undefined;
    this.#buffer = undefined;
    this.#length = 0;
    sink.headRead(head);
    if (head.repaired === undefined) return bytes;
    return Buffer.concat([Buffer.from(head.repaired, 'latin1'), bytes.subarray(end)]);
  }

  /** Ends the connection; undici hands the error on to the request. */
  #break(kind: FailureKind, detail: string): undefined {
    this.#socket.destroy(new FetchError(kind, detail, this.#socket.remoteAddress));
    return undefined;
  }

  /** The bytes kept so far with a chunk behind them; the chunk itself when it is the first. */
  #append(chunk: Buffer): Buffer {
    if (this.#buffer === undefined || this.#length === 0) return chunk;
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      // Doubling keeps the copying linear in what arrives.
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    return this.#buffer.subarray(0, length);
  }

  #keep(bytes: Buffer): undefined {
    if (this.#buffer === undefined || bytes.buffer !== this.#buffer.buffer) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(1_024, 2 * bytes.length));
      bytes.copy(this.#buffer);
    } else if (bytes.byteOffset !== this.#buffer.byteOffset) {
      bytes.copy(this.#buffer);
    }
    this.#length = bytes.length;
    return undefined;
  }
}

/** Empty lines before the status line are skipped, as RFC 9112 §2.2 has servers do before a request line. */
function withoutLeadingLines(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length && (bytes[start] === CR || bytes[start] === LF)) start += 1;
  return start === 0 ? bytes : bytes.subarray(start);
}

/**
 * The offset just behind the first empty line, ended by CRLF or a bare LF; −1 when there is none yet.
 * @param from where to start: up to here there is no empty line's beginning
 */
function headEnd(bytes: Buffer, from: number): number {
  const crlf = bytes.indexOf('\n\r\n', from, 'latin1');
  const region = crlf < 0 ? bytes : bytes.subarray(0, crlf + 1);
  const lf = region.indexOf('\n\n', from, 'latin1');
  if (lf >= 0) return lf + 2;
  return crlf < 0 ? -1 : crlf + 3;
}
