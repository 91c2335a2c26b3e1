// Closed WARC files on their way to a real S3-compatible server and back: whole crawls, refusals, broken connections, uploads in parts.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ObjectStore } from '../../src/storage/object-store.ts';
import { PART_BYTES, uploadWarc } from '../../src/storage/object-upload.ts';
import { warcPaths } from '../../src/storage/warc-names.ts';
import { inFolder, runCommand } from '../support/command-line.ts';
import { runCrawl, webFlags } from '../support/crawl/run-crawl.ts';
import { hasS3Server, S3_ENVIRONMENT, S3Server } from '../support/s3-server.ts';
import { startWeb } from '../support/server/start-web.ts';

const skip = hasS3Server() ? false : 'moto_server is not installed';
let s3: S3Server;

before(async () => {
  if (skip !== false) return;
  Object.assign(process.env, S3_ENVIRONMENT);
  s3 = await S3Server.start();
});
after(() => (skip === false ? s3.stop() : undefined));

/** A crawl of a small web with files of 60 kB, its bucket named but perhaps not there. */
async function crawled(
  bucket: string,
  body: (dataDir: string, flags: readonly string[], stderr: string) => Promise<void>,
): Promise<void> {
  const web = await startWeb({ seed: 51, hosts: 4, pagesPerHost: 10, pageBytes: 9_000 });
  const config = {
    ...{ warcRollBytes: 70_000, objectStore: `s3://${bucket}/a/b`, threads: 1 },
    objectStoreEndpoint: s3.endpoint,
  };
  try {
    await inFolder({ 'c.ts': `export default ${JSON.stringify(config)};\n` }, async (folder) => {
      const flags = ['--config', `${folder}/c.ts`];
      const crawl = await runCrawl(webFlags(web, `${folder}/data`, flags));
      strictEqual(crawl.status, 0, crawl.stderr);
      await body(`${folder}/data`, [...flags, '--data', `${folder}/data`], crawl.stderr);
    });
  } finally {
    s3.fault = () => undefined;
    await web.stop();
  }
}

const named = (dataDir: string, ending: string): string[] =>
  readdirSync(join(dataDir, 'warc')).filter((name) => name.endsWith(ending));

/** What a replay finds on each page, and its summary. */
async function replayed(flags: readonly string[]): Promise<readonly string[]> {
  const out = join(flags[1] ?? '', '..', 'pages.ndjson');
  const result = await runCommand(['replay', ...flags, '--out', out], { timeoutMs: 60_000 });
  strictEqual(result.status, 0, result.stderr);
  return readFileSync(out, 'utf8').trimEnd().split('\n').sort();
}

test('a crawl moves its closed files to the object store, and replay reads them back', {
  skip,
}, async () => {
  await s3.createBucket('moved');
  await crawled('moved', async (dataDir, flags) => {
    const stems = named(dataDir, '.remote').map((name) => name.slice(0, -'.remote'.length));
    ok(stems.length > 2, `${stems.length} files`);
    deepStrictEqual(named(dataDir, '.warc.gz'), []);
    deepStrictEqual([named(dataDir, '.upload'), named(dataDir, '.open')], [[], []]);
    for (const stem of stems) {
      const { bytes } = JSON.parse(readFileSync(join(dataDir, 'warc', `${stem}.remote`), 'utf8'));
      strictEqual((await s3.object('moved', `a/b/${stem}.warc.gz`)).length, bytes);
    }
    const afar = await replayed(flags);
    ok(afar.length > 20);
    deepStrictEqual(
      afar.filter((line) => !line.includes('"outcome":"ok"')),
      [],
    );
    const index = await runCommand(['export', 'cdxj', ...flags]);
    ok(index.stdout.split('\n').length > afar.length, 'the index still knows every capture');
    const pages = await runCommand(['export', 'pages', ...flags]);
    match(pages.stdout, /"warc":\{"file":"s3:\/\/moved\/a\/b\/hostler-\d+\.warc\.gz","offset":\d+/);
    // The same pages from files that came back.
    for (const stem of stems) {
      const bytes = await s3.object('moved', `a/b/${stem}.warc.gz`);
      writeFileSync(join(dataDir, 'warc', `${stem}.warc.gz`), bytes);
    }
    deepStrictEqual(await replayed(flags), afar);
  });
});

test('a store that refuses pauses the uploads, says so, and loses no file', { skip }, async () => {
  // Nobody made the bucket: the crawl goes on to its end and keeps everything.
  await crawled('late', async (dataDir, flags, stderr) => {
    match(stderr, /cannot be uploaded, it stays here: NoSuchBucket/);
    match(stderr, /archive files \(\d+ bytes\) are left to compress, index or upload/);
    const files = named(dataDir, '.warc.gz');
    ok(files.length > 2, files.join(' '));
    deepStrictEqual(named(dataDir, '.remote'), []);
    await s3.createBucket('late');
    s3.fault = (name) => (name.startsWith('PUT') ? 507 : undefined);
    const full = await runCommand(['archive', ...flags], { timeoutMs: 60_000 });
    strictEqual(full.status, 1);
    match(full.stderr, /StorageFull: no room left \(status 507\)/);
    deepStrictEqual(named(dataDir, '.warc.gz'), files);
    s3.fault = () => undefined;
    const moved = await runCommand(['archive', ...flags, '--json'], { timeoutMs: 60_000 });
    strictEqual(moved.status, 0, moved.stderr);
    strictEqual(JSON.parse(moved.stdout).uploaded, files.length);
    deepStrictEqual(
      [named(dataDir, '.warc.gz'), named(dataDir, '.remote').length],
      [[], files.length],
    );
  });
});

test('uploadWarc after a broken connection or a crash sends only the parts that are missing', {
  skip,
}, async () => {
  await s3.createBucket('parts');
  await inFolder({}, async (folder) => {
    const paths = warcPaths(folder, 'hostler', 7);
    const bytes = Buffer.alloc(3 * PART_BYTES + 1_000);
    for (let at = 0; at < bytes.length; at += 4_096)
      bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
    writeFileSync(paths.closed, bytes);
    const address = { bucket: 'parts', prefix: 'x/', endpoint: s3.endpoint, region: 'us-east-1' };
    const store = await ObjectStore.open(address);
    const parts = (): string[] =>
      s3.requests.filter(
        (name) => name.startsWith('PUT /parts/x/') && name.includes('partNumber='),
      );
    try {
      s3.fault = (name) => (name.includes('partNumber=3') ? 'cut' : undefined);
      let refused: unknown;
      await uploadWarc(store, paths).catch((error: unknown) => {
        refused = error;
      });
      ok(refused instanceof Error, 'the third part never arrives');
      strictEqual(parts().length, 2);
      ok(existsSync(paths.upload) && existsSync(paths.closed));
      s3.fault = () => undefined;
      const remote = await uploadWarc(store, paths);
      strictEqual(parts().length, 4, 'parts one and two were not sent again');
      ok(!existsSync(paths.upload));
      deepStrictEqual(await s3.object('parts', 'x/hostler-000007.warc.gz'), bytes);
      deepStrictEqual([remote.key, remote.bytes], ['x/hostler-000007.warc.gz', bytes.length]);
      // A run that died between the upload and its note finds it done.
      await uploadWarc(store, paths);
      strictEqual(parts().length, 4);
      // An upload that the store has forgotten begins anew; a file that is not the same is not taken for it.
      bytes[5] = 99;
      writeFileSync(paths.closed, bytes);
      writeFileSync(
        paths.upload,
        JSON.stringify({
          uploadId: 'gone',
          key: remote.key,
          sha256: remote.sha256,
          partBytes: PART_BYTES,
        }),
      );
      await uploadWarc(store, paths);
      deepStrictEqual(await s3.object('parts', 'x/hostler-000007.warc.gz'), bytes);
      rmSync(paths.closed);
    } finally {
      store.close();
    }
  });
});

test('credentials that are not known are told, and the file stays', { skip }, async () => {
  await s3.createBucket('denied');
  await inFolder({}, async (folder) => {
    const paths = warcPaths(folder, 'hostler', 0);
    writeFileSync(paths.closed, 'a file');
    const address = { bucket: 'denied', prefix: '', endpoint: s3.endpoint, region: 'us-east-1' };
    const store = await ObjectStore.open(address);
    await s3.denyStrangers();
    const refused = await uploadWarc(store, paths).then(
      () => undefined,
      (error: Error) => error,
    );
    ok(refused !== undefined, 'refused');
    strictEqual(
      (refused as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode,
      403,
    );
    strictEqual(readFileSync(paths.closed, 'utf8'), 'a file');
    store.close();
  });
});
