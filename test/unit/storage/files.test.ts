import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { onDisk, readFully, replaceDurably, writeFully } from '../../../src/storage/files.ts';
import { temporaryDirectory } from '../../support/warc-fixtures.ts';

test('onDisk tells a full disk from other trouble and lets our own errors through', (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const codeOf = (operation: () => void): string => {
    try {
      onDisk('some file', operation);
    } catch (error) {
      return error instanceof CrawlError ? `${error.code} ${error.message.slice(0, 9)}` : 'other';
    }
    return 'none';
  };
  strictEqual(
    codeOf(() => writeFully(full, Buffer.from('x'), 0)),
    'disk-full some file',
  );
  strictEqual(
    codeOf(() => openSync('/no/such/file', 'r')),
    'disk some file',
  );
  throws(
    () => onDisk('x', () => onDisk('y', () => openSync('/no/such/file', 'r'))),
    /^CrawlError: y: /,
  );
  strictEqual(
    onDisk('x', () => 7),
    7,
  );
});

test('replaceDurably leaves the new content under the name and no temporary file', (t) => {
  const path = join(temporaryDirectory(t), 'file');
  replaceDurably(path, Buffer.from('first'));
  replaceDurably(path, Buffer.from('second'));
  strictEqual(readFileSync(path, 'utf8'), 'second');
  strictEqual(existsSync(`${path}.tmp`), false);
  const fd = openSync(path, 'r');
  t.after(() => closeSync(fd));
  const target = Buffer.alloc(9);
  deepStrictEqual([readFully(fd, target, 2), target.toString('latin1', 0, 4)], [4, 'cond']);
});
