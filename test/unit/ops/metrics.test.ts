import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { METRICS } from '../../../src/ops/metric-table.ts';
import { CrawlMetrics } from '../../../src/ops/metrics.ts';
import { frontReach, ratesBetween } from '../../../src/ops/overview-rates.ts';
import { sampleOverview } from '../../support/ops/sample-overview.ts';

const RATES = ratesBetween(sampleOverview(90), sampleOverview(100));

async function exposed(seconds: number): Promise<string> {
  const { text } = await new CrawlMetrics().expose(sampleOverview(seconds), RATES);
  return text;
}

test('docs/METRICS.md lists exactly the metrics there are, with kind, label and help', () => {
  const document = readFileSync(new URL('../../../../docs/METRICS.md', import.meta.url), 'utf8');
  const rows = document
    .split('\n')
    .filter((line) => line.startsWith('| `hostler_'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, name, kind, label, help]) => ({ name, kind, label, help }));
  const expected = METRICS.map(({ name, kind, label = '', help }) => ({ name, kind, label, help }));
  const histogram = {
    name: 'hostler_09_fetch_response_seconds',
    kind: 'histogram',
    label: 'le',
    help: 'Time to the first byte of an answer.',
  };
  assert.deepEqual(rows, [...expected, histogram]);
});

test('metric names are hostler_<step>_<what>_<unit>, counters end in _total, none twice', () => {
  const names = CrawlMetrics.names();
  assert.equal(new Set(names).size, names.length);
  for (const { name, kind } of METRICS) {
    assert.match(name, /^hostler_((0[1-9]|1[0-2])_[a-z]+|shard|process|crawl|cluster)_[a-z0-9_]+$/);
    assert.equal(name.endsWith('_total'), kind === 'counter', name);
  }
});

test('CrawlMetrics.expose writes values as Prometheus reads them', async () => {
  const text = await exposed(100);
  const wanted = [
    'hostler_10_checkpoint_pages_total 8000',
    'hostler_06_front_queued_urls{band="q2"} 6000',
    'hostler_08_schedule_hosts{state="backing-off"} 14',
    'hostler_09_fetch_answers_total{class="4xx"} 400',
    'hostler_09_fetch_answers_total{class="other"} 7',
    'hostler_09_fetch_failures_total{kind="other"} 5',
    'hostler_05_admit_skipped_total{reason="other"} 2',
    'hostler_crawl_state_info{state="running"} 1',
    'hostler_crawl_state_info{state="paused"} 0',
    'hostler_shard_busy_seconds_total{shard="1"} 60',
    'hostler_09_fetch_response_seconds_bucket{le="0.01"} 500',
    'hostler_09_fetch_response_seconds_sum 1400',
  ];
  const lines = new Set(text.split('\n'));
  for (const line of wanted) assert.ok(lines.has(line), line);
  assert.match(text, /# TYPE hostler_09_fetch_response_seconds histogram/);
  const plusInf = /_bucket\{le="\+Inf"\} (\d+)/.exec(text)?.[1];
  assert.equal(plusInf, /response_seconds_count (\d+)/.exec(text)?.[1]);
});

test('CrawlMetrics.expose sets counters to the crawl, however often it is scraped', async () => {
  const metrics = new CrawlMetrics();
  await metrics.expose(sampleOverview(10), RATES);
  const { text } = await metrics.expose(sampleOverview(20), RATES);
  assert.ok(text.includes('hostler_10_checkpoint_pages_total 1600\n'));
});

test('CrawlMetrics.expose adds no series for anything the web invents', async () => {
  const plain = sampleOverview(100);
  const names = Array.from({ length: 5_000 }, (_, index) => [`odd-${index}`, 1] as const);
  const odd = Object.fromEntries(names);
  const wild = { ...plain, statuses: odd, failures: odd, retries: odd, skipped: odd };
  const { text } = await new CrawlMetrics().expose(wild, RATES);
  assert.equal(text.split('\n').length, (await exposed(100)).split('\n').length);
});

test('ratesBetween divides by the interval, and takes quantiles of the interval alone', () => {
  assert.equal(RATES.seconds, 10);
  assert.equal(RATES.pagesPerSecond, 80);
  assert.ok((RATES.responseP50Ms ?? 0) > 30 && (RATES.responseP50Ms ?? 0) < 100);
  assert.ok((RATES.responseP99Ms ?? 0) > 1_000);
  const first = ratesBetween(undefined, sampleOverview(10));
  assert.equal(first.pagesPerSecond, 0);
  const backwards = ratesBetween(sampleOverview(10), { ...sampleOverview(11), pages: 0 });
  assert.equal(backwards.pagesPerSecond, 0);
  const still = ratesBetween(sampleOverview(10), sampleOverview(10));
  assert.equal(still.responseP50Ms, undefined);
});

test('frontReach weighs hosts at hand against slots, by response time and gap', () => {
  const overview = { ...sampleOverview(100), minGapMs: 900, slots: 50, inFlight: 10 };
  const hosts = { ...overview.hosts, ready: 0, waiting: 190 };
  const reach = frontReach({ ...overview, hosts }, { ...RATES, responseP50Ms: 100 });
  assert.deepEqual(reach, { hostsAtHand: 200, hostsNeeded: 500, requestsPerSecondMax: 200 });
  const unmeasured = frontReach({ ...overview, hosts }, { ...RATES, responseP50Ms: undefined });
  assert.equal(unmeasured.hostsNeeded, 50);
});

test('docs/alerts.yml names only metrics and labels that there are', async () => {
  const rules = readFileSync(new URL('../../../../docs/alerts.yml', import.meta.url), 'utf8');
  const series = [...rules.matchAll(/(hostler_\w+)(\{[^}]*\})?/g)];
  assert.ok(series.length > 8);
  const text = await exposed(100);
  for (const [, name = '', labels = ''] of series) {
    assert.ok(
      text.includes(`\n${name}${labels === '' ? '' : labels.replace(/\}$/, '')}`),
      name + labels,
    );
  }
});

/** Metric names with the labels that a text of PromQL picks or groups them by. */
function namesIn(text: string): { readonly name: string; readonly labels: readonly string[] }[] {
  return [...text.matchAll(/hostler_[a-z0-9_]+(?:\{([^}]*)\})?/g)].map(([whole, picked = '']) => ({
    name: (whole.split('{')[0] as string).replace(/_seconds_(?:bucket|sum|count)$/, '_seconds'),
    labels: [...picked.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label as string),
  }));
}

/** The texts of PromQL in an operator's files, by file. */
function queries(): { readonly file: string; readonly text: string }[] {
  const read = (file: string) =>
    readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), 'utf8');
  const { panels } = JSON.parse(read('grafana.json')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 30);
  return [
    ...expressions.map((text) => ({ file: 'grafana.json', text })),
    { file: 'alerts.yml', text: read('alerts.yml') },
  ];
}

test('docs/grafana.json and docs/alerts.yml use metrics that there are, by labels they have', () => {
  const labels = new Map(METRICS.map(({ name, label }) => [name, label]));
  labels.set('hostler_09_fetch_response_seconds', 'le');
  for (const { file, text } of queries()) {
    const used = namesIn(text);
    assert.ok(used.length > 0, text);
    for (const { name, labels: picked } of used) {
      assert.ok(labels.has(name), `${file}: there is no ${name}`);
      for (const label of picked) {
        assert.ok(label === 'instance' || label === labels.get(name), `${file}: ${name}{${label}}`);
      }
    }
    // A label that values are grouped by must be one that some metric of the expression has.
    for (const [, groups = ''] of file === 'grafana.json' ? text.matchAll(/ by \((\w+)\)/g) : []) {
      const has = used.some(({ name }) => labels.get(name) === groups);
      assert.ok(has || groups === 'instance', `${file}: ${text}`);
    }
  }
});
