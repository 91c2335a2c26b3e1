// One client of the debug socket. Requests are answered one at a time, in order; while one is
// answered nothing more is read, so a client can make the crawl hold one answer and one chunk of
// requests for it, never more. A client that does not read its answers is dropped.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { LineSplitter } from '../base/line-splitter.ts';
import { type AnswerServices, answerRequest } from './answer-request.ts';
import {
  type DebugRequest,
  LINE_BYTES_MAX,
  type RequestForm,
  readRequest,
  writeAnswer,
  writeEvent,
} from './debug-protocol.ts';
import { refused } from './operator.ts';

/** Bytes of trace events a client may leave unread. */
const EVENT_BYTES_MAX = 262_144;

const TEXT_FORM: RequestForm = { form: 'text', id: null };

/** Times of a connection, milliseconds. */
export interface ConnectionLimits {
  /** A client that is silent for so long is dropped. */
  readonly idleMs: number;
  /** A client that takes so long to read an answer is dropped. */
  readonly writeMs: number;
}

/** See the head of this file. */
export class DebugConnection {
  readonly #socket: Socket;
  readonly #services: AnswerServices;
  readonly #limits: ConnectionLimits;
  readonly #splitter = new LineSplitter(LINE_BYTES_MAX);
  readonly #closing = new AbortController();
  #lines: string[] = [];
  #isAnswering = false;
  /** Nothing more will be read; when what was read is answered, the connection ends. */
  #isEnding = false;
  /** Said before the connection ends. */
  #farewell = '';

  constructor(socket: Socket, services: AnswerServices, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#services = services;
    this.#limits = limits;
    socket.setTimeout(limits.idleMs, () => socket.destroy());
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('end', () => this.#readEnd());
    // A reset by the client is its right; 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => this.#closing.abort());
  }

  /** True while no request is being answered: it may be dropped for another client. */
  get isIdle(): boolean {
    return !this.#isAnswering;
  }

  drop(): void {
    this.#socket.destroy();
  }

  /** Refuses to serve this client, saying why. */
  refuse(reason: string): void {
    this.#farewell = writeAnswer(TEXT_FORM, refused('busy', reason));
    this.#end();
  }

  #read(chunk: Buffer): void {
    if (this.#isEnding) return;
    let isTooLong = false;
    for (const line of this.#splitter.push(chunk)) {
      if ('tooLong' in line) isTooLong = true;
      if (isTooLong) break;
      if ('text' in line) this.#lines.push(line.text);
    }
    if (isTooLong || this.#splitter.isSkipping) {
      const reason = `a line is at most ${LINE_BYTES_MAX} bytes long`;
      this.#farewell = writeAnswer(TEXT_FORM, refused('usage', reason));
      this.#isEnding = true;
    }
    void this.#answerAll();
  }

  #readEnd(): void {
    if (!this.#isEnding) {
      for (const line of this.#splitter.finish()) if ('text' in line) this.#lines.push(line.text);
    }
    this.#isEnding = true;
    void this.#answerAll();
  }

  async #answerAll(): Promise<void> {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    this.#socket.pause();
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      if (this.#socket.destroyed) return;
      await this.#answerLine(line);
    }
    this.#isAnswering = false;
    if (this.#isEnding) this.#end();
    this.#socket.resume();
  }

  /** What the client may still send is of no interest, so the connection is closed as soon as it has our last word. */
  #end(): void {
    this.#isEnding = true;
    this.#socket.end(this.#farewell, () => this.#socket.destroy());
  }

  async #answerLine(line: string): Promise<void> {
    const request = readRequest(line);
    if (request === undefined) return;
    if ('refusal' in request) return this.#write(writeAnswer(request, request.refusal));
    if (request.verb === 'quit' || request.verb === 'exit') {
      this.#isEnding = true;
      this.#lines = [];
      return;
    }
    await this.#answer(request);
  }

  async #answer(request: DebugRequest): Promise<void> {
    const answer = await answerRequest(this.#services, request, {
      signal: this.#closing.signal,
      tell: (event) => this.#tell(writeEvent(request, event)),
    });
    await this.#write(writeAnswer(request, answer));
  }

  /** Events are not waited for: a client too slow for them is dropped. */
  #tell(text: string): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(text);
    if (this.#socket.writableLength > EVENT_BYTES_MAX) this.#socket.destroy();
  }

  async #write(text: string): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted || this.#socket.write(text)) return;
    const timer = setTimeout(() => this.#socket.destroy(), this.#limits.writeMs);
    try {
      await once(this.#socket, 'drain', { signal });
    } catch {
      // Closed while it was waited for: there is nobody left to answer.
    } finally {
      clearTimeout(timer);
    }
  }
}
