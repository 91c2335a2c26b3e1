import { ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { CrawlError } from '../../src/base/errors.ts';
import { priorityBand, priorityScore } from '../../src/domain/priority.ts';
import { RegistrableDomains, registrableDomainOf } from '../../src/domain/registrable-domain.ts';
import { Scope } from '../../src/domain/scope.ts';
import { trapOf, trapOptions } from '../../src/domain/traps.ts';

const OPTIONS = trapOptions(2026);

test('registrableDomainOf knows private suffixes, addresses and names without a domain', () => {
  strictEqual(registrableDomainOf('a.b.example.co.uk'), 'example.co.uk');
  strictEqual(registrableDomainOf('user.github.io'), 'user.github.io');
  strictEqual(registrableDomainOf('github.io'), 'github.io');
  strictEqual(registrableDomainOf('127.0.0.1'), '127.0.0.1');
  strictEqual(registrableDomainOf('[::1]'), '[::1]');
  strictEqual(registrableDomainOf('localhost'), 'localhost');
  strictEqual(registrableDomainOf('a_b.site.test'), 'site.test');
  strictEqual(registrableDomainOf('.'), '.');
});

test('RegistrableDomains answers as registrableDomainOf does, however small its cache', () => {
  const domains = new RegistrableDomains(2);
  for (let at = 0; at < 50; at += 1) {
    const host = `w${at % 7}.d${at % 5}.example.com`;
    strictEqual(domains.of(host), registrableDomainOf(host));
  }
});

test('Scope.admits what its mode says and nothing else', () => {
  const seeds = ['http://www.site.test/docs/index.html?x=/y', 'https://other.test/'];
  const verdicts = (mode: 'host' | 'domain' | 'prefix' | 'all'): string => {
    const scope = new Scope({ mode, seeds });
    const urls = [
      ['http://www.site.test/blog', 'www.site.test'],
      ['https://www.site.test/docs/a', 'www.site.test'],
      ['http://api.site.test/docs/', 'api.site.test'],
      ['http://third.test/', 'third.test'],
    ] as const;
    return urls.map(([url, host]) => scope.admits(url, host) ?? 'in').join(' ');
  };
  strictEqual(verdicts('host'), 'in in scope scope');
  strictEqual(verdicts('domain'), 'in in in scope');
  strictEqual(verdicts('prefix'), 'scope in scope scope');
  strictEqual(verdicts('all'), 'in in in in');
});

test('Scope.admits applies include and exclude, and refuses what is too long for them', () => {
  const scope = new Scope({
    mode: 'all',
    seeds: [],
    include: ['^https?://h/', 'x$'],
    exclude: ['[.]pdf$'],
    matchCharsMax: 100,
  });
  strictEqual(scope.admits('http://h/a', 'h'), undefined);
  strictEqual(scope.admits('http://g/x', 'g'), undefined);
  strictEqual(scope.admits('http://g/a', 'g'), 'include');
  strictEqual(scope.admits('http://h/a.pdf', 'h'), 'exclude');
  strictEqual(scope.admits(`http://h/${'a'.repeat(100)}`, 'h'), 'include');
  const plain = new Scope({ mode: 'all', seeds: [], matchCharsMax: 100 });
  strictEqual(plain.admits(`http://h/${'a'.repeat(100)}`, 'h'), undefined);
});

test('Scope throws a config error on a regular expression that does not compile', () => {
  throws(
    () => new Scope({ mode: 'all', seeds: [], exclude: ['('] }),
    (error) => error instanceof CrawlError && error.code === 'config' && error.remedy !== '',
  );
});

test('priorityScore rises with each good sign and stays within 0 and 1', () => {
  const page = { depth: 4, inLinkDomains: 0, isHome: false };
  const score = priorityScore(page);
  ok(priorityScore({ ...page, depth: 3 }) > score);
  ok(priorityScore({ ...page, inLinkDomains: 10 }) > score);
  ok(priorityScore({ ...page, changeRate: 0.9 }) > score);
  ok(priorityScore({ ...page, sitemapPriority: 0.9 }) > score);
  ok(priorityScore({ ...page, isHome: true }) > score);
  const any = fc.double();
  fc.assert(
    fc.property(
      any,
      any,
      any,
      any,
      fc.boolean(),
      any,
      (depth, inLinkDomains, changeRate, sitemapPriority, isHome, operatorHint) => {
        const value = priorityScore({
          depth,
          inLinkDomains,
          changeRate,
          sitemapPriority,
          isHome,
          operatorHint,
        });
        ok(value >= 0 && value <= 1);
      },
    ),
  );
});

test('priorityBand puts home pages first, deep pages last and suspects always last', () => {
  strictEqual(priorityBand({ depth: 1, inLinkDomains: 0, isHome: true }), 0);
  strictEqual(priorityBand({ depth: 3, inLinkDomains: 0, isHome: false }), 1);
  strictEqual(priorityBand({ depth: 8, inLinkDomains: 0, isHome: false }), 2);
  strictEqual(priorityBand({ depth: 8, inLinkDomains: 0, isHome: false, operatorHint: 1 }), 0);
  strictEqual(priorityBand({ depth: 0, inLinkDomains: 0, isHome: true, operatorHint: -1 }), 2);
  strictEqual(priorityBand({ depth: 0, inLinkDomains: 9, isHome: true, isSuspect: true }), 2);
});

test('trapOf tells traps from their look-alikes', () => {
  const ruleOf = (url: string): string => trapOf(url, OPTIONS)?.rule ?? 'none';
  strictEqual(ruleOf(`http://h/${'a'.repeat(2000)}`), 'length');
  strictEqual(ruleOf('http://h/1/2/1/2/1/2/1/2/'), 'repeating-segments');
  strictEqual(ruleOf('http://h/a/b/c/a/b/c/a/b/c/'), 'repeating-segments');
  strictEqual(ruleOf('http://h/2011/11/11/11-things'), 'none');
  strictEqual(ruleOf('http://www.h.test/www.h.test/a'), 'host-in-path');
  strictEqual(
    ruleOf(`http://h/?${Array.from({ length: 40 }, (_, at) => `k${at}=1`).join('&')}`),
    'parameters',
  );
  strictEqual(ruleOf('http://h/calendar/2026/11/'), 'calendar');
  strictEqual(ruleOf('http://h/2031/07/'), 'calendar');
  strictEqual(ruleOf('http://h/?month=2044-01'), 'calendar');
  strictEqual(ruleOf('http://h/archive/2024/05/'), 'none');
  strictEqual(ruleOf('http://h/events/2026-05-17/summer-fair'), 'none');
  strictEqual(ruleOf('http://h/node/9031'), 'none');
  strictEqual(ruleOf('http://h/l?filter[color]=red&filter[size]=m'), 'facets');
  strictEqual(ruleOf('http://h/l?filter%5Bcolor%5D=red&filter%5Bsize%5D=m'), 'facets');
  strictEqual(ruleOf('http://h/c?[category:candy][price:5][taste:sour]'), 'facets');
  strictEqual(ruleOf('http://h/product?size=xl'), 'none');
  strictEqual(ruleOf('http://h/cart?order=123'), 'none');
  strictEqual(ruleOf('http://h/index.php?view=article&id=5'), 'none');
  strictEqual(ruleOf('http://h/tag/new-york'), 'none');
  strictEqual(ruleOf('http://h/wiki/New+York+City+Hall'), 'none');
  strictEqual(ruleOf('http://h/list?page=99999'), 'pagination');
});

test('trapOf never throws and takes bounded time on any string', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc
      .array(
        fc.constantFrom('/', '?', '[', ']', '%5b', '=', '&', 'a', '2031', '-07', 'http://', '.'),
        { maxLength: 60 },
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (url) => {
      const trap = trapOf(url, OPTIONS);
      ok(trap === undefined || trap.detail.length <= 80);
    }),
    { numRuns: 2_000 },
  );
  const from = process.cpuUsage();
  for (const unit of ['/', '[', ']', '%5b', '][', '&', '=', ',', 'date', 'a/', '1/', '+']) {
    for (const head of ['http://h/', 'http://h/?', 'http://h/tag/', 'http://h/?a=']) {
      trapOf((head + unit.repeat(2000)).slice(0, 2000), OPTIONS);
    }
  }
  ok(process.cpuUsage(from).user < 500_000);
});
