// URLs as pages write them and as an enemy would (steps 1 and 12): canonicalised in linear time, to something bounded that is its own
// canonical form, whatever they hold. That it agrees with the platform is in canonical-url.test.ts.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { type BaseUrl, parseBase } from '../../src/domain/base-url.ts';
import { CRAWL_RULES, canonicalize, discoverUrl } from '../../src/domain/canonical-url.ts';
import { ordinaryShape } from '../../src/domain/url-shape.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, keptBytes, shapes, textOf } from '../support/fuzz/linear.ts';

const BASE = parseBase('http://site.test/dir/page?q=1') as BaseUrl;
/** Without the bound on length, behind which a quadratic step would hide. */
const UNBOUNDED = { ...CRAWL_RULES, urlCharsMax: 1 << 22 };
const PIECES = [
  ...['/', '\\', '?', '#', '%', ':', '@', '.', ';', '&', '=', '+', ' ', '\t', '\n', '\0', '|', '['],
  ...['..', './', '../', '%2e', '%2F', '%4', '%41', '%zz', '%25', '%E2%82%AC', 'a', '1', '-'],
  ...['\xe9', '\u4f60', '\ud800', '\ufb00', '\u3002', '\xad', 'xn--', 'xn--zca', '0x7f', '[::1]'],
  ...['http:', 'https://', '//', 'javascript:', 'user:pw@', ':80', ':99999', 'www.', 'test'],
  ...['utm_source=a&', 'a=b&', ';jsessionid=0123456789abcdef0123456789abcdef', 'PHPSESSID=1&'],
];

fuzz('canonicalize reads any URL in linear time', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => canonicalize(`http://${text}`, UNBOUNDED));
  checkLinear(shape, (text) => canonicalize(`http://site.test/${text}`, UNBOUNDED));
});

fuzz('discoverUrl reads any reference in linear time', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => discoverUrl(text, BASE, UNBOUNDED));
});

const whole = fc.constantFrom(
  'https://user:pw@www.site.test:8443/a/b;c/../d%20e?utm_source=x&b=2&a=1#f',
  '//other.test/%E2%82%AC?q=%5B%5D&q=1',
  '../up/./page.html?PHPSESSID=0123456789abcdef0123456789abcdef',
  'http://[2001:db8::1]:80/x',
  'http://b\xfccher.test/\u4f60',
);
const bytes = damaged(
  whole.map((url) => Buffer.from(url, 'utf8')),
  '/\\?#%:@.;&=[]\0\n\t \x7f\xff',
);

fuzz('discoverUrl gives canonical URLs that stay what they are, or refuses', bytes, (reference) => {
  const found = discoverUrl(reference.toString('utf8'), BASE);
  if (found.kind === 'rejected') return;
  ok(/^https?:\/\/[!-~]+$/.test(found.canonical), found.canonical);
  ok(!found.canonical.includes('#'), found.canonical);
  const again = canonicalize(found.canonical, CRAWL_RULES);
  ok(again.kind === 'canonical', found.canonical);
  strictEqual(again.canonical, found.canonical);
  deepStrictEqual(canonicalize(again.canonical, CRAWL_RULES), again);
  ordinaryShape(found.canonical);
});

test('canonicalize keeps no more than a small multiple of what it read', () => {
  for (const unit of ['%', '\u4f60', 'a=b&', '/..', ';']) {
    const text = textOf({ start: 'http://site.test/?', unit, end: '' }, 1_000_000);
    const kept = keptBytes(() => canonicalize(text, UNBOUNDED));
    // A character may become nine, in three bytes of three escapes each, in one request and one canonical form.
    ok(kept < 40 * text.length, `${JSON.stringify(unit)}: ${kept} bytes`);
  }
});
