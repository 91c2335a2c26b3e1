// One connection to the shipped web: reads heads, carries out the world's answers one after the other (late, slow, cut, reset, mute,
// endless as they say) and reports each request with its times. Memory is one head and one body; a client that sends more before its
// answer is read no further (pause), one that sends too long a head is cut off.
import type { Socket } from 'node:net';
import type { RequestEntry } from '../world/judge-types.ts';
import type { World } from '../world/world.ts';
import type { WorldResponse } from '../world/world-respond.ts';
import { parseRequestHead, type RequestHead } from './request-head.ts';

const HEAD_CHARS_MAX = 32_768;
const SLOW_PIECES = 10;
const ENDLESS_PIECE_MS = 2;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  304: 'Not Modified',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

/** What a connection works with. */
export interface WebContext {
  readonly world: World;
  /** Time of the world, ms. */
  readonly now: () => number;
  /** Called once for each request when it has ended, however it did. */
  readonly ended: (entry: RequestEntry) => void;
  /** Value of the Date header. */
  readonly date: () => string;
}

/** Serves one socket until either side ends it. */
export class WebConnection {
  readonly #context: WebContext;
  readonly #socket: Socket;
  readonly #address: string;
  #unread = '';
  #current: { head: RequestHead; startMs: number; status: number; bytes: number } | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the last write began, if the kernel took it whole: the client cannot have had its bytes before. */
  #handedMs: number | null = null;

  constructor(context: WebContext, socket: Socket) {
    this.#context = context;
    this.#socket = socket;
    this.#address = socket.localAddress ?? '';
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#finish(false));
  }

  #read(chunk: Buffer): void {
    this.#unread += chunk.toString('latin1');
    if (this.#current === null) this.#next();
    else if (this.#unread.length > HEAD_CHARS_MAX) this.#socket.pause();
  }

  /** Starts the next request when its head is there. */
  #next(): void {
    const end = this.#unread.indexOf('\r\n\r\n');
    if (end < 0) {
      if (this.#unread.length > HEAD_CHARS_MAX) this.#refuse();
      return;
    }
    const startMs = this.#context.now();
    const head = parseRequestHead(this.#unread.slice(0, end));
    this.#unread = this.#unread.slice(end + 4);
    if (head === null) {
      this.#refuse();
      return;
    }
    this.#current = { head, startMs, status: 0, bytes: 0 };
    const response = this.#context.world.respond({ ...head, atMs: startMs });
    if (response.delayMs === 0) this.#answer(response);
    else this.#timer = setTimeout(() => this.#answer(response), response.delayMs);
  }

  #refuse(): void {
    this.#socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  }

  #answer(response: WorldResponse): void {
    const { behaviour } = response;
    if (behaviour === 'mute') return;
    if (behaviour === 'reset') {
      this.#cutOff();
      return;
    }
    const current = this.#current!;
    const closes = response.closes || !current.head.keepsAlive || behaviour !== 'normal';
    current.status = response.status;
    const head = this.#headText(response, closes && behaviour !== 'slow-body');
    const body = current.head.method === 'HEAD' ? response.body.subarray(0, 0) : response.body;
    const half = Math.ceil(body.length / 2);
    switch (behaviour) {
      case 'normal':
        this.#send(head, body, () => this.#complete(closes));
        return;
      case 'slow-body':
        this.#send(head, body.subarray(0, 0), () => this.#sendSlowly(body, response.bodyMs));
        return;
      case 'reset-in-body':
        this.#send(head, body.subarray(0, half), () => this.#cutOff());
        return;
      case 'short-body':
        this.#send(head, body.subarray(0, half), () => this.#endEarly());
        return;
      case 'endless-body':
        this.#send(head, body, () => this.#sendForEver(body));
    }
  }

  #headText(response: WorldResponse, closes: boolean): string {
    const { status } = response;
    let text = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Other'}\r\n`;
    text += `Date: ${this.#context.date()}\r\n`;
    for (const [name, value] of response.headers) text += `${name}: ${value}\r\n`;
    if (response.behaviour !== 'endless-body' && status !== 304) {
      text += `Content-Length: ${response.body.length}\r\n`;
    }
    return `${text}Connection: ${closes ? 'close' : 'keep-alive'}\r\n\r\n`;
  }

  /** Head and body in one write: two would cost a system call or a writev. */
  #send(head: string, body: Uint8Array, then: () => void): void {
    const bytes = Buffer.allocUnsafe(head.length + body.length);
    bytes.write(head, 'latin1');
    bytes.set(body, head.length);
    this.#write(bytes, body.length, then);
  }

  /** `then` runs once the kernel has the bytes: at once when it took them all, so that the end is not dated late. */
  #write(bytes: Uint8Array, bodyBytes: number, then: () => void): void {
    if (this.#current === null || this.#socket.destroyed) return;
    this.#current.bytes += bodyBytes;
    let handed = false;
    const beforeMs = this.#context.now();
    this.#socket.write(bytes, (error) => {
      if (!handed && !error) then();
    });
    handed = this.#socket.writableLength === 0;
    this.#handedMs = handed ? beforeMs : null;
    if (handed) then();
  }

  #cutOff(): void {
    this.#finish(false);
    this.#socket.resetAndDestroy();
  }

  #endEarly(): void {
    this.#finish(false);
    this.#socket.end();
  }

  #sendSlowly(body: Uint8Array, bodyMs: number): void {
    const piece = Math.max(1, Math.ceil(body.length / SLOW_PIECES));
    let sent = 0;
    const step = () => {
      if (sent >= body.length) {
        this.#complete(this.#current?.head.keepsAlive === false);
        return;
      }
      const bytes = body.subarray(sent, sent + piece);
      sent += bytes.length;
      this.#write(bytes, bytes.length, () => this.#later(step, bodyMs / SLOW_PIECES));
    };
    step();
  }

  #sendForEver(body: Uint8Array): void {
    const step = () => this.#write(body, body.length, () => this.#later(step, ENDLESS_PIECE_MS));
    step();
  }

  #later(step: () => void, afterMs: number): void {
    this.#timer = setTimeout(step, afterMs);
  }

  #complete(closes: boolean): void {
    this.#finish(true);
    if (closes) {
      this.#socket.end();
      return;
    }
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#unread !== '') this.#next();
  }

  /** Reports the current request, if there is one. */
  #finish(complete: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#current === null) return;
    const { head, startMs, status, bytes } = this.#current;
    this.#current = null;
    const { host, path, userAgent } = head;
    // After the write this process may have to wait for a processor while the client already counts its gap.
    const endMs = (complete ? this.#handedMs : null) ?? this.#context.now();
    this.#handedMs = null;
    const times = { startMs, endMs };
    const address = this.#address;
    this.#context.ended({ host, path, address, ...times, userAgent, status, bytes, complete });
  }
}
