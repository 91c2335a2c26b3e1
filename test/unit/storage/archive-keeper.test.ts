import { deepStrictEqual, strictEqual } from 'node:assert';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ArchiveKeeper, type ArchiveNews } from '../../../src/storage/archive-keeper.ts';
import { undoneWarcs } from '../../../src/storage/archive-work.ts';
import { readRemote, writeRemote } from '../../../src/storage/remote-warc.ts';
import { warcPaths } from '../../../src/storage/warc-names.ts';
import { temporaryDirectory } from '../../support/warc-fixtures.ts';

const REMOTE = { bucket: 'b', endpoint: undefined, region: 'r', bytes: 4, sha256: 'ab' };
const STORE = { bucket: 'b', prefix: '', endpoint: undefined, region: 'r' };

test('ArchiveKeeper keeps a moved file here while a page in it waits to be parsed', async (t) => {
  const directory = temporaryDirectory(t);
  const paths = [0, 1, 2].map((file) => warcPaths(directory, 'hostler', file));
  for (const path of paths) {
    for (const name of [path.closed, path.cdxj]) writeFileSync(name, 'file');
    writeRemote(path, { ...REMOTE, key: path.closed });
  }
  deepStrictEqual(readRemote(paths[1]!), { ...REMOTE, key: paths[1]!.closed, endpoint: undefined });
  let needed = 1;
  const news: ArchiveNews[] = [];
  const work = { directory, prefix: 'hostler', gzipLevel: 6, reserveBytes: 0, objectStore: STORE };
  const keeper = new ArchiveKeeper(
    { ...work, keepsLocal: false },
    {
      onNews: (one) => news.push(one),
      spareBytes: () => Number.POSITIVE_INFINITY,
      firstNeededFile: () => needed,
    },
  );
  keeper.takeLeftovers();
  const here = (): boolean[] => paths.map(({ closed }) => existsSync(closed));
  deepStrictEqual(here(), [true, true, true], 'nothing goes unasked');
  keeper.removeMoved();
  deepStrictEqual(here(), [false, true, true]);
  needed = Number.POSITIVE_INFINITY;
  await keeper.finish(0);
  deepStrictEqual(here(), [false, false, false]);
  deepStrictEqual(news, []);
});

test('undoneWarcs tells what is left for each closed file, by what lies beside it', (t) => {
  const directory = temporaryDirectory(t);
  const at = (file: number) => warcPaths(directory, 'hostler', file);
  for (const file of [0, 1, 2, 10]) writeFileSync(at(file).closed, 'file');
  writeFileSync(at(3).open, 'file');
  for (const file of [1, 2]) writeFileSync(at(file).cdxj, '');
  writeRemote(at(2), { ...REMOTE, key: 'k' });
  const work = { directory, prefix: 'hostler', gzipLevel: 6, reserveBytes: 0 };
  deepStrictEqual(undoneWarcs({ ...work, objectStore: STORE, keepsLocal: false }), {
    ...{ untended: [0, 10], waiting: [1], moved: [2] },
  });
  deepStrictEqual(undoneWarcs({ ...work, objectStore: undefined, keepsLocal: true }), {
    ...{ untended: [0, 10], waiting: [], moved: [] },
  });
  strictEqual(readRemote(at(0)), undefined);
});
