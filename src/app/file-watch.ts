// Notices that an operator's file was changed or replaced, by looking at it (DESIGN.md §10: what is edited while a crawl runs takes effect
// within a second). Asking the file system a few times a second costs microseconds and, unlike notifications, works on every file system and
// for files that editors replace.

import { stat } from 'node:fs/promises';

/** Time between two looks. */
export const LOOK_MS = 250;

export class FileWatch {
  readonly #path: string;
  readonly #changed: () => Promise<void>;
  #mark: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param changed called after a change, never twice at once; must not reject. A file that vanished is no change: what it said last holds
   */
  constructor(path: string, changed: () => Promise<void>) {
    this.#path = path;
    this.#changed = changed;
  }

  /** Remembers the file as it is now, and looks again and again from then on. */
  async start(): Promise<void> {
    this.#mark = await this.#look();
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#again(), LOOK_MS);
    this.#timer.unref();
  }

  async #again(): Promise<void> {
    const mark = await this.#look();
    if (mark !== undefined && mark !== this.#mark && !this.#closed) {
      this.#mark = mark;
      await this.#changed();
    }
    this.#arm();
  }

  /** What differs once a file was written or replaced; undefined while there is none. */
  async #look(): Promise<string | undefined> {
    try {
      const { ino, size, mtimeNs } = await stat(this.#path, { bigint: true });
      return `${ino} ${size} ${mtimeNs}`;
    } catch {
      return undefined;
    }
  }
}
