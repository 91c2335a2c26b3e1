import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeFolder, temporaryFolder } from '../fixtures/store-session.ts';
import { hasS3Server, S3_ENVIRONMENT, S3Server } from '../support/s3-server.ts';

const CHILD = fileURLToPath(new URL('../fixtures/storage-child.js', import.meta.url));
/** More than one part of an upload. */
const ROLL_BYTES = '9000000';
const skip = hasS3Server() ? false : 'moto_server is not installed';

function start(dir: string, batches: number, endpoint: string): ChildProcess {
  return spawn(process.execPath, [CHILD, dir, String(batches), ROLL_BYTES, endpoint], {
    env: { ...process.env, ...S3_ENVIRONMENT },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

test('an upload killed between two parts is gone on with, and no file is lost', {
  skip,
}, async () => {
  Object.assign(process.env, S3_ENVIRONMENT);
  const s3 = await S3Server.start();
  const dir = temporaryFolder();
  const warc = join(dir, 'warc');
  try {
    await s3.createBucket('killed');
    const child = start(dir, 0, s3.endpoint);
    const closed = once(child, 'close');
    s3.fault = (name) => {
      if (!name.includes('partNumber=2')) return undefined;
      child.kill('SIGKILL');
      return 'cut';
    };
    const [, signal] = await closed;
    strictEqual(signal, 'SIGKILL');
    const [noted] = readdirSync(warc).filter((name) => name.endsWith('.upload'));
    ok(noted !== undefined, 'the upload is noted');
    const { uploadId, key } = JSON.parse(readFileSync(join(warc, noted), 'utf8'));
    s3.fault = () => undefined;
    await once(start(dir, 1, s3.endpoint), 'close');
    const parts = s3.requests.filter((name) => name.startsWith(`PUT /killed/${key}?`));
    const numbers = parts.map((name) => new URL(name.slice(4), s3.endpoint).searchParams);
    deepStrictEqual(
      numbers.map((query) => [query.get('partNumber'), query.get('uploadId')]),
      [
        ['1', uploadId],
        ['2', uploadId],
      ],
      'each part once, of one upload',
    );
    const files = readdirSync(warc).filter((name) => name.endsWith('.warc.gz'));
    ok(files.includes(key), 'pages that wait to be parsed keep their file here');
    for (const name of files) {
      const bytes = readFileSync(join(warc, name));
      strictEqual(Buffer.compare(await s3.object('killed', name), bytes), 0, name);
      ok(readdirSync(warc).includes(name.replace('.warc.gz', '.remote')), `${name} is noted`);
    }
  } finally {
    await s3.stop();
    removeFolder(dir);
  }
});
