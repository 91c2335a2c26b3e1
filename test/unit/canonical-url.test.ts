import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { type BaseUrl, parseBase } from '../../src/domain/base-url.ts';
import { createIdentityRules } from '../../src/domain/canonical-query.ts';
import { CRAWL_RULES, canonicalize, discoverUrl } from '../../src/domain/canonical-url.ts';
import { resolveFast, resolveUrl } from '../../src/domain/resolve-url.ts';
import { isSessionParameter } from '../../src/domain/session-identifiers.ts';
import { TrackingParameters } from '../../src/domain/tracking-parameters.ts';
import { normalizeEscapes } from '../../src/domain/url-escapes.ts';

const MD5 = '0123456789abcdef0123456789abcdef';
const base = parseBase('http://site.test:8080/a/b/page?q#f') as BaseUrl;

function canonicalOf(url: string, rules = CRAWL_RULES): string {
  const result = canonicalize(url, rules);
  return result.kind === 'canonical' ? result.canonical : result.reason;
}

test('canonicalize names the parts of a URL', () => {
  deepStrictEqual(canonicalize('HTTPS://user:pw@Example.COM.:8443/%7ea/?b=1&a=2#f'), {
    kind: 'canonical',
    canonical: 'https://user:pw@example.com.:8443/~a/?a=2&b=1',
    host: 'example.com',
    scheme: 'https',
    port: 8443,
    origin: 'https://example.com.:8443',
    pathStart: 33,
  });
  deepStrictEqual(canonicalize('http://[2001:DB8::1]:80'), {
    kind: 'canonical',
    canonical: 'http://[2001:db8::1]/',
    host: '[2001:db8::1]',
    scheme: 'http',
    port: 80,
    origin: 'http://[2001:db8::1]',
    pathStart: 20,
  });
});

test('canonicalize rejects with the reason', () => {
  const reasonOf = (url: string): string => {
    const result = canonicalize(url);
    return result.kind === 'rejected' ? result.reason : result.canonical;
  };
  strictEqual(reasonOf('mailto:a@b'), 'not-http');
  strictEqual(reasonOf('ftp://files.example/'), 'not-http');
  strictEqual(reasonOf(' java\tscript:void(0)'), 'not-http');
  strictEqual(reasonOf(`data:text/plain,${'x'.repeat(100_000)}`), 'not-http');
  strictEqual(reasonOf('/relative'), 'invalid');
  strictEqual(reasonOf('http://a b/'), 'invalid');
  strictEqual(reasonOf('http://[::1/'), 'invalid');
  strictEqual(reasonOf(`http://h/${'x'.repeat(8192)}`), 'too-long');
  // 3,000 characters that become 9,000.
  strictEqual(reasonOf(`http://h/${'"'.repeat(3000)}`), 'too-long');
  strictEqual(reasonOf(`http://${'a.'.repeat(127)}com/`), 'host-too-long');
});

test('canonicalize keeps what other crawlers lose: double escapes, bare percent signs, odd hosts', () => {
  for (const url of [
    'http://h/cmp/Supermercados-Dia%25',
    'http://h/a%26b%3Bc',
    'http://h/?u=http%253A%252F%252Fx',
    'http://h/100%',
    'http://h/?q=100%',
    'http://h/%zz',
    'http://doesnotexist_a_b.example.com/',
    "http://h/141-O'Canoe*",
    'http://a.com./',
    'http://10.0.0.xn--pokxncvks/',
  ]) {
    strictEqual(canonicalOf(url), url);
  }
  strictEqual(canonicalOf('https://example%2Ecom/'), 'https://example.com/');
  strictEqual(canonicalOf('http://www7.h/#!/x'), 'http://www7.h/');
});

test('normalizeEscapes never builds an escape out of a bare percent sign', () => {
  strictEqual(normalizeEscapes('%%32e/'), '%%32e/');
  strictEqual(normalizeEscapes('%2%65/'), '%2%65/');
  strictEqual(normalizeEscapes('%2z%65/'), '%2ze/');
  strictEqual(normalizeEscapes('%%%2541%7e%c3'), '%%%2541~%C3');
});

test('canonicalize sorts parameters by name, stable, and drops empty and tracking ones', () => {
  strictEqual(canonicalOf('http://h/?b=2&a=9&b=1&&A=3&'), 'http://h/?A=3&a=9&b=2&b=1');
  strictEqual(canonicalOf('http://h/?utm_source=x&UTM_Medium=y&fbclid&%67clid=1'), 'http://h/');
  strictEqual(canonicalOf('http://h/?q=utm_source&gclids=1'), 'http://h/?gclids=1&q=utm_source');
  strictEqual(canonicalOf('http://h/?=1&=0&a'), 'http://h/?=1&=0&a');
});

test('TrackingParameters lets hosts keep and drop names of their own', () => {
  const tracking = new TrackingParameters({
    drop: ['ref'],
    keep: ['igsh'],
    hosts: { 'shop.test': { drop: ['Pos_*'], keep: ['utm_id'] } },
  });
  const rules = createIdentityRules({ stripSessions: false, tracking });
  const all = 'igsh=1&pos_list=2&ref=3&utm_id=4';
  strictEqual(
    canonicalOf(`http://www.shop.test/?${all}`, rules),
    'http://www.shop.test/?igsh=1&utm_id=4',
  );
  strictEqual(
    canonicalOf(`http://notshop.test/?${all}`, rules),
    'http://notshop.test/?igsh=1&pos_list=2',
  );
});

test('CRAWL_RULES strip session identifiers where servers put them', () => {
  strictEqual(canonicalOf(`http://h/a;jsessionid=${MD5}.node1?b=1`), 'http://h/a?b=1');
  strictEqual(canonicalOf(`http://h/(S(abcdefghijklmnopqrstuvwx))/a.aspx`), 'http://h/a.aspx');
  strictEqual(
    canonicalOf('http://h/(abcdefghijklmnopqrstuvwx)'),
    'http://h/(abcdefghijklmnopqrstuvwx)',
  );
  strictEqual(canonicalOf(`http://h/?x=1&PHPSESSID=${MD5}`), 'http://h/?x=1');
  strictEqual(canonicalOf(`http://h/?a=1;jsessionid=${MD5}`), 'http://h/?a=1');
  strictEqual(canonicalOf(`http://h/a/..;jsessionid=${MD5}`), `http://h/a/..;jsessionid=${MD5}`);
  strictEqual(isSessionParameter('ASPSESSIONIDQABCDEFG', 'ABCDEFGHIJKLMNOPQRSTUVWX'), true);
  strictEqual(isSessionParameter('NewsID', MD5), false);
  strictEqual(isSessionParameter('sid', 'xyz'), false);
});

test('discoverUrl requests the page spelling and identifies the canonical one', () => {
  deepStrictEqual(discoverUrl('../%7Ex?utm_source=m&b=1#top', base), {
    kind: 'url',
    request: 'http://site.test:8080/a/%7Ex?utm_source=m&b=1',
    canonical: 'http://site.test:8080/a/~x?b=1',
    host: 'site.test',
  });
  const same = discoverUrl('c', base);
  ok(same.kind === 'url');
  strictEqual(same.request, same.canonical);
  notStrictEqual(same.request, base.href);
  deepStrictEqual(discoverUrl('#f', base), {
    kind: 'url',
    request: 'http://site.test:8080/a/b/page?q',
    canonical: 'http://site.test:8080/a/b/page?q',
    host: 'site.test',
  });
  deepStrictEqual(discoverUrl('tel:1', base), { kind: 'rejected', reason: 'not-http' });
});

test('resolveFast settles the references that pages are made of, and leaves the rest open', () => {
  const isFast = (reference: string): boolean =>
    resolveFast(reference, base, { marks: 0, host: '' }) !== undefined;
  const settled = [
    ...[
      '',
      '#top',
      '?page=2',
      '/',
      '/a/b.html',
      '/a%20b?c=d&e=%C3%A9#f',
      'c',
      'home/',
      './c',
      '../../c',
    ],
    ...[
      '//cdn.test/x',
      'http://site.test',
      'https://www.other.test/a/?b#c',
      '.well-known/x',
      'a/b:c',
    ],
  ];
  for (const reference of settled) ok(isFast(reference), reference);
  const open = [
    ...[
      ' a',
      'a ',
      'a b',
      '/é',
      '/a/../b',
      '/a/%2E/b',
      '..',
      'HTTP://a/',
      'http://A/',
      'http://1.2.3.4/',
    ],
    ...[
      'http://a:80/',
      'http://xn--a/',
      'http://u@a/',
      'mailto:a',
      '\\\\a',
      '/\\a',
      '/^',
      "?'",
      'http:a',
    ],
  ];
  for (const reference of open) ok(!isFast(reference), reference);
});

test('resolveUrl resolves against a base whose host only the standard accepts', () => {
  const odd = parseBase('http://xn--a.test/x/') as BaseUrl;
  strictEqual(resolveUrl('xn--b/ü', odd), 'http://xn--a.test/x/xn--b/%C3%BC');
  strictEqual(resolveUrl('//XN--b:81/', odd), 'http://xn--b:81/');
  strictEqual(resolveUrl('http://xn--a.é/', odd), undefined);
});
