import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import { wallMs } from '../../../src/base/units.ts';
import { freshnessLifetimeMs } from '../../../src/domain/cache-control.ts';
import { parseHttpDate } from '../../../src/domain/http-date.ts';
import {
  parseRetryAfter,
  RETRY_AFTER_MAX_MS,
  retryAfterOf,
} from '../../../src/domain/retry-after.ts';

const MOMENT = Date.UTC(1994, 10, 6, 8, 49, 37);
const NOW = wallMs(MOMENT);

test('parseHttpDate reads the three forms of RFC 9110 as the same moment', () => {
  strictEqual(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), MOMENT);
  strictEqual(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), MOMENT);
  strictEqual(parseHttpDate('Sun Nov  6 08:49:37 1994'), MOMENT);
  strictEqual(parseHttpDate('  sun, 6 nov 1994 08:49:37 gmt '), MOMENT);
});

test('parseHttpDate refuses impossible dates and what Date.parse would guess at', () => {
  const texts = [
    '',
    '0',
    '-1',
    'yesterday',
    '1994',
    '1994-11-06T08:49:37Z',
    'Wed, 31 Feb 2024 00:00:00 GMT',
    'Sun, 06 Nov 1994 25:00:00 GMT',
    'Sun, 06 Abc 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 PST',
    `Sun, 06 Nov 1994 08:49:37 GMT${' '.repeat(100)}x`,
  ];
  for (const text of texts) strictEqual(parseHttpDate(text), undefined, text);
});

test('parseHttpDate puts two-digit years into this century below 70', () => {
  strictEqual(parseHttpDate('Friday, 01-Jan-27 00:00:00 GMT'), Date.UTC(2027, 0, 1));
});

test('parseRetryAfter reads seconds and dates, and cuts both to the bound', () => {
  strictEqual(parseRetryAfter('7', NOW, 60_000), 7_000);
  strictEqual(parseRetryAfter(' 0 ', NOW, 60_000), 0);
  strictEqual(parseRetryAfter('99999999', NOW, 60_000), 60_000);
  strictEqual(parseRetryAfter('9'.repeat(400), NOW, 60_000), 60_000);
  strictEqual(parseRetryAfter('Sun, 06 Nov 1994 08:50:07 GMT', NOW, 60_000), 30_000);
  strictEqual(parseRetryAfter('Sun, 06 Nov 2094 08:50:07 GMT', NOW), RETRY_AFTER_MAX_MS);
  strictEqual(parseRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', NOW, 60_000), 0);
});

test('parseRetryAfter takes anything else for no value', () => {
  for (const text of ['-5', 'soon', '', '1.5', '7s', '0x10', '1e3', '7, 8']) {
    strictEqual(parseRetryAfter(text, NOW), undefined, text);
  }
});

test('retryAfterOf obeys the longest of several readable fields', () => {
  const headers = ['Retry-After', 'soon', 'retry-after', '3', 'RETRY-AFTER', '9', 'Age', '70'];
  strictEqual(retryAfterOf(headers, NOW), 9_000);
  strictEqual(retryAfterOf(['Date', 'x'], NOW), undefined);
});

test('freshnessLifetimeMs is max-age less Age, and nothing for no-store', () => {
  const control = (value: string, ...more: string[]) =>
    freshnessLifetimeMs(['Cache-Control', value, ...more], NOW);
  strictEqual(control('public, max-age=60'), 60_000);
  strictEqual(control('Max-Age="60"', 'Age', '20'), 40_000);
  strictEqual(control('max-age=60', 'Age', '100'), 0);
  strictEqual(control('max-age=60, no-cache'), 0);
  strictEqual(control('no-store'), 0);
  strictEqual(control('max-age=60, max-age=5'), 60_000);
  strictEqual(control(`max-age=${'9'.repeat(30)}`), 2 ** 31 * 1_000);
  strictEqual(control('max-age=soon'), 0);
  strictEqual(control('s-maxage=60'), undefined);
  strictEqual(freshnessLifetimeMs([], NOW), undefined);
});

test('freshnessLifetimeMs falls back to Expires less Date, and takes a bad Expires for expired', () => {
  const date = 'Sun, 06 Nov 1994 08:49:00 GMT';
  const expires = 'Sun, 06 Nov 1994 08:50:00 GMT';
  strictEqual(freshnessLifetimeMs(['Expires', expires, 'Date', date], NOW), 60_000);
  strictEqual(freshnessLifetimeMs(['Expires', expires], NOW), 23_000);
  strictEqual(freshnessLifetimeMs(['Expires', '0'], NOW), 0);
  strictEqual(freshnessLifetimeMs(['Expires', expires, 'Cache-Control', 'max-age=5'], NOW), 5_000);
});
