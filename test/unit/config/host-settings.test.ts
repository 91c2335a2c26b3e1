// Settings of single hosts: what is taken, what is refused without repeating it, and what they come to.
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { HostSettings } from '../../../src/app/host-settings.ts';
import { stopText } from '../../../src/app/stop-words.ts';
import { CrawlError } from '../../../src/base/errors.ts';
import { redactedConfig } from '../../../src/config/redact-config.ts';
import { resolveConfig } from '../../../src/config/resolve-config.ts';
import { hostFieldsOf } from '../../../src/net/host-fields.ts';

const resolve = (override: object) =>
  resolveConfig({ file: { hostOverrides: [{ pattern: 'a.test', ...override }] } });

test('hostOverrides takes fields, a login, cookies and a budget', () => {
  const override = {
    headers: { 'X-Key': 'k', 'Accept-Language': 'cy, en;q=0.5' },
    login: 'user:pass: word',
    cookies: 'a=1; b="2"; c=',
    urls: 50,
    proxy: 'http://user:pass@[::1]:3128',
  };
  deepStrictEqual(resolve(override).hostOverrides, [{ pattern: 'a.test', ...override }]);
});

test('hostOverrides refuses what would break or forge a request, and repeats no value', () => {
  const cases = [
    { headers: { Host: 'secret' } },
    { headers: { 'content-LENGTH': 'secret' } },
    { headers: { Authorization: 'secret' } },
    { headers: { Cookie: 'secret' } },
    { headers: { 'X-A': 'secret\r\nX-B: 1' } },
    { headers: { 'X A': 'secret' } },
    { headers: { 'X-A': 7 } },
    { headers: ['secret'] },
    { headers: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`x-${at}`, 'secret'])) },
    { login: 'secret' },
    { login: 'user:secret\u0000' },
    { cookies: 'secret' },
    { cookies: 'a=secret;b=2' },
    { cookies: 'a=secret\n' },
    { proxy: 'http://user:secret@proxy.example:3128' },
    { proxy: 'socks5://secret@127.0.0.1:1080' },
    { proxy: 'http://user:secret@127.0.0.1' },
    { proxy: 'http://user:secret@127.0.0.999:1' },
    { urls: 0 },
    { password: 'secret' },
  ];
  for (const override of cases) {
    throws(
      () => resolve(override),
      (error) => {
        ok(error instanceof CrawlError && error.code === 'config', JSON.stringify(override));
        ok(!error.message.includes('secret'), error.message);
        return true;
      },
      JSON.stringify(override),
    );
  }
});

test('redactedConfig leaves names and paces, and no secret', () => {
  const config = resolve({
    minGapMs: 700,
    headers: { 'X-Key': 's' },
    login: 'u:s',
    cookies: 'c=s',
    proxy: 'http://u:s@127.0.0.1:3128',
  });
  deepStrictEqual(redactedConfig(config).hostOverrides, [
    {
      pattern: 'a.test',
      minGapMs: 700,
      headers: { 'X-Key': '(redacted)' },
      login: '(redacted)',
      cookies: '(redacted)',
      proxy: 'http://(redacted)@127.0.0.1:3128',
    },
  ]);
});

test('HostSettings gives a host the same policy until settings are replaced', () => {
  const settings = new HostSettings(resolve({ minGapMs: 700, urls: 5 }));
  strictEqual(settings.gapPolicyOf('a.test'), settings.gapPolicyOf('a.test'));
  strictEqual(settings.gapPolicyOf('b.test'), settings.gapPolicyOf('c.test'));
  deepStrictEqual([settings.gapPolicyOf('a.test').minGapMs, settings.urlsOf('a.test')], [700, 5]);
  deepStrictEqual([settings.urlsOf('b.test'), settings.requestOf('a.test')], [10_000, undefined]);
  settings.replace(resolve({ minGapMs: 800, login: 'u:p' }));
  strictEqual(settings.gapPolicyOf('a.test').minGapMs, 800);
  strictEqual(settings.requestOf('a.test')?.login, 'u:p');
  strictEqual(settings.requestOf('b.test'), undefined);
});

test('hostFieldsOf replaces standing fields of the same name and hides values from the archive', () => {
  const standing = ['User-Agent', 'x', 'Accept', '*/*'];
  const set = { headers: { accept: 'text/html', 'X-Key': 'secret' }, login: 'u:p', cookies: 'c=1' };
  const fields = hostFieldsOf(standing, set);
  deepStrictEqual(fields?.sent, [
    ...['User-Agent', 'x', 'accept', 'text/html', 'X-Key', 'secret'],
    ...['Authorization', 'Basic dTpw', 'Cookie', 'c=1'],
  ]);
  deepStrictEqual(fields?.shown, [
    ...['User-Agent', 'x', 'accept', 'text/html', 'X-Key', '(redacted)'],
    ...['Authorization', '(redacted)', 'Cookie', '(redacted)'],
  ]);
  strictEqual(hostFieldsOf(standing, {}), undefined);
});

test('stopText names what a stop waits for', () => {
  const quiet = {
    ...{ shard: 0, inFlight: 0, quiet: true, waiting: [0, 0, 0, 0] as const, backingOff: 0 },
    ...{ awaiting: 0, due: 0, nextGapInMs: 0, nextInMs: 0, dueInMs: 0, parseBacklog: 0 },
    ...{ rendering: 0, pendingBytes: 0, linksWaiting: 0, draining: true },
  };
  const busy = { ...quiet, inFlight: 3, pendingBytes: 12_345 };
  ok(stopText([quiet]).includes('files to be closed'));
  ok(stopText([busy, quiet]).includes('3 requests in flight, cut after 5 s, 13 kB'));
});
