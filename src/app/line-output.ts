// NDJSON and other lines on their way out, with backpressure (DESIGN.md §9): a command that writes a million lines into a slow pipe waits for
// it and holds one portion in memory.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { CrawlError } from '../base/errors.ts';

/** Text is handed on when this much has gathered. */
const FLUSH_CHARS = 65_536;

/** Writes lines to a stream. */
export class LineOutput {
  readonly #stream: Writable;
  readonly #encoding: BufferEncoding;
  #gathered = '';
  #count = 0;

  /** @param encoding of the lines: `latin1` for lines that are strings of bytes */
  constructor(stream: Writable, encoding: BufferEncoding = 'utf8') {
    this.#stream = stream;
    this.#encoding = encoding;
  }

  /** Lines taken so far. */
  get count(): number {
    return this.#count;
  }

  /** Takes one line, without its line feed. Await the promise when there is one: the reader is behind. */
  write(line: string): Promise<void> | undefined {
    this.#gathered += `${line}\n`;
    this.#count += 1;
    return this.#gathered.length >= FLUSH_CHARS ? this.flush() : undefined;
  }

  /** Hands on what has gathered; resolves when the stream takes more. */
  async flush(): Promise<void> {
    const text = this.#gathered;
    this.#gathered = '';
    if (text === '') return;
    if (!this.#stream.write(text, this.#encoding)) await once(this.#stream, 'drain');
  }
}

/**
 * Lends an output that writes to a file, or to standard output for `-`, and sees it through to its end.
 * @throws CrawlError disk when the file cannot be written
 */
export async function writingLines<Result>(
  path: string,
  use: (output: LineOutput) => Promise<Result>,
): Promise<Result> {
  if (path === '-') {
    const output = new LineOutput(process.stdout);
    const result = await use(output);
    await output.flush();
    return result;
  }
  const stream = createWriteStream(path);
  try {
    await once(stream, 'open');
    const output = new LineOutput(stream);
    const result = await use(output);
    await output.flush();
    stream.end();
    await finished(stream);
    return result;
  } catch (cause) {
    stream.destroy();
    if ((cause as NodeJS.ErrnoException).code === undefined || cause instanceof CrawlError) {
      throw cause;
    }
    throw new CrawlError('disk', `${path}: cannot be written: ${(cause as Error).message}`, {
      remedy: 'Name a file in a directory that exists and can be written.',
      cause,
    });
  }
}
