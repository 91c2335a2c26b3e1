// The web's record of every request, written by the server process and read by tests and the judge in others, also after a kill -9 of
// the crawler. A file of JSON lines: the first holds the world's options, so that a reader can make the same world again; each other one
// is a request. Lines are gathered and written every 64 KB or 50 ms: at full speed a line costs about a microsecond.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RequestEntry } from '../world/judge-types.ts';
import type { WorldOptions } from '../world/world-options.ts';

const FLUSH_CHARS = 65_536;
const FLUSH_MS = 50;

/** Host, path, address, start and end in µs, status, bytes, whole (1) or cut (0), user agent ('' when as in the line before). */
type Row = [string, string, string, number, number, number, number, 0 | 1, string];

/** Appends entries to a file. */
export class RequestLog {
  readonly #descriptor: number;
  #pending = '';
  #count = 0;
  #userAgent = '';
  #timer: NodeJS.Timeout | null = null;

  /**
   * Starts the file anew.
   * @throws the file system's error when it cannot be written
   */
  constructor(file: string, options: WorldOptions) {
    this.#descriptor = openSync(file, 'w');
    this.#pending = `${JSON.stringify({ world: options })}\n`;
    this.flush();
  }

  /** Entries so far. */
  get count(): number {
    return this.#count;
  }

  /** Adds an entry; it reaches the file within 50 ms. */
  add(entry: RequestEntry): void {
    const { host, path, address, startMs, endMs, status, bytes, complete, userAgent } = entry;
    const agent = userAgent === this.#userAgent ? '' : userAgent;
    this.#userAgent = userAgent;
    const [start, end] = [Math.round(startMs * 1000), Math.round(endMs * 1000)];
    const row: Row = [host, path, address, start, end, status, bytes, complete ? 1 : 0, agent];
    this.#pending += `${JSON.stringify(row)}\n`;
    this.#count++;
    if (this.#pending.length >= FLUSH_CHARS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** Writes what is pending. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }

  /** Writes the rest and closes the file. */
  close(): void {
    this.flush();
    closeSync(this.#descriptor);
  }
}

/** What a log file holds. */
export interface ReadLog {
  readonly options: WorldOptions;
  readonly entries: RequestEntry[];
}

/**
 * Reads a log, also while it is being written: a last line without its end is left out.
 * @throws Error when the file is no request log
 */
export function readRequestLog(file: string): ReadLog {
  const bytes = readFileSync(file);
  const firstEnd = bytes.indexOf(10);
  if (firstEnd < 0) throw new Error(`${file} is no request log: it has no first line`);
  const first = JSON.parse(bytes.toString('utf8', 0, firstEnd)) as { world: WorldOptions };
  const entries: RequestEntry[] = [];
  let userAgent = '';
  // Line by line out of the buffer: a long crawl's log is longer than a string may be.
  for (let start = firstEnd + 1; ; ) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return { options: first.world, entries };
    const row = JSON.parse(bytes.toString('utf8', start, end)) as Row;
    start = end + 1;
    if (row[8] !== '') userAgent = row[8];
    entries.push({
      host: row[0],
      path: row[1],
      address: row[2],
      startMs: row[3] / 1000,
      endMs: row[4] / 1000,
      status: row[5],
      bytes: row[6],
      complete: row[7] === 1,
      userAgent,
    });
  }
}
