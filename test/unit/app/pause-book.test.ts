import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import { PauseBook } from '../../../src/app/pause-book.ts';

test('PauseBook.holds while something is paused, until it is resumed or its time is over', () => {
  const book = new PauseBook();
  strictEqual(book.holds(0), false);
  book.pause('a.test', 0);
  book.pause('192.0.2.1', 0, Number.POSITIVE_INFINITY);
  strictEqual(book.holds(0), true);
  book.resume('a.test');
  strictEqual(book.holds(1e12), true);
  book.resume('192.0.2.1');
  strictEqual(book.holds(0), false);
  book.pause('b.test', 0);
  strictEqual(book.holds(86_400_000), false);
  book.setAll(true);
  strictEqual(book.holds(0), true);
  book.setAll(false);
  strictEqual(book.holds(0), false);
});
