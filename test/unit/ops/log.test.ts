// The log: one line an event, with a code, and no flood.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { Log } from '../../../src/ops/log.ts';

function logged(options: { isPretty?: boolean; level?: 'info' | 'silent' } = {}): {
  readonly log: Log;
  readonly lines: string[];
  readonly at: (nowMs: number) => void;
} {
  const lines: string[] = [];
  let now = 0;
  const log = new Log({
    level: options.level ?? 'info',
    isPretty: options.isPretty ?? false,
    write: (line) => lines.push(line),
    linesPerWindow: 2,
    windowMs: 1_000,
    nowMs: () => now,
  });
  const at = (nowMs: number): void => {
    now = nowMs;
  };
  return { log, lines, at };
}

test('Log.info writes one JSON line with level, code, fields and text', () => {
  const { log, lines } = logged();
  log.info('seed-bad', 'a seed was skipped', { line: 7 });
  strictEqual(lines.length, 1);
  const { time, ...rest } = JSON.parse(lines[0] as string);
  deepStrictEqual(rest, { level: 'info', code: 'seed-bad', line: 7, msg: 'a seed was skipped' });
  match(time, /^\d{4}-\d\d-\d\dT/);
});

test('Log writes one readable line for people', () => {
  const { log, lines } = logged({ isPretty: true });
  log.warn('disk-low', 'the disk is nearly full', { bytesFree: 5 });
  match(lines[0] as string, /WARN.*disk-low: the disk is nearly full.*"bytesFree":5.*\n$/);
});

test('Log holds a code back that repeats, and tells how often with its next line', () => {
  const { log, lines, at } = logged();
  for (let count = 0; count < 100; count += 1) log.warn('dns-failed', 'no answer');
  log.warn('other', 'not held back');
  strictEqual(lines.length, 3);
  at(1_000);
  log.warn('dns-failed', 'no answer');
  strictEqual(JSON.parse(lines[3] as string).suppressed, 98);
});

test('Log.flush tells what was held back, and Log.fatal is never held back', () => {
  const { log, lines } = logged();
  for (let count = 0; count < 5; count += 1) log.error('x', 'text');
  for (let count = 0; count < 5; count += 1) log.fatal('x', 'text');
  strictEqual(lines.length, 7);
  log.flush();
  strictEqual(JSON.parse(lines[7] as string).suppressed, 3);
});

test('Log.level changes what is written at once', () => {
  const { log, lines } = logged({ level: 'silent' });
  log.error('x', 'text');
  log.level = 'debug';
  log.debug('x', 'text');
  log.trace('x', 'text');
  strictEqual(lines.length, 1);
});
