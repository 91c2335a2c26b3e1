// The dialog with everything about one host or one URL: opened from a list or from the question
// field, closed by Escape. The drill-down from the list of hosts to a host, from its requests to a
// URL, and why that was or was not crawled. What it shows stands behind the # of the page's address,
// so that the browser's Back leads back and an address can be passed on. It asks only when told to.

import { byId, element, table } from './elements.js';
import { count, milliseconds, time } from './format.js';
import { hostActions } from './operate.js';

/** Asks about a URL when there is a scheme or a path in it, else about a host. @param {string} text */
export function ask(text) {
  const words = text.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words)) open('url', words);
  else if (words.includes('/')) open('url', `http://${words}`);
  else open('host', words.toLowerCase());
}

/** Shows what the page's address names, now and whenever it changes. */
export function followAddress() {
  const dialog = detailsDialog();
  dialog.addEventListener('close', () => {
    if (location.hash !== '') history.pushState(null, '', location.pathname);
  });
  addEventListener('hashchange', follow);
  follow();
}

function follow() {
  const [, kind, text = ''] = /^#(host|url)=(.*)$/.exec(location.hash) ?? [];
  if (kind === undefined) detailsDialog().close();
  else if (kind === 'host') void showHost(decoded(text));
  else void showUrl(decoded(text));
}

/** @param {'host' | 'url'} kind @param {string} text */
function open(kind, text) {
  const hash = `#${kind}=${encodeURIComponent(text)}`;
  if (location.hash === hash) follow();
  else location.hash = hash;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function detailsDialog() {
  return /** @type {HTMLDialogElement} */ (byId('details'));
}

/** A button that opens the details of a host. @param {string} host */
export function hostButton(host) {
  return link('host', host);
}

/** @param {'host' | 'url'} kind @param {string} text */
function link(kind, text) {
  const button = element('button', { type: 'button', class: 'link', 'data-name': text }, text);
  button.addEventListener('click', () => open(kind, text));
  return button;
}

/** @param {string} host */
async function showHost(host) {
  const report = await fetched(host, `/api/host/${encodeURIComponent(host)}`);
  if (report === undefined) return;
  const waits = report.whyNotReady.map((/** @type {string} */ why) => element('li', {}, why));
  const actions = hostActions(host);
  fill(host, [
    ...(actions.length === 0 ? [] : [element('div', { class: 'actions' }, ...actions)]),
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
        'queued Q1 Q2 Q3, due': report.queuedByBand.map(count).join(' · '),
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
    ...(hostOf(report.canonical) === undefined
      ? []
      : [titled('Host', element('p', {}, link('host', hostOf(report.canonical) ?? '')))]),
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
  const dialog = detailsDialog();
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

/** @param {string | undefined} url */
function hostOf(url) {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
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
    { name: 'took', isNumber: true },
  ];
  const rows = lines.map((line) => [
    time(line.at),
    link('url', line.url),
    line.failure ?? String(line.status),
    milliseconds(line.tookMs),
  ]);
  return element('div', { class: 'scroll' }, table(columns, rows));
}
