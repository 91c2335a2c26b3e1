// How fresh a crawl keeps pages of known change rates, by the recrawl policy and by fixed ones with as many visits. Changes are Poisson processes,
// as measured for the web (Cho and Garcia-Molina, TODS 2003, whose closed forms for periodic visits are used here). The adaptive policy
// is the very function that the crawl runs, made to visit each page when it is due; what it does not know is the rates.
import { SeededRandom } from '../../src/base/random.ts';
import { wallMs } from '../../src/base/units.ts';
import { afterVisit, type RecrawlPolicy, type VisitState } from '../../src/domain/recrawl.ts';

export const DAY_MS = 86_400_000;

/** What a policy achieves, after its first year. */
export interface Freshness {
  /** Share of pages that are up to date, averaged over time; 0 … 1. */
  readonly upToDate: number;
  /** Time since the first change that was not seen yet, 0 for pages up to date, averaged over pages and time; days. */
  readonly ageDays: number;
  /** Visits of a page in a day, on average. */
  readonly visitsPerDay: number;
}

/**
 * Change rates of some pages, changes a day: 45 % never change, the others have mean times between changes from a day to 2,000, evenly on a
 * logarithmic scale. So two thirds of all do not change in eleven weeks and a few per cent do in each, as Fetterly et al. found of 150
 * million pages (WWW 2003, §4).
 */
export function changeRates(count: number, seed: number): readonly number[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => {
    const isStatic = random.chance(0.45);
    const days = 2_000 ** random.float();
    return isStatic ? 0 : 1 / days;
  });
}

/** Runs the crawl's policy on pages for so many days, the first year not counted. */
export function adaptiveFreshness(
  policy: RecrawlPolicy,
  rates: readonly number[],
  options: { readonly days: number; readonly seed: number },
): Freshness {
  const random = new SeededRandom(options.seed);
  const sums = { fresh: 0, age: 0, visits: 0 };
  const from = 365 * DAY_MS;
  const to = from + options.days * DAY_MS;
  for (const rate of rates) followPage(policy, rate / DAY_MS, { random, from, to, sums });
  const pageDays = rates.length * options.days;
  return {
    upToDate: sums.fresh / (pageDays * DAY_MS),
    ageDays: sums.age / (pageDays * DAY_MS * DAY_MS),
    visitsPerDay: sums.visits / pageDays,
  };
}

interface Following {
  readonly random: SeededRandom;
  readonly from: number;
  readonly to: number;
  readonly sums: { fresh: number; age: number; visits: number };
}

function followPage(policy: RecrawlPolicy, ratePerMs: number, following: Following): void {
  const { random, from, to, sums } = following;
  const wait = (): number =>
    ratePerMs === 0 ? Number.POSITIVE_INFINITY : -Math.log(1 - random.float()) / ratePerMs;
  const first = { outcome: 'new', at: wallMs(0), freshForMs: undefined, sitemap: false } as const;
  let state: VisitState = afterVisit(policy, undefined, first);
  let visitedAt = 0;
  let changesAt = wait();
  while (visitedAt < to) {
    const dueAt = Math.min(state.dueAt, to);
    // What counts of the time from this visit to the next: fresh until the first change, ever older from then on.
    const [start, end] = [Math.max(visitedAt, from), Math.max(dueAt, from)];
    const staleFrom = Math.min(Math.max(changesAt, start), end);
    sums.fresh += staleFrom - start;
    if (changesAt < end) {
      sums.age += ((end - changesAt) ** 2 - (staleFrom - changesAt) ** 2) / 2;
    }
    if (state.dueAt >= to) return;
    if (state.dueAt >= from) sums.visits += 1;
    visitedAt = state.dueAt;
    const outcome = changesAt <= visitedAt ? 'changed' : 'unchanged';
    // The process has no memory: after a visit the next change is a new draw away.
    if (outcome === 'changed') changesAt = visitedAt + wait();
    state = afterVisit(policy, state, { ...first, outcome, at: state.dueAt });
  }
}

/** Every page visited equally often. */
export function uniformFreshness(rates: readonly number[], visitsPerDay: number): Freshness {
  return fixedFreshness(
    rates,
    rates.map(() => visitsPerDay),
  );
}

/**
 * The best fixed policy: visits divided so that the average share of pages up to date is the greatest that this many visits can give, by one who
 * knows all rates. Pages that change too fast get none (op. cit. §4): the marginal gain of a visit is the same for all that get any.
 */
export function bestFreshness(rates: readonly number[], visitsPerDay: number): Freshness {
  const wanted = visitsPerDay * rates.length;
  let [low, high] = [1e-9, 1e5];
  for (let round = 0; round < 100; round += 1) {
    const price = Math.sqrt(low * high);
    const total = rates.reduce((sum, rate) => sum + visitsAt(rate, price), 0);
    if (total > wanted) low = price;
    else high = price;
  }
  return fixedFreshness(
    rates,
    rates.map((rate) => visitsAt(rate, Math.sqrt(low * high))),
  );
}

/** Visits a day at which one more visit a day of a page gains exactly `price`; 0 when the first gains less. */
function visitsAt(rate: number, price: number): number {
  // The gain falls with the frequency, from 1 / rate on.
  if (rate === 0 || price * rate >= 1) return 0;
  let [low, high] = [1e-9, 1e6];
  for (let round = 0; round < 80; round += 1) {
    const visits = Math.sqrt(low * high);
    const ratio = rate / visits;
    const gain = (1 - Math.exp(-ratio) * (1 + ratio)) / rate;
    if (gain > price) low = visits;
    else high = visits;
  }
  return Math.sqrt(low * high);
}

function fixedFreshness(rates: readonly number[], visits: readonly number[]): Freshness {
  let fresh = 0;
  let age = 0;
  for (const [index, rate] of rates.entries()) {
    const perDay = visits[index] as number;
    fresh += rate === 0 ? 1 : perDay === 0 ? 0 : (perDay / rate) * (1 - Math.exp(-rate / perDay));
    age += ageOf(rate, perDay);
  }
  const visitsPerDay = visits.reduce((sum, one) => sum + one, 0) / rates.length;
  return { upToDate: fresh / rates.length, ageDays: age / rates.length, visitsPerDay };
}

/** Mean age of a page visited at fixed intervals; of one that is never visited, over a year. */
function ageOf(rate: number, perDay: number): number {
  if (rate === 0) return 0;
  const interval = perDay === 0 ? 365 : 1 / perDay;
  const ratio = rate * interval;
  if (ratio < 1e-4) return (interval * ratio) / 6;
  return interval * (0.5 - 1 / ratio + (1 - Math.exp(-ratio)) / ratio ** 2);
}
