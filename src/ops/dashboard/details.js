// The dialog with everything about one host or one URL: opened from a list or from the question
// field, closed by Escape. The drill-down from the list of hosts to a host, and from a URL to why
// it was or was not crawled. It asks only when told to.

import { byId, element, table } from './elements.js';
import { bytes, count, milliseconds, time } from './format.js';

/** Asks about a URL when there is a scheme or a path in it, else about a host. @param {string} text */
export function ask(text) {
  const words = text.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words)) return showUrl(words);
  return words.includes('/') ? showUrl(`http://${words}`) : showHost(words);
}

/** A button that opens the details of a host. @param {string} host */
export function hostButton(host) {
  const button = element('button', { type: 'button', class: 'link', 'data-name': host }, host);
  button.addEventListener('click', () => showHost(host));
  return button;
}

/** @param {string} host */
async function showHost(host) {
  const report = await fetched(host, `/api/host/${encodeURIComponent(host)}`);
  if (report === undefined) return;
  const waits = report.whyNotReady.map((/** @type {string} */ why) => element('li', {}, why));
  fill(host, [
    titled(
      'Why not ready',
      waits.length === 0 ? text('It is ready or in flight.') : element('ul', {}, ...waits),
    ),
    titled(
      'Place',
      pairs({
        state: report.state,
        'next request in': milliseconds(report.nextInMs),
        'in flight': report.inFlight ?? 'nothing',
        'queued Q1 Q2 Q3': report.queuedByBand.map(count).join(' · '),
        partition: `${report.partition} on shard ${report.shard}, ${report.node}`,
        addresses: report.addresses.join(', ') || 'none known',
      }),
    ),
    titled(
      'Gap',
      pairs(report.gap, (name, value) =>
        name.endsWith('Ms') ? milliseconds(value) : count(value),
      ),
    ),
    titled(
      'Counts',
      pairs(report.counts, (_name, value) => count(value)),
    ),
    titled('robots.txt', robotsTable(report.robots)),
    titled('Last requests', fetches(report.recent)),
  ]);
}

/** @param {string} url */
async function showUrl(url) {
  const report = await fetched(url, `/api/why?url=${encodeURIComponent(url)}`);
  if (report === undefined) return;
  const columns = [
    { name: 'step', isNumber: true },
    { name: 'question' },
    { name: 'answer', isWrapped: true },
    { name: 'because', isWrapped: true },
  ];
  const rows = report.decisions.map((/** @type {any} */ decision) => [
    String(decision.step),
    decision.what,
    decision.result,
    decision.because,
  ]);
  fill(url, [
    element('p', {}, element('strong', {}, report.verdict)),
    titled('Canonical form', text(report.canonical ?? 'none')),
    titled('Decisions', element('div', { class: 'scroll' }, table(columns, rows))),
    titled('Requests', fetches(report.fetches)),
  ]);
}

/**
 * The answer, or undefined after saying why there is none.
 * @param {string} title
 * @param {string} address
 */
async function fetched(title, address) {
  fill(title, [text('Asking…')]);
  const dialog = /** @type {HTMLDialogElement} */ (byId('details'));
  if (!dialog.open) dialog.showModal();
  try {
    const response = await fetch(address);
    const answer = await response.json();
    if (response.ok) return answer;
    fill(title, [text(answer.error)]);
  } catch (thrown) {
    fill(title, [text(`The crawl did not answer: ${thrown}`)]);
  }
  return undefined;
}

/**
 * @param {string} title
 * @param {(Node | string)[]} children
 */
function fill(title, children) {
  byId('details-title').textContent = title;
  byId('details-body').replaceChildren(...children);
}

/**
 * @param {string} title
 * @param {Node} body
 */
function titled(title, body) {
  return element('div', {}, element('h3', {}, title), body);
}

/** @param {string} words */
function text(words) {
  return element('p', {}, words);
}

/**
 * @param {Record<string, any>} fields
 * @param {(name: string, value: any) => string} write
 */
function pairs(fields, write = (_name, value) => String(value)) {
  const rows = Object.entries(fields).map(([name, value]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, spoken(name)),
      element('td', { class: 'wrap' }, write(name, value)),
    ),
  );
  return element('table', { class: 'pairs' }, element('tbody', {}, ...rows));
}

/** `crawlDelayMs` as `crawl delay`. @param {string} name */
function spoken(name) {
  const words = name.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return name.includes(' ') ? name : words;
}

/** @param {any[]} rows */
function robotsTable(rows) {
  const columns = [
    { name: 'origin' },
    { name: 'decision' },
    { name: 'because', isWrapped: true },
    { name: 'fetched' },
  ];
  const cells = rows.map((row) => [row.origin, row.decision, row.because, time(row.fetchedAt)]);
  return element('div', { class: 'scroll' }, table(columns, cells));
}

/** @param {any[]} lines */
function fetches(lines) {
  const columns = [
    { name: 'when' },
    { name: 'URL', isWrapped: true },
    { name: 'answer' },
    { name: 'size', isNumber: true },
    { name: 'time', isNumber: true },
  ];
  const rows = lines.map((line) => [
    time(line.at),
    line.url,
    line.failure ?? String(line.status),
    bytes(line.bytes),
    milliseconds(line.responseMs),
  ]);
  return element('div', { class: 'scroll' }, table(columns, rows));
}
