import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import { gateFigure } from '../../bench/gate.ts';

test('a simulated crawl costs what it did, against plain work in the same run', async (t) => {
  const { isKept, text } = await gateFigure();
  t.diagnostic(text);
  ok(isKept, text);
});
