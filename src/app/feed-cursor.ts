// Where a consumer of the change feed has got to, kept in `feed/consumers/NAME/cursor` of the data directory: a line of text, replaced durably
// after each portion that was acknowledged. One process at a time is a consumer of that name: a lock beside it says which.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FeedPlace, placeText, readPlace } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import { replaceDurably } from '../storage/files.ts';
import { type DirectoryLock, takeLock } from '../storage/lock.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export class FeedCursor {
  readonly #path: string;
  readonly #lock: DirectoryLock;

  /** @throws CrawlError usage for a name that is no plain file name; data-locked while another process has it; disk */
  constructor(dataDir: string, name: string) {
    if (!NAME.test(name)) {
      throw new CrawlError('usage', `--consumer ${name}: not a name`, {
        remedy: 'Use letters, digits, dots and dashes.',
      });
    }
    const folder = join(dataDir, 'feed', 'consumers', name);
    mkdirSync(folder, { recursive: true });
    this.#lock = takeLock(folder);
    this.#path = join(folder, 'cursor');
  }

  /** Undefined before anything was kept. @throws CrawlError data-damaged */
  load(): FeedPlace | undefined {
    if (!existsSync(this.#path)) return undefined;
    const place = readPlace(readFileSync(this.#path, 'utf8'));
    if (place !== undefined) return place;
    throw new CrawlError('data-damaged', `${this.#path} holds no cursor`, {
      remedy: 'Remove the file, or name a place with --from.',
    });
  }

  save(place: FeedPlace): void {
    replaceDurably(this.#path, Buffer.from(`${placeText(place)}\n`));
  }

  close(): void {
    this.#lock.release();
  }
}
