// The small parts of the report: bins of time, figures in words, charts.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { columnChart, escapeHtml, shareBar } from '../../../src/app/svg-charts.ts';
import { bytesText, durationText, timeText } from '../../../src/app/text-figures.ts';
import { Timeline } from '../../../src/app/timeline.ts';

test('Timeline counts every event, in order or not, in at most 120 bins', () => {
  const timeline = new Timeline(1_000);
  const times = [500, 1_000, 1_999, 2_000, 400_000, 3_000, 9_000_000, 1_000];
  for (const at of times) timeline.add(at);
  const { startedAt, binMs, counts } = timeline.bins();
  ok(counts.length <= 120);
  strictEqual(
    counts.reduce((sum, count) => sum + count, 0),
    times.length,
  );
  strictEqual(counts[Math.floor((9_000_000 - startedAt) / binMs)], 1);
  strictEqual(counts[0], 6);
});

test('bytesText, durationText and timeText round to what fits a line', () => {
  deepStrictEqual([0, 999, 1_000, 1_234_567, 99_960_000, 2e15].map(bytesText), [
    '0 B',
    '999 B',
    '1.0 kB',
    '1.2 MB',
    '100 MB',
    '2.0 PB',
  ]);
  deepStrictEqual([800, 9_999, 90_000, 600_000, 9_000_000, 259_200_000].map(durationText), [
    '0.8 s',
    '10 s',
    '90 s',
    '10 min',
    '2.5 h',
    '3 days',
  ]);
  strictEqual(timeText(0), '1970-01-01 00:00:00 UTC');
});

test('columnChart and shareBar escape what they are given and stay inside their boxes', () => {
  const chart = columnChart([{ value: 3, label: '<b>' }], [{ at: 1, text: '"&' }], 'x');
  match(chart, /<title>&lt;b&gt;<\/title>/);
  match(chart, />&quot;&amp;<\/text>/);
  const heights = [...chart.matchAll(/ height="([\d.]+)"/g)].map(([, height]) => Number(height));
  deepStrictEqual(
    heights.filter((height) => height > 200),
    [],
  );
  match(shareBar(7, 'good'), /width="100"/);
  match(shareBar(-1, 'good'), /width="0.6"/);
  strictEqual(escapeHtml('<a href="x">&'), '&lt;a href=&quot;x&quot;&gt;&amp;');
});
