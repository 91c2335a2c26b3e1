import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BodyReader } from '../../src/storage/body-reader.ts';
import { checkWarc } from '../../src/storage/warc-check.ts';
import type { WarcEnd } from '../../src/storage/warc-writer.ts';
import { newWriter, temporaryDirectory } from '../support/warc-fixtures.ts';

const CHILD = fileURLToPath(new URL('../support/warc-crash-child.js', import.meta.url));
const ROUNDS = 6;

/** Lets the child write until it told `commits` ends, kills it, and returns the last end that was told whole. */
async function killAfter(
  directory: string,
  committed: readonly WarcEnd[],
  commits: number,
): Promise<readonly WarcEnd[]> {
  const child = spawn(process.execPath, [CHILD, directory, JSON.stringify(committed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    if (told.split('\n').length > commits) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  strictEqual(signal, 'SIGKILL');
  return JSON.parse(told.slice(0, told.lastIndexOf('\n')).split('\n').at(-1)!) as WarcEnd[];
}

test('WarcWriter recovers every committed record after kill -9, across rolls and compressions', async (t) => {
  const directory = temporaryDirectory(t);
  let committed: readonly WarcEnd[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    committed = await killAfter(directory, committed, 7 + round * 9);
    const writer = newWriter(directory);
    writer.open(committed);
    const ids = new Set<string>();
    const files = readdirSync(directory).filter((name) => name.includes('.warc.gz'));
    ok(
      files.every((name) => !name.endsWith('.tmp')),
      files.join(' '),
    );
    const reader = new BodyReader(directory, { prefix: 'hostler' });
    for (const [file, name] of files.sort().entries()) {
      const check = checkWarc(join(directory, name), ids);
      deepStrictEqual(check.problems, [], name);
      for (let record = 1; record < check.records; record += 2) {
        ok(reader.read({ file, record }) !== undefined, `${name} ${record}`);
      }
      if (name.endsWith('.open')) strictEqual(check.records, committed[0]!.records);
    }
    reader.close();
  }
  ok(committed[0]!.file >= 2, `${committed[0]!.file}`);
});
