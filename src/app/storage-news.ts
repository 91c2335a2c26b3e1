// What the storage thread has to tell, as lines of the log (after step 10): an operator sees that the archive shrinks, and hears of a file that
// cannot be worked on, or of a quota, before the disk is full.

import { unreachable } from '../base/assert.ts';
import type { Log } from '../ops/log.ts';
import type { StorageNews } from '../storage/storage-loop.ts';

const LEVELS = {
  tended: 'debug',
  uploaded: 'debug',
  left: 'info',
  trouble: 'warn',
  'upload-trouble': 'warn',
  'quota-near': 'warn',
} as const;

/** Writes one line for a piece of news. */
export function logStorageNews(log: Log, news: StorageNews): void {
  log[LEVELS[news.kind]](`storage-${news.kind}`, storageNewsText(news), { ...news });
}

/** A piece of news as a sentence. */
export function storageNewsText(news: StorageNews): string {
  switch (news.kind) {
    case 'tended':
      return `${news.name} compressed and indexed: ${news.bytesBefore} bytes, now ${news.bytesAfter}`;
    case 'trouble':
      return `${news.name} stays as it is: ${news.detail}`;
    case 'uploaded':
      return `${news.name} is in ${news.url}`;
    case 'upload-trouble':
      return (
        `${news.name} cannot be uploaded, it stays here: ${news.detail}; ` +
        `uploads pause for ${news.pauseMs / 1_000} s`
      );
    case 'left':
      return (
        `${news.files} archive files (${news.bytes} bytes) are left to compress, index or upload; ` +
        'the next run does it, or: node cluster.js archive'
      );
    case 'quota-near':
      return (
        `${news.usedBytes} bytes are used of the quota of ${news.quotaBytes}: the crawl ends in order; ` +
        'go on with a larger --disk-quota, or move files away first'
      );
    default:
      return unreachable(news);
  }
}
