import { strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { AssertionFailure, assert } from '../../src/base/assert.ts';
import { CrawlError } from '../../src/base/errors.ts';
import { parseUrl } from '../../src/base/parse-url.ts';

test('assert throws AssertionFailure with its text when the condition is false', () => {
  throws(() => assert(false, () => 'because'), AssertionFailure);
  assert(true, () => 'never built');
});

test('CrawlError.exitStatus follows the table of exit statuses', () => {
  strictEqual(new CrawlError('config', 'x').exitStatus, 2);
  strictEqual(new CrawlError('disk-full', 'x').exitStatus, 3);
  strictEqual(new CrawlError('data-locked', 'x').exitStatus, 4);
});

test('parseUrl takes good URLs with letters of Latin-1, however often it is asked', () => {
  for (let round = 0; round < 200_000; round += 1) parseUrl(`http://a.test/${round & 7}`);
  strictEqual(parseUrl('http://b\u00fccher.test/\u00fc')?.href, 'http://xn--bcher-kva.test/%C3%BC');
  strictEqual(parseUrl('\u00fc', 'http://a.test/')?.href, 'http://a.test/%C3%BC');
  strictEqual(parseUrl('http://a b/'), undefined);
});
