// `node cluster.js archive`: compresses, indexes and uploads all closed WARC files of a crawl that does not run, however many there are. A crawl does
// the same beside its work and leaves what would keep it from ending; this is for what it left, and for archives of older versions.

import type { CrawlError } from '../base/errors.ts';
import { PRODUCT_TOKEN, VERSION } from '../base/version.ts';
import type { CrawlConfig } from '../config/options.ts';
import { checkReadable } from '../storage/directory.ts';
import type { StorageNews } from '../storage/storage-loop.ts';
import { StorageThread } from '../storage/storage-owner.ts';
import type { CommandInput } from './command.ts';
import { storageOptions } from './open-storage.ts';
import { ourBug } from './our-bug.ts';
import { storageNewsText } from './storage-news.ts';

/** What the work came to; sizes in bytes. */
export interface ArchiveSummary {
  readonly files: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Files that are in the object store now. */
  readonly uploaded: number;
  /** Files that could not be worked on, or uploaded; uploads end with the first. */
  readonly troubles: number;
}

/** Exit status when a file could not be worked on. */
const STATUS_TROUBLE = 1;

/** @returns 0 when every closed file is compressed and indexed, else 1 */
export async function commandArchive({ config }: CommandInput): Promise<number> {
  checkReadable(config.dataDir);
  const sums = { files: 0, bytesBefore: 0, bytesAfter: 0, uploaded: 0, troubles: 0 };
  await tendAll(config, (news) => {
    if (news.kind === 'trouble' || news.kind === 'upload-trouble') {
      sums.troubles += 1;
      process.stderr.write(`hostler: ${storageNewsText(news)}\n`);
    }
    if (news.kind === 'uploaded') sums.uploaded += 1;
    if (news.kind !== 'tended') return;
    sums.files += 1;
    sums.bytesBefore += news.bytesBefore;
    sums.bytesAfter += news.bytesAfter;
  });
  const summary: ArchiveSummary = sums;
  const text =
    `${sums.files} files done: ${sums.bytesBefore} bytes, now ${sums.bytesAfter}; ` +
    `${sums.uploaded} uploaded\n`;
  process.stdout.write(config.json ? `${JSON.stringify(summary)}\n` : text);
  return sums.troubles === 0 ? 0 : STATUS_TROUBLE;
}

/** Opens the crawl as its writer, which recovers it and takes up what lies undone, and closes it once that is done. */
async function tendAll(config: CrawlConfig, onNews: (news: StorageNews) => void): Promise<void> {
  const failures: CrawlError[] = [];
  const options = storageOptions(config, {
    software: `${PRODUCT_TOKEN}/${VERSION}`,
    userAgent: config.userAgent,
  });
  const archive = { ...options.archive, finishBytesMax: Number.POSITIVE_INFINITY };
  const storage = await StorageThread.start(
    // A quota is what a crawl may fill; this work gives room back.
    { ...options, archive, store: { ...options.store, quotaBytes: undefined } },
    {
      onNews,
      onFailure: (error) => failures.push(error),
      onCrash: (error) => {
        throw ourBug('the storage thread', error);
      },
    },
  );
  await storage.close();
  const [failure] = failures;
  if (failure !== undefined) throw failure;
}
