// The judge on a log file: `node dist/test/support/server/judge-log.js --log FILE --min-gap MS [--user-agent TOKEN] [--coverage]`.
// Prints the verdict as JSON; exit status 1 when a promise was broken. The file's first line makes the world again.
import { parseArgs } from 'node:util';
import { judge } from '../world/judge.ts';
import { createWorld } from '../world/world.ts';
import { readRequestLog } from './request-log.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    log: text,
    'min-gap': text,
    'max-crawl-delay': text,
    'address-budget': text,
    'repeats-allowed': text,
    'user-agent': text,
    coverage: { type: 'boolean' },
    seeds: text,
  },
});

const { options, entries } = readRequestLog(values.log ?? '');
const world = createWorld(options);
const seeds = Number(values.seeds ?? options.hosts);
const userAgent = values['user-agent'] ?? entries[0]?.userAgent ?? 'hostler';
const walk = { userAgent, fromSeeds: world.seeds(seeds), scope: 'hosts' } as const;
const verdict = judge(world, entries, {
  minGapMs: Number(values['min-gap'] ?? 1000),
  maxCrawlDelayMs: Number(values['max-crawl-delay'] ?? Number.POSITIVE_INFINITY),
  addressBudget: Number(values['address-budget'] ?? 2),
  repeatsAllowed: Number(values['repeats-allowed'] ?? 0),
  ...(values.coverage === true ? { coverage: walk } : {}),
});
process.stdout.write(`${JSON.stringify(verdict, null, 2)}\n`);
process.exitCode = verdict.ok ? 0 : 1;
