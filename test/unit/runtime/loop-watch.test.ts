import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { LoopWatch } from '../../../src/runtime/loop-watch.ts';

test('LoopWatch.blindMs is nothing for an event that the loop waited for', () => {
  let idleMs = 0;
  const watch = new LoopWatch(() => idleMs);
  watch.ran(100, 104);
  idleMs += 46;
  equal(watch.blindMs(150), 0);
});

test('LoopWatch.blindMs counts from the beginning of a pump after which the loop did not wait', () => {
  const watch = new LoopWatch(() => 7);
  watch.ran(100, 104);
  equal(watch.blindMs(105), 5);
  equal(watch.blindMs(109), 9);
});

test('LoopWatch.blindMs counts what other callbacks took since the wait', () => {
  let idleMs = 0;
  const watch = new LoopWatch(() => idleMs);
  watch.ran(0, 10);
  idleMs += 20;
  equal(watch.blindMs(33), 3);
  equal(watch.blindMs(40), 10);
  idleMs += 5;
  equal(watch.blindMs(46), 1);
});

test('LoopWatch.blindMs never tells a time below zero when two clocks disagree a little', () => {
  let idleMs = 0;
  const watch = new LoopWatch(() => idleMs);
  watch.ran(0, 10);
  idleMs += 21;
  equal(watch.blindMs(30), 0);
});
