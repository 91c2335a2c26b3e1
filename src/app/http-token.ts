// The token that `--http-operate` asks for: made anew for each run, written to `DIR/http-token` for its owner alone (mode 0600), removed at
// the end. Whoever may read that file may open the debug socket too, so the dashboard gives nobody more than they had. It is never logged.

import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';

const TOKEN_BYTES = 32;

/** A token and where it lies. */
export interface HttpToken {
  readonly token: string;
  readonly path: string;
}

/** @throws CrawlError disk when the file cannot be written */
export function writeHttpToken(dataDir: string): HttpToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const path = join(dataDir, 'http-token');
  try {
    // Removed first: `mode` holds for a new file only.
    rmSync(path, { force: true });
    writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new CrawlError('disk', `${path} cannot be written: ${(cause as Error).message}`, {
      remedy: 'Make the data directory writable, or leave --http-operate out.',
      cause,
    });
  }
  return { token, path };
}

/** A token of a run that is over opens nothing; a file that is gone already is as good. */
export function removeHttpToken(dataDir: string): void {
  rmSync(join(dataDir, 'http-token'), { force: true });
}
