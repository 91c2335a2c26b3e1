// The checks of a configuration: what is refused, where it says so, and what wins.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { leastGapMs } from '../../../src/config/conflicts.ts';
import { type FlagTexts, resolveConfig } from '../../../src/config/resolve-config.ts';

/** The error of a refused configuration. */
function refusal(sources: { flags?: FlagTexts; file?: unknown }): CrawlError {
  try {
    resolveConfig({ ...sources, fileName: 'x.config.ts' });
  } catch (error) {
    if (error instanceof CrawlError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const lines = (error: CrawlError): string[] => error.message.split('\n');

test('resolveConfig fills in defaults, and those that follow from other options', () => {
  const config = resolveConfig({ file: { minGapMs: 2_002, dataDir: 'books', threads: 3 } });
  strictEqual(config.addressGapMs, 500);
  strictEqual(config.debugSocket, 'books/debug.sock');
  strictEqual(config.concurrency, 768);
  match(config.userAgent, /^hostler\/\d+\.\d+\.\d+$/);
  deepStrictEqual(config.bandWeights, [6, 3, 1]);
  strictEqual(config.maxPages, undefined);
  deepStrictEqual([...config.explicit].sort(), ['dataDir', 'minGapMs', 'threads']);
});

test('resolveConfig puts the contact into the User-Agent unless that is given whole', () => {
  const flags = { contact: ['https://example.com/bot'] };
  match(resolveConfig({ flags }).userAgent, /^hostler\/[\d.]+ \(\+https:\/\/example\.com\/bot\)$/);
  strictEqual(resolveConfig({ flags: { ...flags, userAgent: ['x/1'] } }).userAgent, 'x/1');
});

test('resolveConfig lets a flag outrank the file and the last of several count', () => {
  const config = resolveConfig({
    flags: { minGapMs: ['300', '400'], include: ['a', 'b'] },
    file: { minGapMs: 500, maxDepth: 7, include: ['c'] },
  });
  strictEqual(config.minGapMs, 400);
  strictEqual(config.maxDepth, 7);
  deepStrictEqual(config.include, ['a', 'b']);
});

test('resolveConfig tells all problems of flags and file together, each in one line', () => {
  const error = refusal({
    flags: { threads: ['none'], scope: ['galaxy'] },
    file: { minGapMS: 5, lingerSeconds: -1, zebra: true, json: true, 'max-depth': 3 },
  });
  strictEqual(error.code, 'config');
  strictEqual(error.exitStatus, 2);
  deepStrictEqual(lines(error), [
    '--scope "galaxy": must be one of host, domain, prefix, all',
    '--threads "none": must be an integer from 1 to 256',
    'x.config.ts: unknown option "minGapMS"; did you mean minGapMs?',
    'x.config.ts: lingerSeconds: -1: must be a number from 0 to 86400 (seconds)',
    'x.config.ts: unknown option "zebra"',
    'x.config.ts: json: can be set on the command line only (--json)',
    'x.config.ts: unknown option "max-depth"; did you mean maxDepth?',
  ]);
});

const BAD_FLAGS: readonly FlagTexts[] = [
  { minGapMs: ['1.5'] },
  { minGapMs: ['-1'] },
  { minGapMs: [''] },
  { minGapMs: ['0x10'] },
  { minGapMs: ['3600001'] },
  { maxPages: ['0'] },
  { maxDepth: ['Infinity'] },
  { maxTimeSeconds: ['NaN'] },
  { include: ['ok', '('] },
  { allowNets: ['10.0.0.0/33'] },
  { allowNets: ['localhost'] },
  { allowNets: ['fe80::1%eth0/64'] },
  { dnsServers: ['dns.example:53'] },
  { dnsServers: ['127.0.0.1:65536'] },
  { dnsServers: ['127.0.0.1:0'] },
  { http: ['8080'] },
  { http: ['300.1.1.1:80'] },
  { http: ['[::1:80'] },
  { contact: ['me at home'] },
  { contact: ['http://'] },
  { userAgent: ['two\r\nlines'] },
  { userAgent: [''] },
  { seen: ['EXACT'] },
  { fsync: ['never'] },
  { progress: ['yes'] },
  { logLevel: ['loud'] },
  { debugSocket: ['x'.repeat(108)] },
];

test('resolveConfig refuses flags out of bounds in one line that starts with the flag', () => {
  for (const flags of BAD_FLAGS) {
    const error = refusal({ flags });
    strictEqual(error.code, 'usage', JSON.stringify(flags));
    strictEqual(lines(error).length, 1, error.message);
    match(error.message, /^--[a-z-]+ ".*": must be /, error.message);
  }
});

const BAD_FILES: readonly unknown[] = [
  null,
  [],
  'minGapMs: 5',
  () => ({}),
  { minGapMs: '1000' },
  { minGapMs: 10n },
  { continuous: 'yes' },
  { include: 'a' },
  { include: [/a/] },
  { bandWeights: [6, 3] },
  { bandWeights: [6, 3, 0] },
  { robotsBytesMax: 500_000 },
  { falsePositiveRate: 1 },
  { commitWindowMs: 251 },
  { commitWindowMs: 9 },
  { partitions: 70_000 },
  { hostOverrides: [{ minGapMs: 5_000 }] },
  { hostOverrides: [{ pattern: 'a.com', minGapMs: 'slow' }] },
  { hostOverrides: [{ pattern: 'a.com', gap: 5 }] },
  { optOut: ['https://example.com/'] },
  { trackingParameters: ['a*b'] },
  { from: 'nobody' },
];

test('resolveConfig refuses wrong values of the file in one line that names file and key', () => {
  for (const file of BAD_FILES) {
    const error = refusal({ file });
    strictEqual(error.code, 'config');
    strictEqual(lines(error).length, 1, error.message);
    match(error.message, /^x\.config\.ts: .*must (?:be|export) /, error.message);
  }
});

test('resolveConfig accepts values at their bounds and in every spelling', () => {
  const flags: FlagTexts = {
    minGapMs: ['3_600_000'],
    maxTimeSeconds: ['0.5'],
    allowNets: ['127.0.0.0/8', '::1', '0.0.0.0/0'],
    dnsServers: ['127.0.0.1:5353', '[::1]:53', '2001:db8::1', 'localhost:54'],
    http: ['[::1]:0'],
    contact: ['mailto:me@example.com'],
    debugSocket: ['x'.repeat(107)],
    continuous: [''],
    json: [''],
  };
  const config = resolveConfig({ flags });
  strictEqual(config.minGapMs, 3_600_000);
  deepStrictEqual(config.dnsServers, ['127.0.0.1:5353', '[::1]:53', '2001:db8::1', '127.0.0.1:54']);
  ok(config.continuous);
  ok(config.json);
});

test('resolveConfig wants a network of its own for a gap under 250 ms, of a host too', () => {
  match(refusal({ flags: { minGapMs: ['249'] } }).message, /^--min-gap 249: .*--allow-net/);
  const hostOverrides = [{ pattern: '*.a.com', minGapMs: 0 }];
  match(refusal({ file: { hostOverrides } }).message, /hostOverrides: \*\.a\.com: minGapMs 0/);
  const flags = { minGapMs: ['0'], allowNets: ['127.0.0.0/8'] };
  strictEqual(resolveConfig({ flags, file: { hostOverrides } }).minGapMs, 0);
  strictEqual(resolveConfig({ flags: { minGapMs: ['250'] } }).minGapMs, 250);
});

test('leastGapMs holds a short gap inside allowed networks only', () => {
  strictEqual(leastGapMs(0, true), 0);
  strictEqual(leastGapMs(0, false), 250);
  strictEqual(leastGapMs(4_000, false), 4_000);
});

test('resolveConfig refuses options that contradict each other and says what to do', () => {
  match(refusal({ flags: { scope: ['all'] } }).message, /^--scope all: needs --contact/);
  strictEqual(
    resolveConfig({ flags: { scope: ['all'] }, file: { contact: 'a@b.c' } }).scope,
    'all',
  );
  match(
    refusal({ flags: { threads: ['8'] }, file: { partitions: 4 } }).message,
    /^--threads 8: more than the 4 partitions/,
  );
  match(
    refusal({ file: { bodyBytesMax: 104_857_600 } }).message,
    /decodedBytesMax .* is less than/,
  );
  match(refusal({ flags: { nodeName: ['n1'] } }).message, /^--me: .*no --nodes/);
});

test('resolveConfig draws no conclusions from a value that it could not read', () => {
  const error = refusal({
    flags: { scope: ['all'], contact: ['?'], minGapMs: ['1'], allowNets: ['x'] },
  });
  deepStrictEqual(
    lines(error).map((line) => line.split(' ')[0]),
    ['--contact', '--allow-net'],
  );
});

test('resolveConfig refuses a limit of pages, which is kept by one machine, with --nodes', () => {
  strictEqual(resolveConfig({ flags: { nodesFile: ['hosts.txt'] } }).nodesFile, 'hosts.txt');
  const error = refusal({ flags: { nodesFile: ['hosts.txt'], maxPages: ['5'] } });
  strictEqual(error.code, 'usage');
  strictEqual(error.exitStatus, 2);
  match(error.message, /^--max-pages: counts the pages of one machine/);
});

test('resolveConfig refuses a data directory whose debug socket would have too long a path', () => {
  const dataDir = ['d'.repeat(97)];
  match(
    refusal({ flags: { dataDir } }).message,
    /^--data: .*108 bytes.*107 at most.*--debug-socket/,
  );
  strictEqual(resolveConfig({ flags: { dataDir, debugSocket: ['s'] } }).debugSocket, 's');
});

test('resolveConfig never throws anything but a CrawlError, whatever the file exports', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  for (const odd of [loop, Symbol('x'), Number.NaN, new Map(), Object.create(null), 10n]) {
    const error = refusal({ file: { minGapMs: odd, userAgent: odd, hostOverrides: [odd] } });
    strictEqual(lines(error).length, 3, error.message);
  }
});
