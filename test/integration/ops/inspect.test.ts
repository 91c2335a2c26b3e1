import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { inspect } from '../../../src/app/command-inspect.ts';
import type { InspectStreams } from '../../../src/app/inspect-session.ts';
import { screenLines } from '../../../src/app/inspect-top.ts';
import { CrawlError } from '../../../src/base/errors.ts';
import { ratesBetween } from '../../../src/ops/overview-rates.ts';
import { openSocket, temporaryFolder } from '../../support/ops/open-sockets.ts';
import { sampleOverview } from '../../support/ops/sample-overview.ts';

/** Streams that keep what is written; `typed` is what comes in by stdin. */
function streamsOf(typed = '', terminal?: { columns: number; rows: number }) {
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal !== undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY: terminal !== undefined, ...terminal });
  const stderr = new PassThrough();
  if (terminal === undefined) stdin.end(typed);
  const streams = { stdin, stdout, stderr } as unknown as InspectStreams;
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return { streams, stdin, stdout, out: () => read(stdout), err: () => read(stderr) };
}

test('inspect VERB prints the answer as a table, or as JSON', async (t) => {
  const { path: socketPath } = await openSocket(t);
  const plain = streamsOf();
  const words = ['top', 'busy', '1'];
  assert.equal(await inspect({ words, socketPath, json: false }, plain.streams), 0);
  assert.match(plain.out(), /^path .*\nshard-0\/host-2 .*\n$/);
  const json = streamsOf();
  assert.equal(await inspect({ words, socketPath, json: true }, json.streams), 0);
  assert.equal((JSON.parse(json.out()) as { path: string }[])[0]?.path, 'shard-0/host-2');
});

test('inspect tells a mistake by 2, what the crawl cannot answer by 1', async (t) => {
  const { path: socketPath } = await openSocket(t);
  const mistake = streamsOf();
  assert.equal(await inspect({ words: ['topp'], socketPath, json: false }, mistake.streams), 2);
  assert.match(mistake.err(), /^error: there is no verb topp/);
  assert.equal(mistake.out(), '');
  const unknown = streamsOf();
  const words = ['host', 'no.such.host'];
  assert.equal(await inspect({ words, socketPath, json: true }, unknown.streams), 1);
  assert.equal((JSON.parse(unknown.out()) as { code: string }).code, 'not-found');
});

test('inspect without a running crawl says so, with exit status 2', async (t) => {
  const socketPath = join(temporaryFolder(t), 'debug.sock');
  const options = { words: ['top'], socketPath, json: false };
  await assert.rejects(inspect(options, streamsOf().streams), (error: unknown) => {
    assert.ok(error instanceof CrawlError && error.exitStatus === 2);
    assert.match(error.message, /no crawl is running there/);
    assert.match(error.remedy, /--data/);
    return true;
  });
});

test('inspect without a verb reads verbs from a pipe and keeps the status of a failure', async (t) => {
  const { path: socketPath, crawl } = await openSocket(t);
  const piped = streamsOf(
    'config\n\nnonsense\npause host "a.example"\nwhy "open\nquit\nresume all\n',
  );
  assert.equal(await inspect({ words: [], socketPath, json: false }, piped.streams), 2);
  assert.equal(piped.out(), 'minGapMs: 1000\nproxyPassword: (redacted)\ntext: pause done\n');
  assert.match(piped.err(), /there is no verb nonsense.*\n.*a quote is not closed/);
  assert.deepEqual(
    crawl.operations.map(({ kind }) => kind),
    ['pause'],
  );
});

test('inspect watch asks again and again until it is ended', async (t) => {
  const { path: socketPath, crawl } = await openSocket(t);
  const ending = new AbortController();
  const { streams, stdout } = streamsOf();
  let text = '';
  stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
    if ((text.match(/limitedBy/g) ?? []).length === 3) ending.abort();
  });
  const words = ['watch', '0.1', 'front'];
  const options = { words, socketPath, json: false, signal: ending.signal };
  assert.equal(await inspect(options, streams), 0);
  assert.equal(crawl.asked, 3);
  const wrong = streamsOf();
  assert.equal(await inspect({ ...options, words: ['watch', 'x'] }, wrong.streams), 2);
});

test('inspect top on a terminal draws, obeys keys and gives the terminal back', async (t) => {
  const { path: socketPath } = await openSocket(t);
  const { streams, stdin, stdout } = streamsOf('', { columns: 120, rows: 20 });
  let text = '';
  stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
    if (text.includes('[hosts fetched]')) stdin.write('q');
    else if (text.includes('[top busy]')) stdin.write('h');
  });
  assert.equal(await inspect({ words: ['top'], socketPath, json: false }, streams), 0);
  assert.ok(text.startsWith('\u001b[?1049h'));
  assert.ok(text.endsWith('\u001b[?1049l'));
  assert.match(text, /www\.example\.org/);
  const screen = text.replaceAll(/\u001b\[[?0-9]*[A-Za-z]/g, '');
  assert.doesNotMatch(screen, /\u001b/, 'a host name has reached the terminal as a command');
});

test('screenLines fits a screen of any size', () => {
  const overview = sampleOverview(100);
  const rates = ratesBetween(sampleOverview(99), overview);
  const list = Array.from({ length: 100 }, (_, index) => ({
    path: 'p'.repeat(index),
    mailbox: index,
  }));
  for (const [columns, rows] of [
    [80, 24],
    [10, 3],
    [300, 200],
  ] as const) {
    const lines = screenLines({ overview, rates, verb: ['top', 'busy'], list, columns, rows });
    assert.equal(lines.length, rows);
    assert.ok(lines.every((line) => line.length <= columns));
  }
});
