// Brings a backup back as a data directory: every file proven against the digest taken when it was saved. The format number comes last, so that
// a restore that was cut short is not taken for a crawl. What it gives is a crawl that was stopped at the backup's commit, to be gone on with.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { type BackupManifest, claimEmpty, MANIFEST_NAME } from './backup.ts';
import { type CopiedFile, copyProven } from './backup-copy.ts';
import { FORMAT_NUMBER, folderOf, prepareFolders } from './directory.ts';
import { damaged, diskError } from './disk-error.ts';
import { replaceDurably, syncDirectory } from './files.ts';

/**
 * Restores the backup in `source` into the new or empty directory `dir`.
 * @throws CrawlError usage when there is no backup or `dir` is not empty; data-version; data-damaged; disk, disk-full
 */
export function restoreBackup(source: string, dir: string): BackupManifest {
  const manifest = readManifest(source);
  claimEmpty(dir);
  try {
    prepareFolders(dir);
    for (const file of manifest.files)
      copyProven(join(source, file.path), join(dir, file.path), file);
    for (const folder of ['lmdb', 'frontier', 'warc', 'audit', 'feed'] as const) {
      syncDirectory(folderOf(dir, folder));
    }
    replaceDurably(join(dir, 'format'), Buffer.from(`${manifest.format}\n`));
    return manifest;
  } catch (error) {
    throw diskError(error, dir, `restore ${source} into ${dir}`);
  }
}

function readManifest(source: string): BackupManifest {
  const path = join(source, MANIFEST_NAME);
  if (!existsSync(path)) {
    throw new CrawlError('usage', `${source} holds no finished backup`, {
      remedy: 'Name a directory that node cluster.js backup has written to its end.',
    });
  }
  const manifest = parseManifest(readFileSync(path, 'utf8'));
  if (manifest === undefined) throw damaged(path);
  if (manifest.format === FORMAT_NUMBER) return manifest;
  throw new CrawlError(
    'data-version',
    `${source} has data format ${manifest.format}, this version reads format ${FORMAT_NUMBER}`,
    { remedy: 'Restore it with the version that wrote it.' },
  );
}

function parseManifest(text: string): BackupManifest | undefined {
  let value: Partial<BackupManifest> | null;
  try {
    value = JSON.parse(text) as Partial<BackupManifest> | null;
  } catch {
    return undefined;
  }
  const { format, crawlId, takenAt, files } = value ?? {};
  if (typeof format !== 'number' || typeof crawlId !== 'string') return undefined;
  if (typeof takenAt !== 'string' || !Array.isArray(files)) return undefined;
  return files.every(isFile) ? { format, crawlId, takenAt, files } : undefined;
}

/** A path of ours: below the directory, without a step up. */
function isFile(file: Partial<CopiedFile> | null): file is CopiedFile {
  const { path, bytes, sha256 } = file ?? {};
  if (typeof path !== 'string' || typeof bytes !== 'number') return false;
  return typeof sha256 === 'string' && /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/.test(path);
}
