// What servers put into header fields, and pages into their metadata: any text, however long, is read in linear time without a throw.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { redirectTarget, verdictOf } from '../../src/actors/page-outcome.ts';
import { wallMs } from '../../src/base/units.ts';
import { freshnessLifetimeMs } from '../../src/domain/cache-control.ts';
import { encodingOfMetaContent } from '../../src/domain/charset-prescan.ts';
import { parseHttpDate } from '../../src/domain/http-date.ts';
import { parseLinkHeader } from '../../src/domain/link-header.ts';
import { resolveLocation } from '../../src/domain/location.ts';
import { parseMediaType } from '../../src/domain/media-type.ts';
import { parseRefresh } from '../../src/domain/meta-refresh.ts';
import { parseRetryAfter } from '../../src/domain/retry-after.ts';
import { parseRobotsDirectives, robotsHeaderSources } from '../../src/domain/robots-meta.ts';
import { robotsFreshMs } from '../../src/domain/robots-policy.ts';
import { robotsRedirectTarget } from '../../src/domain/robots-url.ts';
import { feedTimestamp, w3cTimestamp } from '../../src/domain/timestamps.ts';
import { answer } from '../fixtures/checkpoint-batches.ts';
import { fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, shapes } from '../support/fuzz/linear.ts';

const NOW = wallMs(1_700_000_000_000);
const PIECES = [
  ...[' ', '\t', ',', ';', '"', "'", '\\', '=', '<', '>', ':', '#', '?', '%', '/', '.', '-', '*'],
  ...['a', 'Z', '0', '9', '\0', '\x7f', '\xe9', '\u20ac', '\ud800', '\r\n', '\n', '()'],
  ...['max-age=', 'no-cache', 'no-', 'rel=', 'rel="next', '<a>;', ', <', 'anchor', 'title*='],
  ...['charset=', 'text/html', 'url=', '0;url=', 'noindex', 'none', 'otherbot:', 'hostler:'],
  ...['unavailable_after:', 'Mon, ', '01 Jan ', '2024', 'GMT', '00:00', 'T', '+00:00'],
  ...['http://', '//', '../', '%2e', '[::', '@', 'xn--', 'javascript:'],
];

/** Every reader of one text. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseHttpDate,
  parseLinkHeader,
  parseMediaType,
  parseRefresh,
  encodingOfMetaContent,
  feedTimestamp,
  w3cTimestamp,
  parseRetryAfter: (text) => parseRetryAfter(text, NOW, 60_000),
  resolveLocation: (text) => resolveLocation(text, 'http://site.test/dir/page?q=1'),
  robotsRedirectTarget: (text) => robotsRedirectTarget('http://site.test/', text),
  robotsFreshMs: (text) => robotsFreshMs(text, 0),
  freshnessLifetimeMs: (text) => freshnessLifetimeMs(['Cache-Control', text, 'Age', text], NOW),
  robotsDirectives: (text) => parseRobotsDirectives(robotsHeaderSources([text]), 'hostler'),
};

for (const [name, read] of Object.entries(READERS)) {
  fuzz(`${name} reads any text in linear time`, shapes(PIECES), (shape) =>
    checkLinear(shape, read),
  );
}

test('robotsRedirectTarget and resolveLocation take bounded time for a host of non-ASCII characters (found by fuzzing)', () => {
  for (const read of [READERS.robotsRedirectTarget, READERS.resolveLocation]) {
    ok(read !== undefined);
    checkLinear({ start: 'http://', unit: 'étitle*=', end: '0' }, read);
  }
});

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join('')),
);

fuzz('header readers keep their bounds on any text', texts, (text) => {
  for (const read of Object.values(READERS)) read(text);
  ok(parseLinkHeader(text).length <= 100);
  const fresh = robotsFreshMs(text, 0);
  ok(fresh >= 600_000 && fresh <= 86_400_000, `${fresh}`);
  const wait = parseRetryAfter(text, NOW, 60_000) ?? 0;
  ok(wait >= 0 && wait <= 60_000, `${wait}`);
  const location = resolveLocation(text, 'http://site.test/dir/');
  ok(location === undefined || /^https?:\/\/[^#]+$/.test(location), location);
});

fuzz('verdictOf and redirectTarget judge an answer with any fields', fc.array(texts), (values) => {
  const names = ['Retry-After', 'Location', 'Content-Type', 'Cache-Control', 'Age'];
  const headers = values.flatMap((value, at) => [names[at % names.length] as string, value]);
  for (const status of [200, 301, 403, 429, 503, 999]) {
    const outcome = { ...answer('body', status), headers };
    const { failure, retryAfterMs } = verdictOf(outcome, NOW);
    strictEqual(failure !== undefined, status === 429 || (status >= 500 && status <= 599));
    ok(retryAfterMs >= 0 && retryAfterMs <= 86_400_000, `${retryAfterMs}`);
    const target = redirectTarget(outcome, 'http://site.test/a');
    ok(target === undefined || status === 301, target);
  }
});
