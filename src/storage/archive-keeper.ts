// Sees to closed WARC files on behalf of the storage thread: hands them one by one to a thread that compresses and indexes them and, with an
// object store, uploads them; then lets go of the local copy. Starts with what an earlier run left undone: which files wait is read
// off the disk, so nothing about it has to be durable. The thread lives only while there is work.
// A store that refuses (credentials, a full bucket) or cannot be reached pauses the uploads for a while and costs nothing else: files stay.
// A local copy goes only when its upload is confirmed and no page in it waits to be parsed, since crawl threads read local files only.

import { rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import type { ArchiveOrder, FromArchiveThread } from './archive-thread.ts';
import { type ArchiveWork, undoneWarcs } from './archive-work.ts';
import { warcFileNumber, warcPaths } from './warc-names.ts';

/** What an operator may want to know; `name` is a file's, sizes are in bytes. */
export type ArchiveNews =
  | {
      readonly kind: 'tended';
      readonly name: string;
      readonly bytesBefore: number;
      readonly bytesAfter: number;
    }
  | { readonly kind: 'uploaded'; readonly name: string; readonly url: string }
  | { readonly kind: 'trouble'; readonly name: string; readonly detail: string }
  /** Uploads pause for so long; nothing is lost. */
  | {
      readonly kind: 'upload-trouble';
      readonly name: string;
      readonly detail: string;
      readonly pauseMs: number;
    }
  /** At the end of a run: so much is left for the next one. */
  | { readonly kind: 'left'; readonly files: number; readonly bytes: number };

/** What the keeper needs of the thread it is on. */
export interface ArchiveSurroundings {
  readonly onNews: (news: ArchiveNews) => void;
  /** Bytes that may be written now beside the crawl's own; Infinity without a quota. */
  readonly spareBytes: () => number;
  /** Files from this number on hold pages that wait to be parsed; Infinity when none waits. */
  readonly firstNeededFile: () => number;
}

/** How long uploads pause after the first trouble; doubled with each further one. */
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = 15 * 60_000;

/** See the head of this file. */
export class ArchiveKeeper {
  readonly #work: ArchiveWork;
  readonly #surroundings: ArchiveSurroundings;
  readonly #tends: number[] = [];
  readonly #uploads: number[] = [];
  /** Uploaded and confirmed, still here. */
  readonly #removable = new Set<number>();
  #order: ArchiveOrder | undefined;
  #thread: Worker | undefined;
  #pauseMs = PAUSE_MS_MIN;
  #pause: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(work: ArchiveWork, surroundings: ArchiveSurroundings) {
    this.#work = work;
    this.#surroundings = surroundings;
  }

  /** Takes what lies closed and undone in the directory; to be called once, before files are closed. */
  takeLeftovers(): void {
    assert(this.#tends.length === 0, () => 'leftovers after other files');
    const { untended, waiting, moved } = undoneWarcs(this.#work);
    this.#tends.push(...untended);
    this.#uploads.push(...waiting);
    for (const file of moved) this.#removable.add(file);
    this.#next();
  }

  /** Takes newly closed files. */
  take(paths: readonly string[]): void {
    for (const path of paths) {
      const found = warcFileNumber(basename(path), this.#work.prefix);
      assert(found !== undefined, () => `${path} is no WARC file of this crawl`);
      if (!this.#tends.includes(found.file)) this.#tends.push(found.file);
    }
    this.#next();
  }

  /** Lets go of local copies that nobody needs any more; to be called now and then. */
  removeMoved(): void {
    const needed = this.#removable.size === 0 ? 0 : this.#surroundings.firstNeededFile();
    for (const file of this.#removable) {
      if (file >= needed) continue;
      rmSync(this.#pathOf(file), { force: true });
      this.#removable.delete(file);
    }
  }

  /**
   * Ends. What waits is done first when it is little and no store is in trouble; otherwise it is told and left, and the thread is stopped.
   * @param bytesMax most bytes of files to wait for
   */
  async finish(bytesMax: number): Promise<void> {
    const waits = this.#order !== undefined && this.#waitingBytes() <= bytesMax;
    if (waits && this.#pause === undefined) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    clearTimeout(this.#pause);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
    this.removeMoved();
    const files = this.#tends.length + this.#uploads.length;
    if (files > 0) {
      this.#surroundings.onNews({ kind: 'left', files, bytes: this.#waitingBytes() });
    }
  }

  #waitingBytes(): number {
    const files = [...this.#tends, ...this.#uploads];
    return files.reduce((bytes, file) => bytes + this.#sizeOf(file), 0);
  }

  /** Gives the thread its next order, or lets it go. */
  #next(): void {
    if (this.#order !== undefined) return;
    const [tend] = this.#tends;
    const [upload] = this.#uploads;
    if (tend !== undefined) this.#begin({ kind: 'tend', file: tend });
    else if (upload !== undefined && this.#pause === undefined) {
      this.#begin({ kind: 'upload', file: upload });
    } else {
      void this.#thread?.terminate();
      this.#thread = undefined;
      this.#onIdle?.();
    }
  }

  #begin(order: ArchiveOrder): void {
    this.#order = order;
    const { file, kind } = order;
    // A quota that is nearly used up has no room for two editions of a file.
    const needsRoom = kind === 'tend' && this.#work.gzipLevel > 0;
    if (needsRoom && this.#sizeOf(file) >= this.#surroundings.spareBytes()) {
      const detail = 'the disk quota has no room to compress it';
      queueMicrotask(() => this.#done({ kind: 'trouble', file, detail }));
      return;
    }
    this.#thread ??= this.#startThread();
    this.#thread.postMessage(order);
  }

  #startThread(): Worker {
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
    return thread;
  }

  #done(message: FromArchiveThread): void {
    const order = this.#order;
    assert(order?.file === message.file, () => `archive thread did ${message.file} unasked`);
    this.#order = undefined;
    const { file } = message;
    const name = basename(this.#pathOf(file));
    if (order.kind === 'upload') this.#uploadDone(name, message);
    else {
      this.#tends.shift();
      if (message.kind === 'trouble') this.#surroundings.onNews({ ...message, name });
      if (message.kind === 'tended') {
        const { bytesBefore, bytesAfter } = message;
        this.#surroundings.onNews({ kind: 'tended', name, bytesBefore, bytesAfter });
        if (this.#work.objectStore !== undefined) this.#uploads.push(file);
      }
    }
    this.#next();
  }

  #uploadDone(name: string, message: FromArchiveThread): void {
    if (message.kind === 'uploaded') {
      this.#uploads.shift();
      this.#pauseMs = PAUSE_MS_MIN;
      if (!this.#work.keepsLocal) this.#removable.add(message.file);
      this.#surroundings.onNews({ kind: 'uploaded', name, url: message.url });
    }
    if (message.kind !== 'trouble') return;
    const { detail } = message;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#next();
    }, pauseMs);
    this.#surroundings.onNews({ kind: 'upload-trouble', name, detail, pauseMs });
  }

  #sizeOf(file: number): number {
    return statSync(this.#pathOf(file), { throwIfNoEntry: false })?.size ?? 0;
  }

  #pathOf(file: number): string {
    return warcPaths(this.#work.directory, this.#work.prefix, file).closed;
  }
}
