// Prometheus exposition by prom-client: a registry of its own, filled from the latest snapshot at
// each scrape (metric-table.ts). Counters are those of the crawl, so a scrape sets them; nothing is
// counted twice and nothing is lost between two scrapes.

import { Counter, Gauge, type Histogram, Registry } from 'prom-client';
import { METRICS, type Metric, RESPONSE_TIME } from './metric-table.ts';
import type { CrawlOverview, DurationHistogram } from './overview.ts';
import type { OverviewRates } from './overview-rates.ts';

/** A scrape's text with its content type. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** See the head of this file. One for each server. */
export class CrawlMetrics {
  readonly #registry = new Registry();
  readonly #series: readonly { readonly metric: Metric; readonly target: Target }[];
  readonly #responseTimes = new ResponseTimes();

  constructor() {
    const registers = [this.#registry];
    this.#series = METRICS.map((metric) => ({ metric, target: targetOf(metric, registers) }));
    this.#registry.registerMetric(this.#responseTimes as unknown as Histogram);
  }

  /** Names of all metrics, in the order of the table. */
  static names(): readonly string[] {
    return [...METRICS.map(({ name }) => name), RESPONSE_TIME.name];
  }

  /** The text of a scrape. */
  async expose(overview: CrawlOverview, rates: OverviewRates): Promise<Exposition> {
    for (const { metric, target } of this.#series) {
      target.reset();
      for (const { label, value } of metric.read(overview, rates)) {
        const labels = metric.label === undefined ? {} : { [metric.label]: label };
        target.inc(labels, value);
      }
    }
    this.#responseTimes.now = overview.responseMs;
    const text = await this.#registry.metrics();
    return { contentType: this.#registry.contentType, text };
  }
}

type Target = Counter | Gauge;

function targetOf({ name, help, kind, label }: Metric, registers: Registry[]): Target {
  const labelNames = label === undefined ? [] : [label];
  const options = { name, help, labelNames, registers };
  return kind === 'counter' ? new Counter(options) : new Gauge(options);
}

type Snapshot = Awaited<ReturnType<Histogram['get']>>;
type Bucket = Snapshot['values'][number];

function bucketsOf(name: string, { boundsMs, counts, sumMs }: DurationHistogram): Bucket[] {
  let below = 0;
  const buckets: Bucket[] = counts.map((count, index) => {
    below += count;
    const bound = boundsMs[index];
    const le = bound === undefined ? '+Inf' : bound / 1_000;
    return { metricName: `${name}_bucket`, labels: { le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: sumMs / 1_000 },
    { metricName: `${name}_count`, labels: {}, value: below },
  ];
}

/** A histogram whose counts come from elsewhere; prom-client's own can only observe values one by one. */
class ResponseTimes {
  readonly name = RESPONSE_TIME.name;
  now: DurationHistogram | undefined;

  /** What the registry asks of each of its metrics. */
  get(): Promise<Snapshot> {
    const { name, help } = RESPONSE_TIME;
    const values = this.now === undefined ? [] : bucketsOf(name, this.now);
    // prom-client's own types leave its enum of kinds and its `collect` to be cast.
    const snapshot = { name, help, type: 'histogram', aggregator: 'sum', values };
    return Promise.resolve(snapshot as unknown as Snapshot);
  }
}
