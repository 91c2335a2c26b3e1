// The dashboard: listens to the crawl's news, one a second, and writes them into the page. It keeps
// nothing of its own but the chart points, so a reload, or a crawl that was restarted, is right at
// once.

import { Charts } from './charts.js';
import { ask, followAddress } from './details.js';
import { byId, element, refill, table } from './elements.js';
import { bytes, count, milliseconds, rate, span } from './format.js';
import { HostList } from './hosts.js';
import { startOperating } from './operate.js';

/** Without news for so long the page says that what it shows is old; milliseconds. */
const STALE_MS = 5_000;

/** A front that was small in so many news in a row is told of; a moment without a ready host is not. */
const SMALL_FRONT_NEWS = 5;

const charts = new Charts();
const hosts = new HostList();
let lastNewsAt = Date.now();
let smallFrontNews = 0;

/** @param {any} news */
function show(news) {
  const { overview, rates, topHosts } = news;
  lastNewsAt = Date.now();
  setState(overview.state);
  byId('trouble').hidden = true;
  byId('about').textContent =
    `${overview.version} · running for ${span((overview.at - overview.startedAt) / 1_000)}`;
  document.title = `${rate(rates.pagesPerSecond)} pages/s · hostler`;
  showTiles(news);
  showFront(news);
  showAnswers(overview);
  showTables(overview);
  hosts.news(topHosts);
  charts.add(news.point);
}

/** @param {any} news */
function showTiles({ overview, rates }) {
  const { hosts, seenSet, memory, queuedByBand } = overview;
  const queued = queuedByBand.reduce(
    (/** @type {number} */ sum, /** @type {number} */ one) => sum + one,
    0,
  );
  const fill = seenSet.capacity > 0 ? seenSet.keys / seenSet.capacity : 0;
  const meter = element('meter', {
    ...{ min: '0', max: '1', low: '0.8', high: '0.95', optimum: '0' },
    value: String(Math.min(fill, 1)),
    'aria-label': `seen set ${Math.round(fill * 100)} % full`,
  });
  /** @type {[string, string, string | Node][]} */
  const tiles = [
    ['Pages stored', count(overview.pages), `${rate(rates.pagesPerSecond)} per second`],
    ['Requests', count(overview.fetched), `${rate(rates.fetchedPerSecond)} per second`],
    ['Received', bytes(overview.bytes), `${bytes(rates.bytesPerSecond)} per second`],
    [
      'Response time',
      milliseconds(rates.responseP50Ms),
      `p99 ${milliseconds(rates.responseP99Ms)}`,
    ],
    ['In flight', count(overview.inFlight), `of ${count(overview.slots)} slots`],
    ['Queued URLs', count(queued), `${count(overview.parked)} parked`],
    [
      'Found per fetched',
      rate(overview.discovered / Math.max(overview.fetched, 1)),
      `${count(overview.discovered)} found`,
    ],
    [
      'Hosts ready',
      count(hosts.ready),
      `${count(hosts.waiting)} waiting, ${count(hosts.backingOff)} backing off`,
    ],
    ['Seen set', `${Math.round(fill * 100)} %`, meter],
    [
      'Duplicates',
      count(overview.duplicates.exact + overview.duplicates.near),
      `${count(overview.duplicates.near)} near`,
    ],
    ['Memory', bytes(memory.anonBytes + memory.sharedBytes), `${bytes(memory.sharedBytes)} shared`],
    ['CPU', `${rate(rates.cpuCores)} cores`, `${span(overview.cpuSeconds)} in all`],
  ];
  byId('tiles').replaceChildren(
    ...tiles.map(([name, value, more]) =>
      element(
        'div',
        {},
        element('dt', {}, name),
        element('dd', {}, value, element('small', {}, more)),
      ),
    ),
  );
}

/** What sets the rate of a polite crawl: each host gives one request a gap. @param {any} news */
function showFront({ overview, reach }) {
  const { ready, waiting, backingOff } = overview.hosts;
  const isSmall =
    overview.state === 'running' && ready === 0 && reach.hostsAtHand < reach.hostsNeeded;
  smallFrontNews = isSmall ? smallFrontNews + 1 : 0;
  byId('front').hidden = smallFrontNews < SMALL_FRONT_NEWS;
  byId('front').textContent =
    `The front is small: no host is ready, ${count(waiting)} wait for their gap, ` +
    `${count(overview.inFlight)} are being asked and ${count(backingOff)} back off. With at least ` +
    `${milliseconds(overview.minGapMs)} between two requests to a host, that gives at most ` +
    `${rate(reach.requestsPerSecondMax)} requests per second; ${count(reach.hostsNeeded)} hosts ` +
    `would keep all ${count(overview.slots)} slots busy.`;
}

/** @param {any} overview */
function showAnswers({ statuses }) {
  /** @type {[string, number][]} */
  const entries = Object.entries(statuses);
  const all = entries.reduce((sum, [, value]) => sum + value, 0);
  /** @type {Map<string, number>} */
  const classes = new Map();
  for (const [status, value] of entries) {
    const known = /^[2-5]\d\d$/.test(status) ? status.charAt(0) : 'other';
    classes.set(known, (classes.get(known) ?? 0) + value);
  }
  const parts = [...classes].sort().map(([name, value]) => {
    const part = element('span', { class: `class-${name}` });
    part.style.flexGrow = String(value);
    return part;
  });
  const rows = entries
    .sort((one, other) => other[1] - one[1])
    .slice(0, 12)
    .map(([status, value]) => [
      status,
      count(value),
      `${((100 * value) / Math.max(all, 1)).toFixed(1)} %`,
    ]);
  const columns = [
    { name: 'status' },
    { name: 'answers', isNumber: true },
    { name: 'share', isNumber: true },
  ];
  refill(
    byId('statuses'),
    element('div', { class: 'bar', 'aria-hidden': 'true' }, ...parts),
    table(columns, rows),
  );
}

/** @param {any} overview */
function showTables({ failures, retries, skipped, shards, storage, nodes, partitions }) {
  const kinds = [...new Set([...Object.keys(failures), ...Object.keys(retries)])].sort();
  refill(
    byId('failures'),
    table(
      [
        { name: 'kind' },
        { name: 'given up', isNumber: true },
        { name: 'to repeat', isNumber: true },
      ],
      kinds.map((kind) => [kind, count(failures[kind] ?? 0), count(retries[kind] ?? 0)]),
    ),
  );
  /** @type {[string, number][]} */
  const reasons = Object.entries(skipped);
  refill(
    byId('skipped'),
    table(
      [{ name: 'reason' }, { name: 'URLs', isNumber: true }],
      reasons
        .sort((one, other) => other[1] - one[1])
        .map(([reason, value]) => [reason, count(value)]),
    ),
  );
  refill(byId('shards'), shardTable(shards));
  refill(
    byId('storage'),
    table(
      [{ name: '' }, { name: 'median', isNumber: true }, { name: 'worst', isNumber: true }],
      [
        ['fdatasync', milliseconds(storage.syncP50Ms), milliseconds(storage.syncMaxMs)],
        ['commit', milliseconds(storage.commitP50Ms), milliseconds(storage.commitMaxMs)],
      ],
    ),
    table(
      [{ name: '' }, { name: '', isNumber: true }],
      [
        ['waiting for commit', bytes(storage.queuedBytes)],
        ['commits', count(storage.groups)],
        ['frontier segments', count(storage.frontierSegments)],
        ['disk free', bytes(storage.diskFreeBytes)],
      ],
    ),
  );
  refill(
    byId('nodes'),
    table(
      [
        { name: 'node' },
        { name: 'state' },
        { name: `of ${partitions} partitions`, isNumber: true },
      ],
      nodes.map((/** @type {any} */ node) => [node.name, node.state, count(node.partitions)]),
    ),
  );
}

/** @param {any[]} shards */
function shardTable(shards) {
  const columns = [
    { name: 'shard' },
    ...[
      'in flight',
      'ready',
      'waiting',
      'backing off',
      'awake',
      'to parse',
      'links out',
      'uncommitted',
      'loop delay',
    ].map((name) => ({ name, isNumber: true })),
  ];
  const rows = shards.map((shard) => [
    String(shard.shard),
    ...[
      shard.inFlight,
      shard.hostsReady,
      shard.hostsWaiting,
      shard.hostsBackingOff,
      shard.hostsActive,
    ].map(count),
    ...[shard.parseBacklog, shard.linksWaiting].map(count),
    bytes(shard.pendingBytes),
    milliseconds(shard.loopDelayMs),
  ]);
  return table(columns, rows);
}

/** @param {string} state */
function setState(state) {
  const badge = byId('state');
  badge.textContent = state;
  const looks = state === 'running' ? 'good' : state === 'not connected' ? 'bad' : 'warn';
  badge.className = `badge ${looks}`;
}

function showStaleness() {
  const ageMs = Date.now() - lastNewsAt;
  if (ageMs < STALE_MS) return;
  setState('not connected');
  byId('trouble').hidden = false;
  byId('trouble').textContent =
    `No news from the crawl for ${span(ageMs / 1_000)}. It may have ended or be very busy; this page tries again by itself.`;
}

function listen() {
  const events = new EventSource('/api/events');
  events.addEventListener('history', (event) => charts.restart(JSON.parse(event.data)));
  events.addEventListener('news', (event) => show(JSON.parse(event.data)));
  events.addEventListener('error', () => {
    // The browser connects again by itself, unless the server refused it.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, STALE_MS);
  });
}

byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (byId('question'));
  void ask(field.value);
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const goal = { '/': 'question', h: 'hosts-named' }[event.key];
  if (goal === undefined || document.querySelector('dialog[open]') !== null) return;
  event.preventDefault();
  byId(goal).focus();
});
setInterval(showStaleness, 1_000);
void startOperating();
followAddress();
await charts.start();
listen();
