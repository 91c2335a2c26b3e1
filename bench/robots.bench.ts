// What robots.txt costs: parsing a file of 20 KB and asking a group of 50 rules (step 5 of a URL's life).
//
// Run compiled: `node dist/bench/robots.bench.js [--full]`. Prints nanoseconds of process CPU time an operation, median
// and range of five runs, and a checksum that keeps the work from being optimised away and shows that it is the same.
import { matchRobots } from '../src/domain/robots-matcher.ts';
import { parseRobots } from '../src/domain/robots-parser.ts';
import { selectRules } from '../src/domain/robots-rules.ts';

const RUNS = 5;
const full = process.argv.includes('--full');
/** Size of a run: small enough for `npm run check` by default. */
const parameter = (smoke: number, large: number): number => (full ? large : smoke);
const BYTES_MAX = 512_000;

measure('parse and select, 20 KB file', parameter(200, 5_000), () => {
  const bytes = new TextEncoder().encode(fileOf(20_000));
  return () => selectRules(parseRobots(bytes, { bytesMax: BYTES_MAX }), 'hostler').patterns.length;
});

measure('match, 50 prefix rules', parameter(100_000, 2_000_000), () => asker(rulesOf(50, '/dir')));

measure('match, 50 wildcard rules', parameter(50_000, 500_000), () => asker(rulesOf(50, '/*dir')));

measure('match, 20,000 wildcard rules, path of 2,000', parameter(5, 50), () => {
  const rules = rulesOf(20_000, '/*item');
  const url = `https://example.com/${'catalogue/page-'.repeat(133)}`;
  return () => Number(matchRobots(rules, url).allowed);
});

measure('match, hostile: 15,000 × /*aa…, path of 2,000 a', parameter(2, 10), () => {
  // Every gram of every rule occurs in the path, and no rule matches: only the search budget ends this.
  const word = (at: number): string => at.toString(2).replaceAll('0', 'a').replaceAll('1', 'b');
  const lines = Array.from(
    { length: 15_000 },
    (_, at) => `Disallow: /*${'a'.repeat(20)}${word(at)}bb`,
  );
  const rules = rulesFrom(`User-agent: *\n${lines.join('\n')}`);
  const url = `https://example.com/aabbbabaabb${'a'.repeat(1_990)}`;
  return () => Number(matchRobots(rules, url).allowed);
});

function measure(name: string, count: number, setUp: () => () => number): void {
  const operation = setUp();
  let checksum = 0;
  for (let index = 0; index < count / 10; index++) operation();
  const costs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = process.cpuUsage();
    for (let index = 0; index < count; index++) checksum = (checksum * 31 + operation()) | 0;
    const { user, system } = process.cpuUsage(before);
    costs.push(((user + system) * 1000) / count);
  }
  costs.sort((first, second) => first - second);
  const [least, median, most] = [costs[0], costs[RUNS >> 1], costs[RUNS - 1]].map(rounded);
  console.log(`${name}: ${median} ns/op (${least}–${most}), checksum ${checksum}`);
}

function rounded(cost: number | undefined): string {
  return Math.round(cost ?? 0).toLocaleString('en');
}

function asker(rules: ReturnType<typeof rulesFrom>): () => number {
  const urls = Array.from(
    { length: 64 },
    (_, at) => `https://www.example.com/dir${at}/section-${at}/page-${at * 7}.html?id=${at}`,
  );
  let next = 0;
  return () => Number(matchRobots(rules, urls[next++ & 63] ?? '').allowed);
}

function rulesOf(count: number, stem: string): ReturnType<typeof rulesFrom> {
  const lines = Array.from({ length: count }, (_, at) => `Disallow: ${stem}${at}/sub-${at % 7}`);
  return rulesFrom(`User-agent: *\n${lines.join('\n')}`);
}

function rulesFrom(text: string): ReturnType<typeof selectRules> {
  return selectRules(
    parseRobots(new TextEncoder().encode(text), { bytesMax: 4 * BYTES_MAX }),
    'hostler',
  );
}

function fileOf(bytes: number): string {
  const lines: string[] = [];
  for (let at = 0, size = 0; size < bytes; at++) {
    const line = at % 20 === 0 ? `User-agent: bot-${at}` : `Disallow: /section/${at}/*?page=`;
    lines.push(at === 100 ? 'User-agent: *' : line);
    size += line.length + 1;
  }
  return lines.join('\n');
}
