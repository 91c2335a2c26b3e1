// What an operator sets for single hosts, on a whole crawl: it reaches the host it is for and no other, it can be changed while the crawl
// runs, and the secrets among it show nowhere: not in the log, not in any answer, not in the archive.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { runCommand } from '../../support/command-line.ts';
import { until } from '../../support/crawl/run-crawl.ts';
import { type Operated, operated } from '../../support/ops/operated-crawl.ts';

const PASSWORD = 'correct-horse-battery';
const SECRETS = [
  PASSWORD,
  Buffer.from(`bot:${PASSWORD}`).toString('base64'),
  'cookie-value-4711',
  'api-key-0815',
  'second-secret-42',
];
const configOf = (more: string): string => `export default {
  hostOverrides: [
    {
      pattern: 'one.test',
      headers: { 'X-Api-Key': 'api-key-0815', 'Accept-Language': 'cy' },
      login: 'bot:${PASSWORD}',
      cookies: 'session=cookie-value-4711',
    },
    ${more}
  ],
};
`;

function headsOf({ web }: Operated, host: string): string[] {
  return web.requests.filter((request) => request.host === host).map(({ head }) => head);
}

const FLAGS = ['--continuous', '--threads', '2', '--log-level', 'trace', '--config'];

test('hostOverrides: fields, login and cookies reach their host, with robots.txt too, and no other', () =>
  operated(
    [...FLAGS, '{folder}/crawl.config.ts'],
    async (on) => {
      const heads = headsOf(on, 'one.test');
      ok(heads.length > 1);
      for (const head of heads) {
        match(head, /^X-Api-Key: api-key-0815\r$/m);
        match(head, /^Accept-Language: cy\r$/m);
        match(head, /^Cookie: session=cookie-value-4711\r$/m);
        match(head, new RegExp(`^Authorization: Basic ${SECRETS[1]}\\r$`, 'm'));
      }
      for (const head of [...headsOf(on, 'two.test'), ...headsOf(on, 'three.test')]) {
        ok(SECRETS.every((secret) => !head.includes(secret)));
      }
    },
    { 'crawl.config.ts': configOf('') },
  ));

test('SIGHUP and reload change settings of hosts while the crawl runs, and say what has to wait', () =>
  operated(
    [...FLAGS, '{folder}/crawl.config.ts'],
    async (on) => {
      const { crawl, folder, ask, web } = on;
      const config = join(folder, 'crawl.config.ts');
      const second = "{ pattern: 'two.test', minGapMs: 900, cookies: 'b=second-secret-42' },";
      writeFileSync(config, `${configOf(second).replace('};', '  sitemaps: false,\n};')}`);
      crawl.signal('SIGHUP');
      const hasNew = () => headsOf(on, 'two.test').some((head) => head.includes('b=second-secret'));
      ok(await until(crawl, hasNew), 'no request with the new cookie');
      match(crawl.stderr, /hostOverrides: 2 in force now; sitemaps: changed, from the next start/);
      const { gap } = await ask<{ gap: { minGapMs: number } }>('host', 'two.test');
      strictEqual(gap.minGapMs, 900);
      const asked = web.requests.filter(({ host }) => host === 'two.test').length;
      const oneMore = () =>
        web.requests.filter(({ host }) => host === 'two.test').length > asked + 2;
      ok(await until(crawl, oneMore));
      const times = web.requests.filter(({ host }) => host === 'two.test').map(({ atMs }) => atMs);
      const gaps = times.slice(asked).map((atMs, at) => atMs - (times[asked + at - 1] ?? 0));
      ok(
        gaps.every((gapMs) => gapMs >= 895),
        gaps.join(),
      );
      writeFileSync(
        config,
        `${configOf("{ pattern: 'two.test', minGapMs: -1, login: 'a:second-secret-42' },")}`,
      );
      const { text } = await ask<{ text: string }>('reload');
      match(text, /^nothing changed, the configuration has problems: .*hostOverrides/);
      ok(!text.includes('second-secret'));
      const { hostOverrides } = await ask<{ hostOverrides: unknown[] }>('config');
      deepStrictEqual(hostOverrides[1], {
        pattern: 'two.test',
        minGapMs: 900,
        cookies: '(redacted)',
      });
    },
    { 'crawl.config.ts': configOf('') },
  ));

test('secrets of hostOverrides show in no log, no answer, no page, no report and no file of the crawl', async () => {
  const said: string[] = [];
  let stderr = () => '';
  await operated(
    [...FLAGS, '{folder}/crawl.config.ts', '--http', '127.0.0.1:0'],
    async ({ client, crawl, folder, web }) => {
      stderr = () => crawl.stderr;
      const verbs = [
        ...['overview', 'tree', 'top busy', 'state host:one.test', 'mailbox host:one.test'],
        ...[
          'host one.test',
          'hosts',
          `why ${web.url('one.test')}`,
          'front',
          'robots show one.test',
        ],
        ...[
          'dns one.test',
          'budget one.test',
          'leases',
          'deadletters',
          'slowlog',
          'config',
          'heap',
        ],
        ...['cpu --for 1', 'trace host:one.test --max 20 --for 5', 'reload', 'help'],
      ];
      for (const verb of verbs) {
        const answer = await client.ask(verb.split(' '), (event) =>
          said.push(JSON.stringify(event)),
        );
        ok(answer.ok, `${verb}: ${JSON.stringify(answer)}`);
        said.push(JSON.stringify(answer));
      }
      const url = /"url":"(http:[^"]+)"/.exec(crawl.stderr)?.[1] ?? '';
      for (const path of ['metrics', 'api/overview', 'api/host/one.test', 'api/hosts']) {
        said.push(await (await fetch(url + path)).text());
      }
      const data = ['--data', join(folder, 'data')];
      for (const words of [
        ['report'],
        ['report', '--json'],
        ['report', '--html', '-'],
        ['audit'],
      ]) {
        said.push((await runCommand([...words, ...data])).stdout);
      }
      const why = await runCommand(['why', web.url('one.test'), ...data]);
      said.push(why.stdout);
      ok(said.join('').includes('one.test') && said.join('').length > 10_000);
      said.push(...filesOf(join(folder, 'data')));
    },
    { 'crawl.config.ts': configOf('') },
  );
  ok(stderr().includes('"code":"started"'));
  const all = [...said, stderr()].join('\n');
  for (const secret of SECRETS) ok(!all.includes(secret), `${secret} shows`);
  match(all, /Authorization: \(redacted\)/, 'the archive has the request, without its secret');
});

/** Texts of all files of a data directory, unpacked. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const bytes = readFileSync(path);
      // An open archive may end within a member that is just being written.
      return (/\.warc\.gz/.test(path) ? unpacked(bytes) : bytes).toString('latin1');
    });
}

function unpacked(bytes: Buffer): Buffer {
  const members: Buffer[] = [];
  let start = bytes.indexOf(MEMBER);
  while (start !== -1) {
    const next = bytes.indexOf(MEMBER, start + 1);
    try {
      members.push(gunzipSync(bytes.subarray(start, next === -1 ? bytes.length : next)));
    } catch {
      // The bytes of a member's beginning also occur within one: the next cut is the right one.
    }
    start = next;
  }
  return Buffer.concat(members);
}

/** How a gzip member begins (RFC 1952 §2.3.1). */
const MEMBER = Buffer.from([0x1f, 0x8b, 0x08]);
