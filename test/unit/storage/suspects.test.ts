import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import {
  readSuspects,
  recordSuspect,
  SUSPECTS_MAX,
  suspectsPath,
} from '../../../src/storage/suspects.ts';
import { removeFolder, temporaryFolder } from '../../fixtures/store-session.ts';

function inDirectory(body: (dir: string) => void): void {
  const dir = temporaryFolder();
  try {
    body(dir);
  } finally {
    removeFolder(dir);
  }
}

test('readSuspects answers what recordSuspect wrote, deaths added up', () =>
  inDirectory((dir) => {
    deepStrictEqual(readSuspects(dir), new Map());
    recordSuspect(dir, 10n, 'out of\nmemory');
    recordSuspect(dir, 0xffffffffffffffffn, 'exit code 9');
    recordSuspect(dir, 10n, 'stuck');
    deepStrictEqual(
      [...readSuspects(dir)],
      [
        [0xffffffffffffffffn, { deaths: 1, reason: 'exit code 9' }],
        [10n, { deaths: 2, reason: 'stuck' }],
      ],
    );
    const text = readFileSync(suspectsPath(dir), 'utf8');
    strictEqual(text, 'ffffffffffffffff 1 exit code 9\n000000000000000a 2 stuck\n');
  }));

test('recordSuspect keeps the newest suspects only', () =>
  inDirectory((dir) => {
    const lines = Array.from({ length: SUSPECTS_MAX }, (_, key) => {
      return `${(key + 1).toString(16).padStart(16, '0')} 1`;
    });
    writeFileSync(suspectsPath(dir), `${lines.join('\n')}\n`);
    recordSuspect(dir, 5_000n, 'a long reason '.repeat(100));
    const suspects = readSuspects(dir);
    deepStrictEqual(
      [suspects.size, suspects.has(1n), suspects.has(2n)],
      [SUSPECTS_MAX, false, true],
    );
    strictEqual(suspects.get(5_000n)?.reason.length, 200);
  }));

test('readSuspects names a line that is none', () =>
  inDirectory((dir) => {
    writeFileSync(suspectsPath(dir), '000000000000000a 1 fine\n\nnonsense\n');
    throws(
      () => readSuspects(dir),
      (error) => error instanceof CrawlError && /suspects line 3/.test(error.message),
    );
  }));
