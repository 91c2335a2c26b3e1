// What an operator is told when a thread ends by a fault of ours (crash-only, DESIGN.md §3): the process goes, the data stays.

import { CrawlError } from '../base/errors.ts';

/** @param where what failed, as the subject of a sentence */
export function ourBug(where: string, error: unknown): CrawlError {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CrawlError('internal', `${where} failed: ${text}`, {
    remedy:
      'This is a bug of ours: please report it with the lines above. Run the same command again to go on from the last commit.',
    cause: error,
  });
}
