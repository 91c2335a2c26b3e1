import { strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { AssertionFailure, assert } from '../../src/base/assert.ts';
import { CrawlError } from '../../src/base/errors.ts';

test('assert throws AssertionFailure with its text when the condition is false', () => {
  throws(() => assert(false, () => 'because'), AssertionFailure);
  assert(true, () => 'never built');
});

test('CrawlError.exitStatus follows the table of exit statuses', () => {
  strictEqual(new CrawlError('config', 'x').exitStatus, 2);
  strictEqual(new CrawlError('disk-full', 'x').exitStatus, 3);
  strictEqual(new CrawlError('data-locked', 'x').exitStatus, 4);
});
