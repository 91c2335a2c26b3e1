// What becomes of closed WARC files, as lines of the log (after step 10): an operator sees that the archive shrinks, and hears of a file
// that cannot be worked on before its disk is full.

import { unreachable } from '../base/assert.ts';
import type { Log } from '../ops/log.ts';
import type { ArchiveNews } from '../storage/archive-keeper.ts';

/** Writes one line for a piece of news. */
export function logArchiveNews(log: Log, news: ArchiveNews): void {
  switch (news.kind) {
    case 'tended':
      log.debug('archive-tended', archiveNewsText(news), { ...news });
      return;
    case 'trouble':
      log.warn('archive-trouble', archiveNewsText(news), { ...news });
      return;
    case 'left':
      log.info('archive-left', archiveNewsText(news), { ...news });
      return;
    default:
      unreachable(news);
  }
}

/** A piece of news as a sentence. */
export function archiveNewsText(news: ArchiveNews): string {
  switch (news.kind) {
    case 'tended':
      return `${news.name} compressed and indexed: ${news.bytesBefore} bytes, now ${news.bytesAfter}`;
    case 'trouble':
      return `${news.name} stays as it is: ${news.detail}`;
    case 'left':
      return (
        `${news.files} archive files (${news.bytes} bytes) are left to compress and index; ` +
        'the next run does it, or: node cluster.js archive'
      );
    default:
      return unreachable(news);
  }
}
