// Tables of autonomous systems in the forms in which they are published.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { loadAsnTable, openAsnLookup } from '../../../src/net/asn-lookup.ts';
import { asnRangeOf } from '../../../src/net/asn-rows.ts';
import { inFolder } from '../../support/command-line.ts';
import { mmdbFile } from '../../support/mmdb-file.ts';

const TEXT = `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."
1.0.4.0,1.0.7.255,38803,Gtelecom Pty Ltd
2606:4700::,2606:4700:ffff:ffff:ffff:ffff:ffff:ffff,13335,"Cloudflare, Inc."
`;
const NUMBERS = `16777216,16777471,13335,"Cloudflare, Inc."
50543257672059871404715951523469721600,50543257751288033918980289117013671935,13335,x
16778240,16779263,38803,Gtelecom Pty Ltd`;
const TABS = '1.0.4.0\t1.0.7.255\t38803\tAU\tGTELECOM\n1.0.0.0\t1.0.0.255\t13335\tUS\tX\n';

test('openAsnLookup finds an address in text, decimal and tab-separated tables, sorted or not', async () => {
  await inFolder({ 'text.csv': TEXT, 'numbers.csv': NUMBERS, 'tabs.tsv': TABS }, async (folder) => {
    for (const name of ['text.csv', 'numbers.csv', 'tabs.tsv']) {
      const lookup = await openAsnLookup(await loadAsnTable([join(folder, name)]));
      const found = ['1.0.0.0', '1.0.0.255', '1.0.1.0', '1.0.3.255', '1.0.4.0', '0.0.0.0'];
      deepStrictEqual(
        found.map(lookup),
        [13_335, 13_335, undefined, undefined, 38_803, undefined],
        name,
      );
      const six = ['2606:4700::1111', '2606:4701::', '::1'].map(lookup);
      const expected = name === 'tabs.tsv' ? undefined : 13_335;
      deepStrictEqual(six, [expected, undefined, undefined], name);
      deepStrictEqual([lookup('no address'), lookup('')], [undefined, undefined]);
    }
  });
});

test('openAsnLookup joins several files', async () => {
  const files = { 'a.csv': '9.0.0.0,9.0.0.9,9,x', 'b.csv': '8.0.0.0,8.0.0.9,8,x' };
  await inFolder(files, async (folder) => {
    const paths = ['a.csv', 'b.csv'].map((name) => join(folder, name));
    const lookup = await openAsnLookup(await loadAsnTable(paths));
    deepStrictEqual([lookup('9.0.0.5'), lookup('8.0.0.5')], [9, 8]);
  });
});

test('asnRangeOf passes over headings, unrouted ranges and nonsense', () => {
  const lines = ['', '# x', 'start,end,asn', '1.0.0.0,1.0.0.9,0,', '1.0.0.9,1.0.0.0,7,', '1,2'];
  for (const line of [...lines, '1.0.0.0,::1,7,', '1.0.0.0,1.0.0.9,4294967296,', '99999999999,9,1'])
    strictEqual(asnRangeOf(line), undefined, line);
});

test('loadAsnTable refuses a file that is no table, or is not there', async () => {
  await inFolder({ 'empty.csv': 'hello\n', 'wrong.mmdb': 'hello' }, async (folder) => {
    for (const name of ['empty.csv', 'missing.csv', 'missing.mmdb', 'wrong.mmdb']) {
      const isConfig = (error: unknown) => error instanceof CrawlError && error.code === 'config';
      await rejects(loadAsnTable([join(folder, name)]), isConfig, name);
    }
  });
});

/** mmdb-lib is an optional dependency: without it there is no .mmdb table to read. */
const hasMmdbLib = (() => {
  try {
    createRequire(import.meta.url).resolve('mmdb-lib');
    return true;
  } catch {
    return false;
  }
})();

test('openAsnLookup finds an address in a MaxMind database', {
  skip: hasMmdbLib ? false : 'the optional package mmdb-lib is not installed',
}, async () => {
  await inFolder({}, async (folder) => {
    const path = join(folder, 'asn.mmdb');
    const file = mmdbFile([
      { address: [1, 0, 0, 0], bits: 24, asn: 13_335 },
      { address: [1, 0, 4, 0], bits: 22, asn: 38_803 },
    ]);
    writeFileSync(path, file);
    const lookup = await openAsnLookup(await loadAsnTable([path]));
    const found = ['1.0.0.7', '1.0.1.0', '1.0.7.255', '127.0.0.1', '2001:db8::1', 'x'].map(lookup);
    deepStrictEqual(found, [13_335, undefined, 38_803, undefined, undefined, undefined]);
  });
});
