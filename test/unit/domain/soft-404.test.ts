// Soft 404s by repeats under unrelated paths: what is one, what is only another spelling of a page, and what the table forgets.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  repeatedPage,
  repeatedText,
  SOFT_404_COLUMNS,
  Soft404,
  UNRELATED_PATHS,
} from '../../../src/domain/soft-404.ts';

const NOTICE = repeatedPage('http://site.test/first-nonsense');

/** Whether each of these, all showing one page, is a soft 404. */
function verdicts(paths: readonly string[], table = new Soft404(undefined)): boolean[] {
  return paths.map((path) => table.seen(`http://site.test${path}`, NOTICE));
}

test('Soft404.seen calls a page one that four unrelated paths show, and all after', () => {
  deepStrictEqual(verdicts(['/a', '/b/c', '/about.html', '/old/shop/', '/z']), [
    ...[false, false, false],
    ...[true, true],
  ]);
});

test('Soft404.seen takes paths that differ in numbers, ids and queries for one', () => {
  const paths = Array.from({ length: 40 }, (_, n) => `/item/${n}?session=a${n}`);
  ok(!verdicts([...paths, '/item/a7b', '/item/print?all=1', '/item/amp']).includes(true));
});

test('Soft404 goes on from its row, and knows the page by which others are judged', () => {
  const table = new Soft404(undefined);
  verdicts(['/a', '/b', '/c'], table);
  strictEqual(table.has(NOTICE), false);
  const again = new Soft404(table.stored());
  strictEqual(again.seen('http://site.test/b', NOTICE), false, 'seen before');
  strictEqual(again.seen('http://site.test/d', NOTICE), true);
  ok(again.has(NOTICE));
  ok(!again.has(repeatedText(77)));
});

test('Soft404 keeps what it has found while many pages repeat something once', () => {
  const table = new Soft404(undefined);
  verdicts(['/a', '/b', '/c', '/d'], table);
  for (let page = 1; page <= 1_000; page += 1) {
    table.seen(`http://site.test/x${page}`, repeatedText(page * 7_919));
  }
  ok(table.has(NOTICE));
  strictEqual(table.stored().length, 8 * SOFT_404_COLUMNS);
  strictEqual(UNRELATED_PATHS, 4);
});
