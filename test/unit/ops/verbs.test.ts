import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete } from '../../../src/app/inspect-prompt.ts';
import { answerRequest } from '../../../src/ops/answer-request.ts';
import type { Operation, OperationEntry } from '../../../src/ops/operation.ts';
import type { Answer, TraceEvent } from '../../../src/ops/operator.ts';
import { completionsOf, prepare, VERBS } from '../../../src/ops/verb-table.ts';
import { SampleCrawl } from '../../support/ops/sample-crawl.ts';

/** A crawl to ask, what was audited, and a way to ask it. */
function desk(timeoutMs = 1_000) {
  const crawl = new SampleCrawl();
  const audit: OperationEntry[] = [];
  const events: TraceEvent[] = [];
  const services = {
    operator: crawl,
    timeoutMs,
    source: 'debug-socket' as const,
    audited: (entry: OperationEntry) => audit.push(entry),
  };
  const listener = {
    tell: (event: TraceEvent) => events.push(event),
    signal: new AbortController().signal,
  };
  const ask = (line: string): Promise<Answer<unknown>> => {
    const [verb = '', ...args] = line.split(' ');
    return answerRequest(services, { verb, args }, listener);
  };
  return { crawl, audit, events, ask };
}

test('every looking verb of DESIGN.md §10 is answered by its question', async () => {
  const { ask, audit } = desk();
  const lines = [
    ...['overview', 'tree', 'tree shard-0', 'top', 'top mailbox', 'top mem 3', 'top wait'],
    ...['state shard-0/host-1', 'mailbox shard-0/host-1', 'trace shard-0 --max 3 --for 1'],
    ...['host www.example.org', 'hosts', 'hosts queued 2', 'why https://www.example.org/', 'front'],
    ...['robots show www.example.org', 'robots test https://a/', 'dns a.example', 'budget'],
    ...['budget a.example', 'deadletters', 'slowlog', 'config', 'heap', 'cpu --for 1', 'help'],
    ...['help top'],
  ];
  for (const line of lines) assert.equal((await ask(line)).kind, 'answered', line);
  assert.deepEqual(audit, []);
});

test('every operating verb reaches the crawl as its operation and is audited', async () => {
  const { ask, crawl, audit } = desk();
  const cases: readonly (readonly [string, Operation])[] = [
    ['pause all', { kind: 'pause', target: { kind: 'all' } }],
    ['pause host a.example', { kind: 'pause', target: { kind: 'host', host: 'a.example' } }],
    ['resume ip 192.0.2.1', { kind: 'resume', target: { kind: 'ip', address: '192.0.2.1' } }],
    ['delay a.example 2500', { kind: 'set-delay', host: 'a.example', gapMs: 2_500 }],
    ['delay a.example auto', { kind: 'set-delay', host: 'a.example', gapMs: undefined }],
    [
      'block a.example --until 2999-01-01T00:00:00Z',
      { kind: 'block', host: 'a.example', untilMs: Date.UTC(2999, 0, 1) },
    ],
    ['inject https://a/ https://b/', { kind: 'inject', urls: ['https://a/', 'https://b/'] }],
    ['robots refresh a.example', { kind: 'refresh-robots', host: 'a.example' }],
    ['dns a.example --flush', { kind: 'flush-dns', host: 'a.example' }],
    ['checkpoint', { kind: 'checkpoint' }],
    ['log debug', { kind: 'set-log-level', level: 'debug' }],
    ['drain', { kind: 'drain', node: undefined }],
  ];
  for (const [line, operation] of cases) {
    assert.equal((await ask(line)).kind, 'answered', line);
    assert.deepEqual(crawl.operations.at(-1), operation, line);
    assert.equal(audit.at(-1)?.operation, crawl.operations.at(-1), line);
    assert.equal(audit.at(-1)?.outcome, 'done');
  }
  const move = await ask('move 17 other');
  assert.equal(move.kind === 'refused' && move.code, 'unsupported');
  assert.equal(audit.at(-1)?.outcome, 'unsupported');
  assert.equal(audit.length, cases.length + 1);
});

test('block --until in seconds counts from now, and nothing lies in the past', async () => {
  const { ask, crawl } = desk();
  const before = Date.now();
  await ask('block a.example --until 60');
  const operation = crawl.operations.at(-1);
  assert.ok(operation?.kind === 'block');
  assert.ok(operation.untilMs >= before + 60_000 && operation.untilMs <= Date.now() + 60_000);
  for (const line of ['block a --until 2001-01-01', 'block a --until soon', 'block a --until 0']) {
    const answer = await ask(line);
    assert.equal(answer.kind === 'refused' && answer.code, 'usage', line);
  }
});

test('prepare refuses a mistake with the way the verb is written, and asks nothing', async () => {
  const { ask, crawl, audit } = desk();
  const mistakes = [
    ...[
      'top nothing',
      'top busy 0',
      'top busy 1e9',
      'top busy 5 6',
      'state',
      'host',
      'why',
      'cpu --for x',
    ],
    ...[
      'cpu --for 61',
      'trace a --max',
      'trace a --nonsense',
      'pause',
      'pause host',
      'pause all x',
    ],
    ...[
      'delay a',
      'delay a -1',
      'delay a 86400001',
      'log loud',
      'move x y',
      'inject',
      'robots show',
    ],
    ...['robots do a', 'dns', 'checkpoint now', 'hosts by'],
  ];
  for (const line of mistakes) {
    const answer = await ask(line);
    assert.ok(answer.kind === 'refused' && answer.code === 'usage', line);
    const verb = VERBS.get(line.split(' ')[0] ?? '');
    assert.ok(answer.reason.endsWith(verb?.usage ?? '?'), answer.reason);
  }
  const unknown = prepare('rm', ['-rf']);
  assert.ok('code' in unknown && unknown.code === 'usage');
  assert.equal(crawl.asked, 0);
  assert.deepEqual(audit, []);
});

test('answerRequest refuses what is not answered in time, and what fails by a bug', async () => {
  const { ask, crawl, audit } = desk(20);
  crawl.mood = 'silent';
  const late = await ask('overview');
  assert.equal(late.kind === 'refused' && late.code, 'timeout');
  const pause = await ask('pause all');
  assert.equal(pause.kind === 'refused' && pause.code, 'timeout');
  assert.equal(audit.at(-1)?.outcome, 'timeout');
  crawl.mood = 'failing';
  const failed = await ask('front');
  assert.ok(failed.kind === 'refused' && failed.code === 'internal');
  assert.match(failed.reason, /a bug of ours/);
});

test('trace tells at most as many events as were asked for', async () => {
  const { ask, events } = desk();
  const answer = await ask('trace shard-0 --max 7');
  assert.deepEqual(answer, { kind: 'answered', value: { events: 7 } });
  assert.equal(events.length, 7);
});

test('completionsOf offers verbs, then what may follow them', () => {
  assert.deepEqual(completionsOf(['to']), ['top']);
  assert.deepEqual(completionsOf(['top', 'm']), ['mailbox', 'mem']);
  assert.deepEqual(completionsOf(['trace', 'x', '--']), ['--max', '--for']);
  assert.deepEqual(completionsOf(['state', 'x']), []);
  assert.ok(completionsOf(['']).includes('help'));
  assert.deepEqual(complete('top b'), [['busy '], 'b']);
  assert.deepEqual(complete('top '), [['mailbox ', 'busy ', 'mem ', 'wait '], '']);
});
