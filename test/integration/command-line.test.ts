// `node cluster.js` as a user runs it: what it refuses, with which exit status, and the pure commands.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder, runCommand } from '../support/command-line.ts';

const DEFINE = "import { defineConfig } from 'hostler/config';\nexport default defineConfig(";

/** Each line with what standard error must begin with. All end with status 2 and say nothing on standard output. */
const REFUSED: readonly (readonly [line: string, stderr: RegExp])[] = [
  ['--max-page 5 a.com', /^hostler: unknown option --max-page; did you mean --max-pages\?\n/],
  ['--min-gap 70000000 a.com', /^hostler: --min-gap "70000000": must be an integer from 0 to/],
  ['--min-gap 10 a.com', /^hostler: --min-gap 10: under 250 ms is for your own networks only/],
  ['not-a-url', /^hostler: seed "not-a-url" is not a URL\n/],
  ['https://a.com/ http://', /^hostler: seed "http:\/\/" is not a URL\n/],
  ['inspct', /^hostler: seed "inspct" is not a URL; did you mean the command inspect\?\n/],
  ['--config missing.ts a.com', /^hostler: --config missing\.ts: there is no such file\n/],
  ['--ca missing.pem a.com', /^hostler: --ca missing\.pem: there is no such file\n/],
  ['--config broken.ts a.com', /^hostler: broken\.ts: cannot be loaded: [^\n]*\n[^\n]*\n$/],
  ['--config empty.ts a.com', /^hostler: empty\.ts: exports no options\n/],
  [
    '--config wrong.ts a.com',
    /^hostler: wrong\.ts: unknown option "minGap"; did you mean minGapMs/,
  ],
  ['--config . a.com', /^hostler: \.: cannot be loaded: /],
  ['--nodes hosts.txt a.com', /^hostler: --nodes hosts.txt cannot be read/],
  ['--scope all a.com', /^hostler: --scope all: needs --contact/],
  [
    '--scope all --contact a@b.com --user-agent me a.com',
    /^hostler: --user-agent: does not name the contact a@b\.com; with --scope all it must\n/,
  ],
  ['robots test', /^hostler: robots test: needs --robots FILE/],
  ['robots probe', /^hostler: robots: expected test or show/],
];

test('cluster.js refuses a wrong command line with one clear line and status 2', async () => {
  const files = {
    'broken.ts': 'export default {',
    'empty.ts': 'export const a = 1;',
    'wrong.ts': `${DEFINE}{ minGap: 5 });`,
  };
  await inFolder(files, async (cwd) => {
    for (const [line, expected] of REFUSED) {
      const { status, stdout, stderr } = await runCommand(line.split(' '), { cwd });
      match(stderr, expected, line);
      deepStrictEqual([status, stdout, stderr.split('\n').length], [2, '', 3], stderr);
    }
  });
});

test('cluster.js reads ./cluster.config.ts unasked and checks it with the flags', async () => {
  const files = { 'cluster.config.ts': `${DEFINE}{ minGapMs: 'slow', seen: 'bloom' });` };
  await inFolder(files, async (cwd) => {
    const { status, stderr } = await runCommand(['--threads', '0', 'a.com'], { cwd });
    strictEqual(status, 2);
    deepStrictEqual(stderr.split('\n').slice(0, 2), [
      'hostler: --threads "0": must be an integer from 1 to 256',
      'hostler: cluster.config.ts: minGapMs: "slow": ' +
        'must be an integer from 0 to 3600000 (milliseconds)',
    ]);
  });
});

test('cluster.js prints help and version on standard output, status 0', async () => {
  const help = await runCommand(['--help']);
  deepStrictEqual([help.status, help.stderr], [0, '']);
  match(help.stdout, /^Usage: node cluster\.js \[options\] \[seed-url\.\.\.\]\n/);
  const version = await runCommand(['--version']);
  deepStrictEqual([version.status, version.stderr], [0, '']);
  match(version.stdout, /^\d+\.\d+\.\d+\n$/);
});

test('cluster.js urls and parse answer one line a line whatever the config file says', async () => {
  await inFolder({ 'cluster.config.ts': 'broken(' }, async (cwd) => {
    const urls = await runCommand(['urls'], {
      cwd,
      input: '{"base":"https://A.com/x/","input":"../b?utm_source=1"}\n{"input":"mailto:a@b"}\n{}',
    });
    strictEqual(urls.status, 0);
    const [canonical, rejected, bad] = urls.stdout.trimEnd().split('\n').map(parse);
    strictEqual(canonical?.canonical, 'https://a.com/b');
    match(String(canonical?.key), /^[0-9a-f]{16}$/);
    deepStrictEqual(rejected, { reason: 'not-http', resolved: 'mailto:a@b' });
    deepStrictEqual(bad, { error: 'input is missing' });
    const page = {
      url: 'https://a.com/d/',
      contentType: 'text/html; charset=utf-8',
      headers: { 'X-Robots-Tag': ['noindex'] },
      bodyBase64: Buffer.from('<title>ü</title><a href="b">').toString('base64'),
    };
    const parsed = await runCommand(['parse'], { cwd, input: `${JSON.stringify(page)}\n{}\n` });
    const [answer, error] = parsed.stdout.trimEnd().split('\n').map(parse);
    deepStrictEqual(answer?.links, [{ url: 'https://a.com/d/b' }]);
    deepStrictEqual([answer?.title, answer?.noindex, answer?.charset], ['ü', true, 'UTF-8']);
    deepStrictEqual(error, { error: 'url is missing' });
  });
});

test('cluster.js robots test answers about one URL, in words and as JSON', async () => {
  const files = { 'robots.txt': 'User-agent: *\nDisallow: /private/\nCrawl-delay: 3\n' };
  await inFolder(files, async (cwd) => {
    const ask = ['robots', 'test', '--robots', 'robots.txt', '--url', 'https://a.com/private/x'];
    const { status, stdout } = await runCommand(ask, { cwd });
    strictEqual(status, 0);
    strictEqual(stdout, 'disallowed (line 2: Disallow: /private/; group: *; crawl delay: 3)\n');
    const json = parse((await runCommand([...ask, '--json'], { cwd })).stdout);
    deepStrictEqual([json.allowed, json.line, json.crawlDelay], [false, 2, 3]);
    const show = await runCommand(['robots', 'show', '--robots', '-'], {
      input: files['robots.txt'],
    });
    match(show.stdout, /^User-agent: \*\nDisallow: \/private\/ {2}# line 2\nCrawl-delay: 3\n$/);
  });
});

function parse(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}
