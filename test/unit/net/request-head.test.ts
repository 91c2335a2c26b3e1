import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { PayloadCollector } from '../../../src/net/payload-collector.ts';
import { requestFields, requestTarget } from '../../../src/net/request-head.ts';

test('requestTarget agrees with the URL parser on every form of URL', () => {
  const urls = [
    'http://a.test',
    'http://a.test/',
    'https://a.test/x?y=1',
    'http://a.test:8080/x',
    'http://a.test:80/',
    'https://a.test:443/x',
    'https://a.test:80/',
    'http://a.test:080/',
    'http://A.test/%7e',
    'http://a.test?q',
    'http://a.test/x#frag',
    'http://u:p@a.test/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://1.2.3.4:81/',
    'http://[::1]:8080/x',
    'http://a.test./x',
    'http://a_b.test/',
    'http://bücher.test/ü',
    'http://a.test/a b',
    'http://a.test/a"b|c',
    'http://a.test/x\\y',
    'http://a.test/a/../b',
    'http://2130706433/',
  ];
  for (const url of urls) {
    const target = requestTarget(url);
    const { origin, hostname, host, protocol, port, pathname, search } = new URL(url);
    strictEqual(target?.origin, origin, url);
    strictEqual(target.hostname, hostname, url);
    strictEqual(target.host, host, url);
    strictEqual(target.port, Number(port || (protocol === 'https:' ? 443 : 80)), url);
    // The page's own spelling of the path is sent: the fast way does not resolve dots or escape quotes, both legal on the wire.
    if (!/\.\.|["|\\]/.test(url)) strictEqual(target.path, pathname + search, url);
  }
});

test('requestTarget takes nothing but http and https', () => {
  for (const url of [
    '',
    'x',
    '/x',
    'ftp://a.test/',
    'file:///x',
    'http://',
    'http://a.test:99999/',
    'data:,x',
  ]) {
    strictEqual(requestTarget(url), undefined, url);
  }
});

test('requestFields sends validators only when they are well-formed', () => {
  const sent = (etag: string | undefined, lastModified: string | undefined) =>
    requestFields(['A', 'b'], etag, lastModified).slice(2);
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
  deepStrictEqual(sent(undefined, undefined), []);
  deepStrictEqual(sent('W/"a b"', undefined), []);
  deepStrictEqual(sent('W/"a\xe9"', date), [
    'If-None-Match',
    'W/"a\xe9"',
    'If-Modified-Since',
    date,
  ]);
  for (const etag of ['abc', '"', '"a"b"', '"a\r\nX: y"', `"${'x'.repeat(2_000)}"`, '']) {
    deepStrictEqual(sent(etag, 'yesterday'), [], etag);
  }
});

test('PayloadCollector joins pieces, never beyond its bound', () => {
  const bytes = (text: string) => Buffer.from(text);
  for (const declared of [undefined, 6, 4, 100, 2_000_000]) {
    const payload = new PayloadCollector(declared, 1_000);
    for (const piece of ['ab', '', 'cd', 'ef']) strictEqual(payload.add(bytes(piece)), true);
    strictEqual(Buffer.from(payload.join()).toString(), 'abcdef', `${declared}`);
  }
  for (const declared of [undefined, 100]) {
    const payload = new PayloadCollector(declared, 5);
    strictEqual(payload.add(bytes('abc')), true);
    strictEqual(payload.add(bytes('def')), false);
    strictEqual(payload.add(bytes('g')), false);
    strictEqual(payload.length, 5);
    strictEqual(Buffer.from(payload.join()).toString(), 'abcde');
  }
  const one = bytes('abc');
  const single = new PayloadCollector(3, 5);
  single.add(one);
  strictEqual(single.join(), one);
});
