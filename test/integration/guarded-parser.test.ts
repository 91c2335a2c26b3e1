// The guarded pool on real threads (step 11): parsers that loop, exhaust memory, throw or leave fail alone, each with its reason.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { PageToParse } from '../../src/actors/parse-stage.ts';
import type { GuardedParseOutcome } from '../../src/actors/ports.ts';
import { hostKey, urlKey } from '../../src/base/units.ts';
import { GuardedParser } from '../../src/parsers/guarded-parser.ts';
import { RealAlarms } from '../../src/runtime/real-clock.ts';

const HOSTILE = new URL('./fixtures/hostile-pool.js', import.meta.url);

function pageOf(type: string, body: string | Uint8Array, changes: Partial<PageToParse> = {}) {
  const page: PageToParse = {
    unparsedId: 1,
    hostKey: hostKey(1n),
    urlKey: urlKey(2n),
    url: 'http://h.test/dir/page',
    depth: 0,
    hops: 0,
    purpose: 'page',
    status: 200,
    headers: ['Content-Type', type],
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
  return { ...page, ...changes };
}

const parsing = (parser: GuardedParser, page: PageToParse): Promise<GuardedParseOutcome> =>
  new Promise((resolve) => parser.parse(page, resolve));

function referencesOf(outcome: GuardedParseOutcome): readonly string[] | string {
  return outcome.kind === 'parsed' ? [...outcome.outlinks.references] : outcome.kind;
}

test('GuardedParser gives the reason of parsers that loop, exhaust memory, throw or exit, and goes on', async () => {
  const alarms = new RealAlarms();
  const hostile = { alarms, productToken: 'hostler', entry: HOSTILE, heapMiBMax: 32 };
  const patient = new GuardedParser({ ...hostile, runMsMax: 60_000 });
  const hasty = new GuardedParser({ ...hostile, runMsMax: 1_000 });
  try {
    strictEqual(referencesOf(await parsing(hasty, pageOf('test/loop', ''))), 'timeout');
    const outcomes: (readonly string[] | string)[] = [];
    for (const type of ['test/allocate', 'test/exit', 'text/html']) {
      outcomes.push(referencesOf(await parsing(patient, pageOf(type, '<a href=x>'))));
    }
    deepStrictEqual(outcomes, ['out-of-memory', 'failed', ['x']]);
    const thrown = await parsing(patient, pageOf('test/throw', ''));
    match(thrown.kind === 'failed' ? thrown.detail : '', /^TypeError: bad page/);
  } finally {
    await Promise.all([patient.close(), hasty.close()]);
  }
});

test('GuardedParser reads pages, feeds, packed sitemaps and redirects, and leaves the page its body', async () => {
  const parser = new GuardedParser({ alarms: new RealAlarms(), productToken: 'hostler' });
  try {
    const links = async (page: PageToParse) => referencesOf(await parsing(parser, page));
    const html = pageOf('text/html', '<base href=/b/><a href=x></a><a href=y rel=nofollow></a>');
    const parsed = await parsing(parser, html);
    deepStrictEqual(referencesOf(parsed), ['x']);
    strictEqual(parsed.kind === 'parsed' && parsed.outlinks.base.href, 'http://h.test/b/');
    strictEqual(html.body.byteLength > 0, true, 'a second try needs the bytes');
    const atom = pageOf('application/atom+xml', '<feed><entry><link href="/1"/></entry></feed>');
    deepStrictEqual(await links(atom), ['http://h.test/1']);
    const urlset = gzipSync('<urlset><url><loc>http://h.test/2</loc></url></urlset>');
    const sitemap = pageOf('application/gzip', urlset, { purpose: 'sitemap' });
    deepStrictEqual(await links(sitemap), ['http://h.test/2']);
    const broken = pageOf('application/gzip', Buffer.from([0x1f, 0x8b, 9, 9]));
    deepStrictEqual(await links(broken), []);
    const moved = { status: 301, headers: ['Location', '/3'] };
    deepStrictEqual(await links(pageOf('', '', moved)), ['http://h.test/3']);
  } finally {
    await parser.close();
  }
});

test('GuardedParser.close answers nobody: its pages stay in the unparsed log', async () => {
  const alarms = new RealAlarms();
  const parser = new GuardedParser({ alarms, productToken: 'hostler', entry: HOSTILE });
  const answers: GuardedParseOutcome[] = [];
  parser.parse(pageOf('test/loop', ''), (outcome) => answers.push(outcome));
  parser.parse(pageOf('text/html', ''), (outcome) => answers.push(outcome));
  await parser.close();
  deepStrictEqual(answers, []);
});
