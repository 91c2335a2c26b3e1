// What the order of a crawl is worth (step 6): on a web whose pages have known importance, how much of it is fetched in the first tenth and
// in the first three tenths of the requests, by priority bands, first come first served, and at random.
import { ok } from 'node:assert';
import { test } from 'node:test';
import { SeededRandom } from '../../../src/base/random.ts';
import { priorityBand } from '../../../src/domain/priority.ts';

const HOSTS = 600;
const PAGES = 30;
const WEIGHTS = [6, 3, 1];

/** A page: of which host, and which of its pages; page 0 is the home page. */
interface Page {
  readonly host: number;
  readonly page: number;
}

/** A link to follow. */
interface Waiting extends Page {
  readonly depth: number;
}

/**
 * Hosts of Zipf-like importance; a page matters as its host does, half as much for each step below the home page. Each page links to the two
 * below it and to three other hosts, chosen by importance, mostly to their home pages.
 */
class RankedWeb {
  readonly #random: SeededRandom;
  readonly #cumulative: number[] = [];

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    let sum = 0;
    for (let host = 0; host < HOSTS; host += 1) {
      sum += weightOf(host);
      this.#cumulative.push(sum);
    }
  }

  linksOf({ host, page }: Page): Page[] {
    const children = [2 * page + 1, 2 * page + 2].filter((child) => child < PAGES);
    const links: Page[] = children.map((child) => ({ host, page: child }));
    for (let link = 0; link < 3; link += 1) {
      const isHome = this.#random.float() < 0.7;
      const below = this.#random.below(PAGES);
      links.push({ host: this.#chosen(), page: isHome ? 0 : below });
    }
    return links;
  }

  #chosen(): number {
    const drawn = this.#random.float() * (this.#cumulative.at(-1) ?? 0);
    return this.#cumulative.findIndex((sum) => sum >= drawn);
  }
}

/** The most important host is none of the first to be met: ranks are spread over the numbers. */
const weightOf = (host: number): number => (1 + ((host * 271) % HOSTS)) ** -0.9;
const importanceOf = ({ host, page }: Page): number =>
  weightOf(host) * 0.5 ** Math.floor(Math.log2(page + 1));

type Order = 'bands' | 'first-come' | 'random';

/** Shares of all importance that the first 10 % and 30 % of the requests bring. */
function crawl(order: Order, seed: number): readonly [number, number] {
  const web = new RankedWeb(seed);
  const random = new SeededRandom(seed + 1);
  const seen = new Set<number>();
  const linkedFrom = Array.from({ length: HOSTS }, () => new Set<number>());
  const queues: Waiting[][] = [[], [], []];
  const credits = [...WEIGHTS];
  const offer = (link: Waiting, from: number | undefined): void => {
    if (from !== undefined && from !== link.host) linkedFrom[link.host]?.add(from);
    const key = link.host * PAGES + link.page;
    if (seen.has(key)) return;
    seen.add(key);
    const inLinkDomains = linkedFrom[link.host]?.size ?? 0;
    const isHome = link.page === 0;
    const band = priorityBand({ depth: link.depth, inLinkDomains, isHome });
    queues[order === 'bands' ? band : 0]?.push(link);
  };
  for (const host of [5, 77, 300]) offer({ host, page: 0, depth: 0 }, undefined);
  const gained: number[] = [];
  for (;;) {
    const next = order === 'random' ? takeAny(queues[0] ?? [], random) : takeNext(queues, credits);
    if (next === undefined) break;
    gained.push(importanceOf(next));
    for (const link of web.linksOf(next)) offer({ ...link, depth: next.depth + 1 }, next.host);
  }
  const whole = sumOf(gained);
  return [
    sumOf(gained.slice(0, gained.length * 0.1)) / whole,
    sumOf(gained.slice(0, gained.length * 0.3)) / whole,
  ];
}

/** As host-schedule.ts shares slots among bands: by weight, among those that have something. */
function takeNext(queues: readonly Waiting[][], credits: number[]): Waiting | undefined {
  for (let round = 0; round < 2; round += 1) {
    for (const [band, queue] of queues.entries()) {
      if (queue.length === 0 || (credits[band] ?? 0) <= 0) continue;
      credits[band] = (credits[band] ?? 0) - 1;
      return queue.shift();
    }
    for (const [band, weight] of WEIGHTS.entries()) credits[band] = weight;
  }
  return undefined;
}

function takeAny(queue: Waiting[], random: SeededRandom): Waiting | undefined {
  return queue.splice(random.below(Math.max(queue.length, 1)), 1)[0];
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

test('priorityBand fetches more of what matters early than first come first served and chance', (t) => {
  for (const seed of [1, 2, 3]) {
    const [bands, firstCome, chance] = (['bands', 'first-come', 'random'] as const).map((order) =>
      crawl(order, seed),
    ) as [readonly [number, number], readonly [number, number], readonly [number, number]];
    const shown = [bands, firstCome, chance].map((pair) =>
      pair.map((share) => `${(100 * share).toFixed(0)} %`).join(' and '),
    );
    t.diagnostic(`seed ${seed}: bands ${shown[0]}, first come ${shown[1]}, random ${shown[2]}`);
    ok(bands[0] > firstCome[0] * 1.05, shown.join('; '));
    ok(bands[1] > firstCome[1], shown.join('; '));
    ok(bands[0] > chance[0] * 1.2, shown.join('; '));
    ok(bands[1] > chance[1] * 1.1, shown.join('; '));
  }
});
