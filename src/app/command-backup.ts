// `node cluster.js backup DIR`: saves the data directory of a crawl, running or stopped, as of now (DESIGN.md §5). Asks the crawl nothing.

import type { BackupManifest } from '../storage/backup.ts';
import { takeBackup } from '../storage/backup.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';
import type { CommandInput } from './command.ts';

/** @returns 0 */
export async function commandBackup({ words, config }: CommandInput): Promise<number> {
  const [target = ''] = words;
  const manifest = await takeBackup(config.dataDir, WARC_PREFIX, target);
  process.stdout.write(backupText(manifest, config.json, `${config.dataDir} saved in ${target}`));
  return 0;
}

/** What a backup holds, as a line or as one JSON object. */
export function backupText(manifest: BackupManifest, isJson: boolean, what: string): string {
  const { crawlId, takenAt, files } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return isJson
    ? `${JSON.stringify({ crawlId, takenAt, files: files.length, bytes })}\n`
    : `${what}: crawl ${crawlId} as of ${takenAt}, ${files.length} files, ${bytes} bytes\n`;
}
