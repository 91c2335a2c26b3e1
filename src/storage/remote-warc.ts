// `warc/<name>.remote`: the durable note that a closed WARC file is in an object store, whole and confirmed (after step 10). Written before the
// local file may go, so at every moment a file is here, or there, or both. Offsets and index stay here: they are small, and look-ups need them.

import { existsSync, readFileSync } from 'node:fs';
import { damaged } from './disk-error.ts';
import { replaceDurably } from './files.ts';
import type { WarcPaths } from './warc-names.ts';

/** Where a file went. */
export interface RemoteWarc {
  readonly bucket: string;
  readonly key: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bytes: number;
  /** Hexadecimal SHA-256. */
  readonly sha256: string;
}

/** @throws CrawlError `disk` or `disk-full` by way of its caller; system errors */
export function writeRemote(paths: WarcPaths, remote: RemoteWarc): void {
  replaceDurably(paths.remote, Buffer.from(`${JSON.stringify(remote)}\n`));
}

/**
 * @returns undefined when the file was not moved
 * @throws CrawlError data-damaged
 */
export function readRemote(paths: WarcPaths): RemoteWarc | undefined {
  if (!existsSync(paths.remote)) return undefined;
  try {
    const remote = JSON.parse(readFileSync(paths.remote, 'utf8')) as Partial<RemoteWarc> | null;
    const { bucket, key, endpoint, region, bytes, sha256 } = remote ?? {};
    if (typeof bucket === 'string' && typeof key === 'string' && typeof region === 'string') {
      if (typeof bytes === 'number' && typeof sha256 === 'string') {
        return { bucket, key, endpoint, region, bytes, sha256 };
      }
    }
  } catch (error) {
    throw damaged(paths.remote, error);
  }
  throw damaged(paths.remote);
}

/** `s3://bucket/key` */
export function remoteUrl({ bucket, key }: Pick<RemoteWarc, 'bucket' | 'key'>): string {
  return `s3://${bucket}/${key}`;
}
