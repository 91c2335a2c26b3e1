// `node cluster.js restore BACKUP --data DIR`: makes a data directory out of a backup; the next crawl with that --data goes on from it.

import { restoreBackup } from '../storage/restore.ts';
import type { CommandInput } from './command.ts';
import { backupText } from './command-backup.ts';

/** @returns 0 */
export async function commandRestore({ words, config }: CommandInput): Promise<number> {
  const [source = ''] = words;
  const manifest = restoreBackup(source, config.dataDir);
  process.stdout.write(
    backupText(manifest, config.json, `${source} restored to ${config.dataDir}`),
  );
  return 0;
}
