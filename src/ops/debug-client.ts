// The other end of the debug socket, for `inspect` and for tests: one connection, requests one
// after another, answers in JSON. Answers are bounded like requests are, so that something else
// listening there cannot fill our memory.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { CrawlError } from '../base/errors.ts';
import { LineSplitter } from '../base/line-splitter.ts';
import { ANSWER_BYTES_MAX, type AnswerLine, LINE_BYTES_MAX } from './debug-protocol.ts';
import type { Plain } from './plain-value.ts';
import { checkLength } from './socket-path.ts';

/** JSON may take several times the bytes that the answer's bound counts. */
const ANSWER_LINE_BYTES_MAX = 8 * ANSWER_BYTES_MAX;

/** The last line of an answer. */
export type FinalLine = Exclude<AnswerLine, { readonly event: Plain }>;

/** See the head of this file. */
export class DebugClient {
  readonly #socket: Socket;
  readonly #splitter = new LineSplitter(ANSWER_LINE_BYTES_MAX);
  readonly #received: AnswerLine[] = [];
  #wake: () => void = () => {};
  #nextId = 1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      for (const line of this.#splitter.push(chunk)) {
        if ('text' in line) this.#receive(line.text);
        else socket.destroy();
      }
      if (this.#splitter.isSkipping) socket.destroy();
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#wake());
  }

  /**
   * Connects.
   * @throws CrawlError usage when no crawl listens there or it may not be opened
   */
  static async connect(path: string): Promise<DebugClient> {
    checkLength(path);
    const socket = connect(path);
    try {
      await once(socket, 'connect');
    } catch (thrown) {
      throw unreachableCrawl(path, thrown);
    }
    return new DebugClient(socket);
  }

  /** False once the crawl, or the connection to it, has ended. */
  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * Asks and waits for the answer.
   * @param told gets the events of a trace
   * @throws CrawlError usage, retriable, when the connection ends before the answer
   */
  async ask(words: readonly string[], told: (event: Plain) => void = () => {}): Promise<FinalLine> {
    const [verb = '', ...args] = words;
    const id = this.#nextId++;
    const line = `${JSON.stringify({ id, verb, args })}\n`;
    if (Buffer.byteLength(line) > LINE_BYTES_MAX) {
      const error = `a request is at most ${LINE_BYTES_MAX} bytes long`;
      return { id, ok: false, code: 'usage', error };
    }
    this.#socket.write(line);
    while (true) {
      const answer = await this.#next();
      if ('event' in answer) told(answer.event);
      else if (answer.id === id || answer.id === null) return answer;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(line: string): void {
    try {
      this.#received.push(JSON.parse(line) as AnswerLine);
    } catch {
      // The text form: the crawl refuses this client before it has read how the client writes.
      if (!line.startsWith('error: ')) return;
      this.#received.push({ id: null, ok: false, code: 'busy', error: line.slice(7) });
    }
  }

  async #next(): Promise<AnswerLine> {
    while (true) {
      const answer = this.#received.shift();
      if (answer !== undefined) return answer;
      if (this.#socket.destroyed) {
        throw new CrawlError('usage', 'the crawl closed the debug socket before it answered', {
          remedy: 'It may have ended: look whether it still runs, and ask again.',
          retriable: true,
        });
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function unreachableCrawl(path: string, thrown: unknown): CrawlError {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR') {
    return new CrawlError('usage', `no crawl is running there: nothing listens at ${path}`, {
      remedy:
        'Name the data directory of a running crawl with --data, or its socket with --debug-socket.',
      cause: thrown,
    });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new CrawlError('usage', `no permission to open the debug socket ${path}`, {
      remedy: 'Only the user who runs the crawl may open it: run this command as that user.',
      cause: thrown,
    });
  }
  return new CrawlError('usage', `cannot open the debug socket ${path}: ${message}`, {
    cause: thrown,
  });
}
