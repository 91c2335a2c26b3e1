import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { testRobots } from '../../../src/domain/robots-test.ts';
import {
  followRobotsRedirect,
  governs,
  isRobotsRedirect,
  robotsRedirectTarget,
  robotsUrlOf,
} from '../../../src/domain/robots-url.ts';

test('robotsUrlOf keeps scheme, host and port and drops all else', () => {
  strictEqual(robotsUrlOf('https://user@example.com:443/a?b#c'), 'https://example.com/robots.txt');
  strictEqual(robotsUrlOf('http://a.com.:8080/x'), 'http://a.com:8080/robots.txt');
  strictEqual(robotsUrlOf('http://[::1]:80/'), 'http://[::1]/robots.txt');
  for (const url of ['ftp://a/x', 'not a url', 'mailto:a@b', ''])
    strictEqual(robotsUrlOf(url), undefined);
});

test('governs holds for URLs of the same scheme, host and port only', () => {
  strictEqual(governs('http://a.test/robots.txt', 'http://a.test.:80/x'), true);
  for (const url of ['https://a.test/', 'http://a.test:81/', 'http://b.a.test/', 'x']) {
    strictEqual(governs('http://a.test/robots.txt', url), false, url);
  }
  strictEqual(governs('x', 'x'), false);
});

test('robotsRedirectTarget resolves relative targets and refuses other schemes', () => {
  const from = 'http://a.test/robots.txt';
  strictEqual(robotsRedirectTarget(from, '/robots.txt?x'), 'http://a.test/robots.txt?x');
  strictEqual(robotsRedirectTarget(from, 'r/1#f'), 'http://a.test/r/1');
  strictEqual(robotsRedirectTarget(from, '//u:p@b.test/r'), 'http://b.test/r');
  for (const location of ['', ' ', 'ftp://a/', 'javascript:0', 'http://[']) {
    strictEqual(robotsRedirectTarget(from, location), undefined, location);
  }
});

test('followRobotsRedirect follows five redirects and not the sixth', () => {
  const step = (followed: number, location: string | undefined): string =>
    followRobotsRedirect({ from: 'http://a.test/robots.txt', location, followed }).kind;
  deepStrictEqual(
    [step(0, '/r'), step(4, '/r'), step(5, '/r')],
    ['follow', 'follow', 'redirect-limit'],
  );
  strictEqual(step(0, undefined), 'redirect-invalid');
  deepStrictEqual(
    [300, 301, 302, 303, 304, 307, 308].filter(isRobotsRedirect),
    [301, 302, 303, 307, 308],
  );
});

test('testRobots answers with line, rule, delay and group', () => {
  const robotsTxt = Buffer.from('User-agent: hostler\nCrawl-delay: 3\nDisallow: /a\nSitemap: /s');
  deepStrictEqual(testRobots({ robotsTxt, userAgent: 'Hostler', url: 'http://x/a' }), {
    allowed: false,
    governed: true,
    line: 3,
    rule: 'Disallow: /a',
    crawlDelay: 3,
    group: 'hostler',
    sitemaps: ['http://x/s'],
  });
});

test('testRobots has no verdict for a URL of another origin', () => {
  const robotsTxt = Buffer.from('User-agent: *\nDisallow: /');
  const answer = testRobots({
    robotsTxt,
    userAgent: 'a',
    url: 'http://x/a',
    robotsUrl: 'https://x/robots.txt',
  });
  deepStrictEqual([answer.allowed, answer.governed, answer.line], [null, false, undefined]);
});
