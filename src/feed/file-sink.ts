// The change feed into a file, one JSON object a line, appended and synced before it is acknowledged. A line that a crash cut off is ended at
// the next start, so that the lines after it can be read.

import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import type { FeedDocument } from './feed-document.ts';
import type { Sink } from './sink.ts';

const PORTION_MAX = 512;
const LINE_FEED = 10;

export class FileSink implements Sink {
  readonly name: string;
  readonly portionMax = PORTION_MAX;
  readonly #file: number;

  /** @throws CrawlError disk when the file cannot be opened */
  constructor(path: string) {
    this.name = `file ${path}`;
    try {
      this.#file = openSync(path, 'a+');
      this.#endTornLine();
    } catch (cause) {
      throw new CrawlError('disk', `${path}: cannot be written: ${(cause as Error).message}`, {
        remedy: 'Name a file in a directory that exists and can be written.',
        cause,
      });
    }
  }

  deliver(documents: readonly FeedDocument[]): Promise<void> {
    const text = documents.map(({ record }) => `${JSON.stringify(record)}\n`).join('');
    writeAll(this.#file, Buffer.from(text, 'utf8'));
    fdatasyncSync(this.#file);
    return Promise.resolve();
  }

  close(): Promise<void> {
    closeSync(this.#file);
    return Promise.resolve();
  }

  #endTornLine(): void {
    const { size } = fstatSync(this.#file);
    const last = Buffer.alloc(1);
    if (size === 0 || readSync(this.#file, last, 0, 1, size - 1) === 0) return;
    if (last[0] !== LINE_FEED) writeAll(this.#file, Buffer.from('\n'));
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
