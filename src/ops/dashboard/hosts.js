// The list of hosts, from which each host's page opens. In its usual order it comes with the news; in
// another, or when a part of a name is typed, it is asked for. Asking looks at every host's row, so it
// is done every few seconds at most, and only while somebody looks.

import { hostButton } from './details.js';
import { byId, refill, table } from './elements.js';
import { count, milliseconds } from './format.js';

const ASK_MS = 5_000;
/** Hosts shown of a list that may be longer. */
const SHOWN_MAX = 50;

/** Keeps the list of hosts in the page up to date. */
export class HostList {
  #by = /** @type {HTMLSelectElement} */ (byId('hosts-by'));
  #named = /** @type {HTMLInputElement} */ (byId('hosts-named'));
  /** @type {any[]} */
  #hosts = [];
  #askedAt = 0;

  constructor() {
    this.#by.addEventListener('change', () => void this.#ask());
    this.#named.addEventListener('input', () => this.#show());
    this.#named.addEventListener('focus', () => void this.#ask());
  }

  /** @param {any[]} topHosts those with most requests, as the news bring them */
  news(topHosts) {
    if (this.#by.value === 'fetched' && this.#named.value === '') {
      this.#hosts = topHosts;
      this.#show();
    } else if (!document.hidden && Date.now() - this.#askedAt >= ASK_MS) {
      void this.#ask();
    }
  }

  async #ask() {
    this.#askedAt = Date.now();
    try {
      const response = await fetch(`/api/hosts?by=${this.#by.value}`);
      if (!response.ok) return;
      this.#hosts = await response.json();
      this.#show();
    } catch {
      // The crawl does not answer: the page says so already, and the list stays as it was.
    }
  }

  #show() {
    const part = this.#named.value.trim().toLowerCase();
    const found = this.#hosts.filter(({ host }) => host.includes(part));
    refill(byId('hosts'), hostTable(found.slice(0, SHOWN_MAX)));
  }
}

/** @param {any[]} hosts */
function hostTable(hosts) {
  const numbers = ['requests', 'stored', 'failed', 'queued', 'gap', 'next in'];
  const columns = [
    { name: 'host' },
    { name: 'state' },
    ...numbers.map((name) => ({ name, isNumber: true })),
  ];
  const rows = hosts.map((host) => [
    hostButton(host.host),
    host.state,
    ...[host.fetched, host.stored, host.failed, host.queued].map(count),
    milliseconds(host.gapMs),
    host.nextInMs === 0 ? 'now' : milliseconds(host.nextInMs),
  ]);
  return table(columns, rows);
}
