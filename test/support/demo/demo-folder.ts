// The folder that `npm start` writes to: made anew for each demo, and never anything but a folder that an earlier demo made. A mark in it
// says whose it is and which process used it last, so that neither a stranger's folder nor a demo that still runs is removed.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isAlive,
  ownIdentity,
  type ProcessIdentity,
} from '../../../src/storage/process-identity.ts';

const MARK = 'made-by-npm-start.json';

/** A folder that cannot be used, in one line. */
export interface FolderRefusal {
  readonly refused: string;
}

/**
 * Makes an empty folder, removing what an earlier demo left there.
 * @param folder its path; its parent exists
 * @returns why not, and then nothing was touched
 */
export function takeDemoFolder(folder: string): FolderRefusal | undefined {
  if (existsSync(folder)) {
    const owner = ownerOf(folder);
    if (owner === undefined) {
      return { refused: `${folder} was not made by npm start: move it away, then try again` };
    }
    if (isAlive(owner)) {
      return { refused: `${folder} is in use by another npm start (process ${owner.pid})` };
    }
    rmSync(folder, { recursive: true });
  }
  mkdirSync(folder);
  writeFileSync(join(folder, MARK), `${JSON.stringify(ownIdentity())}\n`);
  return undefined;
}

/** The process that made a folder; undefined when the folder bears no mark. */
function ownerOf(folder: string): ProcessIdentity | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(join(folder, MARK), 'utf8'));
    return isIdentity(mark) ? mark : undefined;
  } catch {
    return undefined;
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return typeof value === 'object' && value !== null && 'pid' in value && 'bootId' in value;
}
