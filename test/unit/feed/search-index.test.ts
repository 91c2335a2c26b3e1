import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ChangeKind } from '../../../src/actors/change-event.ts';
import type { FeedDocument, FeedRecord } from '../../../src/feed/feed-document.ts';
import { matchQuery, SearchIndex } from '../../../src/feed/search-index.ts';

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hostler-search-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function page(
  name: string,
  text: string | undefined,
  more: Partial<FeedRecord> & { readonly kind?: ChangeKind } = {},
): FeedDocument {
  const url = `http://a.test/${name}`;
  const facts = { fetchedAt: '2026-01-01', status: 200, contentType: 'text/html', bytes: 1 };
  return { record: { cursor: '1-0-0', kind: 'new', url, digest: '', ...facts, ...more }, text };
}

test('SearchIndex finds words and phrases, title before text, and forgets what is gone', () =>
  withFolder(async (folder) => {
    const index = new SearchIndex(folder);
    await index.deliver(
      [
        page('one', 'The quick brown fox jumps over the lazy dog'),
        page('two', 'A dog and a café, quick', { title: 'Fox' }),
        page('hidden', 'a secret fox', { noindex: true }),
        page('copy', 'a copied fox', { kind: 'duplicate' }),
      ],
      '1-0-4',
    );
    const found = (words: string) => index.search(words, 10).map(({ url }) => url.slice(14));
    deepStrictEqual(found('fox'), ['two', 'one']);
    deepStrictEqual(found('"brown fox"'), ['one']);
    deepStrictEqual(found('cafe dog'), ['two']);
    deepStrictEqual(found('unheard'), []);
    strictEqual(index.search('quick', 1).length, 1);
    strictEqual(index.keptCursor(), '1-0-4');
    await index.deliver(
      [
        page('one', 'Another text', { kind: 'changed' }),
        page('two', undefined, { kind: 'gone' }),
        page('one', undefined, { kind: 'unchanged' }),
      ],
      '1-0-7',
    );
    deepStrictEqual(found('fox'), []);
    deepStrictEqual(found('another'), ['one']);
    await index.close();
    const again = new SearchIndex(folder);
    strictEqual(again.keptCursor(), '1-0-7');
    await again.close();
  }));

test('SearchIndex opens an index that a killed process left marked as in use', () =>
  withFolder(async (folder) => {
    await new SearchIndex(folder).close();
    mkdirSync(join(folder, 'pages.sqlite.lock'));
    const index = new SearchIndex(folder);
    deepStrictEqual(index.search('anything', 5), []);
    await index.close();
  }));

test('SearchIndex says of a file that is no index how to mend it', () =>
  withFolder((folder) => {
    writeFileSync(
      join(folder, 'pages.sqlite'),
      'this is not a database, but long enough to be one',
    );
    throws(() => new SearchIndex(folder), /pages\.sqlite/);
    return Promise.resolve();
  }));

test('matchQuery makes plain words and phrases of whatever is typed', () => {
  strictEqual(matchQuery('two words'), '"two" "words"');
  strictEqual(matchQuery('"a phrase" word'), '"a phrase" "word"');
  strictEqual(matchQuery('"not closed'), '"not closed"');
  strictEqual(matchQuery('fox AND (NEAR* ^x:y) -z'), '"fox" "AND" "(NEAR*" "^x:y)" "-z"');
  strictEqual(matchQuery(' * ( " '), '');
});
