// The charts over time, drawn by uPlot. Each has its present values in its caption, so that nothing
// is told by colour or line alone. Ten minutes at most, at a point a second; older points are forgotten.
// Colours come from the style sheet, so they follow its light and dark.

import { byId, element } from './elements.js';
import { bytes, count, milliseconds, rate } from './format.js';

const HEIGHT = 160;
const SPAN_SECONDS = 600;
/** A crawl that began just now is shown over this time at least. */
const SPAN_SECONDS_MIN = 60;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {(point: any) => number | null | undefined} read
 */

/** @type {{ title: string, write: (value: any) => string, series: Series[] }[]} */
const CHARTS = [
  {
    title: 'Per second',
    write: rate,
    series: [
      { name: 'requests', read: (point) => point.fetchedPerSecond },
      { name: 'pages stored', read: (point) => point.pagesPerSecond },
    ],
  },
  {
    title: 'Received per second',
    write: bytes,
    series: [{ name: 'bytes', read: (point) => point.bytesPerSecond }],
  },
  {
    title: 'Response time',
    write: milliseconds,
    series: [
      { name: 'p50', read: (point) => point.responseP50Ms },
      { name: 'p90', read: (point) => point.responseP90Ms },
      { name: 'p99', read: (point) => point.responseP99Ms },
    ],
  },
  {
    title: 'Queued URLs by band',
    write: count,
    series: [0, 1, 2].map((band) => ({
      name: `Q${band + 1}`,
      read: (/** @type {any} */ point) => point.queuedByBand[band],
    })),
  },
  {
    title: 'Hosts',
    write: count,
    series: [
      { name: 'ready', read: (point) => point.hostsReady },
      { name: 'waiting', read: (point) => point.hostsWaiting },
      { name: 'backing off', read: (point) => point.hostsBackingOff },
      { name: 'in flight', read: (point) => point.inFlight },
    ],
  },
  {
    title: 'Found per fetched',
    write: rate,
    series: [{ name: 'URLs', read: (point) => point.discoveredPerFetched }],
  },
];

/** Draws all charts into the page. Without the library only captions are shown. */
export class Charts {
  /** @type {any} */
  #library;
  /** @type {any[]} */
  #points = [];
  /** @type {{ plot: any, holder: HTMLElement, values: HTMLElement[] }[]} */
  #drawn = [];

  async start() {
    try {
      const address = '/assets/uplot.js';
      this.#library = (await import(address)).default;
    } catch {
      byId('charts').append(
        element(
          'p',
          { class: 'notice' },
          'The chart library is not installed; figures are live all the same.',
        ),
      );
    }
    for (const chart of CHARTS) this.#make(chart);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
    new ResizeObserver(() => this.#resize()).observe(byId('charts'));
    this.#redraw();
  }

  /** @param {any[]} points all there are, oldest first */
  restart(points) {
    this.#points = points;
    this.#show();
  }

  /** @param {any} point the newest */
  add(point) {
    const last = this.#points.at(-1);
    if (last !== undefined && last.at >= point.at) return;
    this.#points.push(point);
    if (this.#points.length > SPAN_SECONDS) this.#points.shift();
    this.#show();
  }

  /** @param {(typeof CHARTS)[number]} chart */
  #make({ title, series }) {
    const values = series.map(() => element('span', {}, '–'));
    const keys = series.map(({ name }, index) =>
      element(
        'span',
        {},
        element('i', { class: `key key-${index + 1}`, 'aria-hidden': 'true' }),
        `${name} `,
        /** @type {Node} */ (values[index]),
      ),
    );
    const holder = element('div', { class: 'plot', 'aria-hidden': 'true' });
    const caption = element('figcaption', {}, element('strong', {}, title), ...keys);
    byId('charts').append(element('figure', {}, caption, holder));
    this.#drawn.push({ plot: undefined, holder, values });
  }

  /** Colours are fixed when a plot is made, so another colour scheme needs new plots. */
  #redraw() {
    if (this.#library === undefined) return;
    for (const [index, chart] of CHARTS.entries()) {
      const drawn = this.#drawn[index];
      if (drawn === undefined) continue;
      drawn.plot?.destroy();
      const width = drawn.holder.clientWidth;
      drawn.plot = new this.#library(optionsOf(chart, width), this.#columns(chart), drawn.holder);
    }
    this.#show();
  }

  #resize() {
    for (const { plot, holder } of this.#drawn) {
      plot?.setSize({ width: holder.clientWidth, height: HEIGHT });
    }
  }

  #show() {
    for (const [index, chart] of CHARTS.entries()) {
      const drawn = this.#drawn[index];
      if (drawn === undefined) continue;
      drawn.plot?.setData(this.#columns(chart));
      const newest = this.#points.at(-1);
      for (const [place, { read }] of chart.series.entries()) {
        const value = newest === undefined ? undefined : read(newest);
        const text = value === null || value === undefined ? '–' : chart.write(value);
        const holder = drawn.values[place];
        if (holder !== undefined) holder.textContent = text;
      }
    }
  }

  /** @param {(typeof CHARTS)[number]} chart */
  #columns({ series }) {
    const times = this.#points.map(({ at }) => at / 1_000);
    return [times, ...series.map(({ read }) => this.#points.map((point) => read(point) ?? null))];
  }
}

/**
 * @param {(typeof CHARTS)[number]} chart
 * @param {number} width
 */
function optionsOf({ series, write }, width) {
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 18, 0, 0],
    scales: {
      x: { range: (_plot, least, most) => [Math.min(least, most - SPAN_SECONDS_MIN), most] },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, size: 24, space: 70, values: (_plot, ticks) => clocks(ticks) },
      { ...axis, size: 60, values: (_plot, ticks) => ticks.map(write) },
    ],
    series: [
      {},
      ...series.map(({ name }, index) => ({
        label: name,
        stroke: colour(`--series-${index + 1}`),
        width: 1.75,
        points: { show: false },
      })),
    ],
  };
}

/** Times of day, with seconds where minutes would repeat. @param {number[]} ticks seconds since the epoch */
function clocks(ticks) {
  const isFine = ticks.some((tick) => tick % 60 !== 0);
  const digits = isFine ? 8 : 5;
  return ticks.map((tick) => new Date(tick * 1_000).toLocaleTimeString('sv').slice(0, digits));
}
