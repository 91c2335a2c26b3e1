// What an operator sees.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import {
  createDisplay,
  createProgress,
  type ProgressMode,
  type ProgressSnapshot,
  type ProgressStream,
} from '../../../src/app/progress.ts';

const SNAPSHOT: ProgressSnapshot = {
  pages: 30,
  fetched: 40,
  queued: 50,
  inFlight: 10,
  hostsReady: 3,
  hostsWaiting: 4,
  pagesPerSecond: 12.34,
  bytes: 12_345_678,
  seconds: 3_725,
  limit: undefined,
};

/** A stream that keeps its text; `onWrite` is called with it after each write. */
function sink(isTTY: boolean, onWrite: (text: string) => void = () => undefined): ProgressStream {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      onWrite(text);
      done();
    },
  });
  return Object.assign(stream, { isTTY });
}

function shown(mode: ProgressMode, isTTY: boolean, snapshot = SNAPSHOT): string {
  let last = '';
  const display = createDisplay(
    mode,
    sink(isTTY, (text) => (last = text)),
  );
  display.show(snapshot);
  display.writeAbove('a line\n');
  display.stop();
  return last;
}

test('createDisplay shows a bar where it is asked for, with everything that counts', () => {
  const text = shown('bar', false);
  match(text, / 40% \| 30 pages \| 12\/s \| 50 queued, 10 in flight/);
  match(text, /hosts 3 ready, 4 waiting \| 12\.3 MB \| 1:02:05/);
  match(shown('bar', false, { ...SNAPSHOT, limit: 60 }), / 50% \| 30 pages/);
});

test('createDisplay shows nothing of itself elsewhere than on a terminal', () => {
  strictEqual(shown('auto', false), 'a line\n');
  strictEqual(shown('none', false), 'a line\n');
});

test('createProgress shows one JSON object a second, however often it is called', () => {
  let now = 0;
  let text = '';
  const stream = sink(false, (all) => {
    text = all;
  });
  const progress = createProgress('json', { stream, nowMs: () => now });
  for (; now <= 3_900; now += 100) progress.show(() => ({ ...SNAPSHOT, seconds: now / 1_000 }));
  progress.close();
  const objects = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  deepStrictEqual(
    objects.map(({ kind, seconds }) => [kind, seconds]),
    [0, 1, 2, 3].map((second) => ['progress', second]),
  );
  strictEqual(objects[0].pages, 30);
});
