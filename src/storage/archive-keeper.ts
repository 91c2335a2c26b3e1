// Sees to closed WARC files on behalf of the storage thread: hands them one by one to a thread that compresses and indexes them, and starts
// with those that an earlier run left undone. Which files wait is read off the disk, so nothing about it has to be durable. The thread
// lives only while there is work.

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import type { FromArchiveThread } from './archive-thread.ts';
import { type ArchiveWork, untendedWarcs } from './archive-work.ts';
import { warcFileNumber, warcPaths } from './warc-names.ts';

/** What an operator may want to know; `name` is a file's, sizes are in bytes. */
export type ArchiveNews =
  | {
      readonly kind: 'tended';
      readonly name: string;
      readonly bytesBefore: number;
      readonly bytesAfter: number;
    }
  | { readonly kind: 'trouble'; readonly name: string; readonly detail: string }
  /** At the end of a run: so much is left for the next one. */
  | { readonly kind: 'left'; readonly files: number; readonly bytes: number };

/** What the keeper needs of the thread it is on. */
export interface ArchiveSurroundings {
  readonly onNews: (news: ArchiveNews) => void;
  /** Bytes that may be written now beside the crawl's own; Infinity without a quota. */
  readonly spareBytes: () => number;
}

/** See the head of this file. */
export class ArchiveKeeper {
  readonly #work: ArchiveWork;
  readonly #surroundings: ArchiveSurroundings;
  /** Files to work on, the first of them being worked on while there is a thread. */
  readonly #waiting: number[] = [];
  #thread: Worker | undefined;
  #onIdle: (() => void) | undefined;

  constructor(work: ArchiveWork, surroundings: ArchiveSurroundings) {
    this.#work = work;
    this.#surroundings = surroundings;
  }

  /** Takes what lies closed and undone in the directory; to be called once, before files are closed. */
  takeLeftovers(): void {
    assert(this.#waiting.length === 0, () => 'leftovers after other files');
    const { directory, prefix } = this.#work;
    for (const file of untendedWarcs(directory, prefix)) this.#add(file);
  }

  /** Takes newly closed files. */
  take(paths: readonly string[]): void {
    for (const path of paths) {
      const found = warcFileNumber(basename(path), this.#work.prefix);
      assert(found !== undefined, () => `${path} is no WARC file of this crawl`);
      this.#add(found.file);
    }
  }

  /** Bytes of the files that wait or are being worked on. */
  get waitingBytes(): number {
    return this.#waiting.reduce((bytes, file) => bytes + this.#sizeOf(file), 0);
  }

  /**
   * Ends. What waits is done first when it is little; otherwise it is told and left, and the thread is stopped where it stands.
   * @param bytesMax most bytes of files to wait for
   */
  async finish(bytesMax: number): Promise<void> {
    const bytes = this.waitingBytes;
    if (this.#thread !== undefined && bytes <= bytesMax) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
    const files = this.#waiting.length;
    if (files > 0) this.#surroundings.onNews({ kind: 'left', files, bytes });
  }

  #add(file: number): void {
    if (this.#waiting.includes(file)) return;
    this.#waiting.push(file);
    if (this.#thread !== undefined) return;
    // The compiled name: a URL in a string is not rewritten by the compiler.
    const thread = new Worker(new URL('./archive-thread.js', import.meta.url), {
      workerData: this.#work,
      name: 'archive',
    });
    thread.on('message', (message: FromArchiveThread) => this.#done(message));
    // A crash of it is a bug of ours: it ends the storage thread as an exception does (DESIGN.md §3).
    thread.on('error', (error) => {
      throw error;
    });
    this.#thread = thread;
    this.#next();
  }

  #next(): void {
    const [file] = this.#waiting;
    if (file !== undefined) {
      this.#begin(file);
      return;
    }
    void this.#thread?.terminate();
    this.#thread = undefined;
    this.#onIdle?.();
  }

  /** A quota that is nearly used up has no room for two editions of a file. */
  #begin(file: number): void {
    if (this.#work.gzipLevel === 0 || this.#sizeOf(file) < this.#surroundings.spareBytes()) {
      this.#thread?.postMessage(file);
      return;
    }
    const detail = 'the disk quota has no room to compress it';
    queueMicrotask(() => this.#done({ kind: 'trouble', file, detail }));
  }

  #done(message: FromArchiveThread): void {
    const file = this.#waiting.shift();
    assert(file === message.file, () => `archive thread did ${message.file} in place of ${file}`);
    const name = basename(this.#pathOf(message.file));
    if (message.kind === 'trouble') {
      this.#surroundings.onNews({ kind: 'trouble', name, detail: message.detail });
    } else {
      const { bytesBefore, bytesAfter } = message;
      this.#surroundings.onNews({ kind: 'tended', name, bytesBefore, bytesAfter });
    }
    this.#next();
  }

  #sizeOf(file: number): number {
    return statSync(this.#pathOf(file), { throwIfNoEntry: false })?.size ?? 0;
  }

  #pathOf(file: number): string {
    return warcPaths(this.#work.directory, this.#work.prefix, file).closed;
  }
}
