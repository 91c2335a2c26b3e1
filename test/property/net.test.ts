// Properties of what step 9 reads from strangers: addresses, heads, Location, waits, coded bodies. Never a throw, always bounded.

import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { wallMs } from '../../src/base/units.ts';
import { freshnessLifetimeMs } from '../../src/domain/cache-control.ts';
import { resolveLocation } from '../../src/domain/location.ts';
import { parseRetryAfter } from '../../src/domain/retry-after.ts';
import { blockContains, parseAddress, parseBlock } from '../../src/net/address-block.ts';
import { AddressGuard } from '../../src/net/address-guard.ts';
import type { ContentCoding, Decoded } from '../../src/net/content-coding.ts';
import { decodeContent } from '../../src/net/content-decoding.ts';
import { requestTarget } from '../../src/net/request-head.ts';
import { readResponseHead } from '../../src/net/response-head.ts';

const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
});
const none = new AddressGuard([]);

/** Networks that ipaddr.js has a name for although they are reachable by all: AS112 (RFC 7534) and AMT (RFC 7450). */
const REACHABLE_NAMES = ['unicast', 'as112', 'amt'];

test('AddressGuard.admits agrees with the ranges of ipaddr.js on IPv4, mapped or not', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const expected = REACHABLE_NAMES.includes(ipaddr.IPv4.parse(address).range());
      strictEqual(none.admits(address), expected);
      strictEqual(none.admits(`::ffff:${address}`), expected);
      strictEqual(none.admits(`64:ff9b::${address}`), expected);
    }),
    { numRuns: 2_000 },
  );
});

test('AddressGuard.admits no IPv6 address that ipaddr.js calls anything but unicast, embedded IPv4 aside', () => {
  const embedding = ['ipv4Mapped', 'rfc6145', 'rfc6052', '6to4', 'teredo'];
  fc.assert(
    fc.property(fc.ipV6(), fc.boolean(), (address, isGlobal) => {
      const parsed = ipaddr.IPv6.parse(address);
      if (isGlobal) parsed.parts[0] = 0x2000 | (parsed.parts[0]! & 0x1fff);
      const range = parsed.range();
      if (range !== 'unicast' && !embedding.includes(range)) {
        strictEqual(none.admits(parsed.toString()), false, `${parsed.toString()} ${range}`);
      }
      if (
        isGlobal &&
        range === 'unicast' &&
        parsed.parts[0] !== 0x3fff &&
        parsed.parts[0] !== 0x2001
      ) {
        strictEqual(none.admits(parsed.toString()), true, parsed.toString());
      }
    }),
    { numRuns: 2_000 },
  );
});

test('blockContains compares exactly the first bits', () => {
  const bitsOf = (text: string): string => {
    const bytes = ipaddr.parse(text).toByteArray();
    return bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  };
  const pair = fc.oneof(
    fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 95 })),
  );
  fc.assert(
    fc.property(pair, fc.nat(128), ([base, other, bits], shared) => {
      const width = bitsOf(base).length;
      // An address that shares a chosen number of bits: random pairs hardly ever share more than two.
      const mixed = bitsOf(base).slice(0, shared) + bitsOf(other).slice(Math.min(shared, width));
      const bytes = mixed.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2));
      const address = ipaddr.fromByteArray(bytes).toString();
      const numeric = parseAddress(address);
      const expected = mixed.slice(0, bits) === bitsOf(base).slice(0, bits);
      strictEqual(
        numeric !== undefined && blockContains(parseBlock(`${base}/${bits}`), numeric),
        expected,
      );
    }),
    { numRuns: 2_000 },
  );
});

test('AddressGuard.admits takes any text without throwing', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      ok(!none.admits(text) || ipaddr.isValid(text));
    }),
  );
});

const fieldLine = fc.oneof(
  latin1,
  fc
    .tuple(
      fc.constantFrom('Content-Length', 'content-length ', 'Transfer-Encoding', 'X', ' X', ''),
      fc.constantFrom(':', ': ', ''),
      fc.oneof(latin1, fc.constantFrom('5', '5, 5', 'chunked', 'identity', '-1')),
    )
    .map((parts) => parts.join('')),
);
const headText = fc
  .tuple(
    fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.0 304', 'HTTP/1.1 100 C', 'x'),
    fc.array(fieldLine, { maxLength: 6 }),
    fc.constantFrom('\r\n', '\n'),
  )
  .map(([line, fields, end]) =>
    [
      line,
      ...fields
        .map((field) => field.replace(/\n/g, ''))
        .filter((field) => field !== '' && field !== '\r'),
      '',
      '',
    ].join(end),
  );

test('readResponseHead takes any head without throwing, and what it repaired needs no repair', () => {
  fc.assert(
    fc.property(headText, (text) => {
      const reading = readResponseHead(text);
      if (reading.kind !== 'final') return;
      const { headers, repaired, contentLength } = reading.head;
      strictEqual(headers.length % 2, 0);
      if (repaired === undefined) return;
      const again = readResponseHead(repaired);
      strictEqual(again.kind, 'final');
      if (again.kind === 'final') {
        strictEqual(again.head.repaired, undefined);
        strictEqual(again.head.contentLength, contentLength);
      }
    }),
    { numRuns: 3_000 },
  );
});

test('resolveLocation leads to http and https without fragment, or nowhere', () => {
  const locations = fc.oneof(
    latin1,
    fc.webUrl({ withFragments: true }),
    latin1.map((text) => `//a.test/${text}`),
  );
  fc.assert(
    fc.property(locations, (location) => {
      const url = resolveLocation(location, 'http://site.test/dir/page?q=1');
      ok(url === undefined || /^https?:\/\/[^#@]+$/.test(url.replace(/@/g, '%40')), url);
    }),
    { numRuns: 2_000 },
  );
});

test('parseRetryAfter and freshnessLifetimeMs stay within their bounds on any text', () => {
  const now = wallMs(1_700_000_000_000);
  fc.assert(
    fc.property(
      fc.oneof(
        latin1,
        fc.nat().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (text) => {
        const wait = parseRetryAfter(text, now, 60_000);
        ok(wait === undefined || (wait >= 0 && wait <= 60_000));
        const fresh = freshnessLifetimeMs(
          ['Cache-Control', text, 'Expires', text, 'Age', text],
          now,
        );
        ok(fresh === undefined || (fresh >= 0 && fresh <= 2 ** 31 * 1_000), `${fresh}`);
      },
    ),
  );
});

test('requestTarget sends printable ASCII to the origin the URL parser sees, or nothing', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()),
      (url) => {
        const target = requestTarget(url);
        if (target === undefined) return;
        strictEqual(target.origin, new URL(url).origin);
        ok(/^\/[\x21-\x7e]*$/.test(target.path), target.path);
        ok(!target.path.includes('#'));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('decodeContent ends on any bytes, within its bound', async () => {
  const codings = fc.array(fc.constantFrom<ContentCoding>('gzip', 'deflate', 'br'), {
    minLength: 1,
    maxLength: 3,
  });
  const magic = fc.constantFrom('', '\x1f\x8b\x08\0\0\0\0\0\0\x03', '\x78\x9c', '\x0b');
  await fc.assert(
    fc.asyncProperty(
      codings,
      magic,
      fc.uint8Array({ maxLength: 500 }),
      async (list, start, rest) => {
        const payload = Buffer.concat([Buffer.from(start, 'latin1'), rest]);
        const decoded = await new Promise<Decoded>((resolve) =>
          decodeContent(payload, list, 1_000, resolve),
        );
        ok(decoded.body.length <= 1_000);
      },
    ),
    { numRuns: 200 },
  );
});

test('readResponseHead and resolveLocation take linear time', () => {
  const cost = (run: () => void): number => {
    const from = process.cpuUsage();
    for (let round = 0; round < 5; round += 1) run();
    const { user, system } = process.cpuUsage(from);
    return user + system;
  };
  const shapes: readonly ((size: number) => string)[] = [
    (size) => `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(size)}\r\n`,
    (size) => `HTTP/1.1 200 OK\r\nA: b\r\n${' c\r\n'.repeat(size)}\r\n`,
    (size) => `HTTP/1.1 200 OK\r\nA:${' \t'.repeat(size)}x${' \t'.repeat(size)}\r\n\r\n`,
    (size) => `HTTP/1.1 200 OK\r\n${' \t'.repeat(size)}x${' \t'.repeat(size)}: b\r\n\r\n`,
    (size) => `HTTP/1.1 200 OK\r\nContent-Length: ${'5,'.repeat(size)}5\r\n\r\n`,
    (size) => `HTTP/1.1 200 ${'x'.repeat(size)}\r\n\r\n`,
  ];
  for (const [index, shape] of shapes.entries()) {
    const [small, large] = [shape(4_000), shape(64_000)];
    cost(() => readResponseHead(small));
    const quick = Math.max(
      cost(() => readResponseHead(small)),
      5_000,
    );
    const slow = cost(() => readResponseHead(large));
    // Sixteen times the input; a quadratic reading would take 256 times as long.
    ok(slow < 100 * quick, `shape ${index}: ${quick} µs, then ${slow} µs`);
  }
  const location = (size: number): string => '\xe9'.repeat(size);
  const quick = Math.max(
    cost(() => resolveLocation(location(4_000), 'http://a.test/')),
    5_000,
  );
  ok(cost(() => resolveLocation(location(64_000), 'http://a.test/')) < 100 * quick);
});
