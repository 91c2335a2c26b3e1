// How fresh the recrawl policy keeps pages whose change rates are known to us and not to it, against as many visits spread evenly, and against
// the best that anybody could do who knew the rates. No clock and no network: the figures are the same on every machine.
import {
  adaptiveFreshness,
  bestFreshness,
  changeRates,
  type Freshness,
  uniformFreshness,
} from '../test/support/freshness.ts';
import { RECRAWL } from '../test/support/recrawl-policy.ts';
import { parameter } from './measure.ts';

const pages = parameter('pages', 400, 4_000);
const rates = changeRates(pages, 1);
const adaptive = adaptiveFreshness(RECRAWL, rates, { days: 365, seed: 2 });
const { visitsPerDay } = adaptive;

console.log(`${pages} pages, ${visitsPerDay.toFixed(3)} visits of a page a day`);
print('this policy', adaptive);
print('uniform', uniformFreshness(rates, visitsPerDay));
print('best fixed', bestFreshness(rates, visitsPerDay));

function print(name: string, { upToDate, ageDays }: Freshness): void {
  const share = `${(upToDate * 100).toFixed(1)} % up to date`;
  console.log(`${name.padEnd(12)} ${share}, mean age ${ageDays.toFixed(2)} days`);
}
