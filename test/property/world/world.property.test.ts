// Any web, whatever its seed and oddities: its truth is what its bytes say, and its judge has nothing against a crawl by the book.
import { deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { judge } from '../../support/world/judge.ts';
import { smallCrawl } from '../../support/world/small-crawl.ts';
import { createWorld } from '../../support/world/world.ts';
import { VARIED_FEATURES } from '../../support/world/world-options.ts';

const USER_AGENT = 'hostler/0.1';

const WORLDS = fc
  .record({
    seed: fc.integer(),
    hosts: fc.integer({ min: 1, max: 10 }),
    pagesPerHost: fc.integer({ min: 1, max: 12 }),
    linksPerPage: fc.integer({ min: 1, max: 8 }),
    features: fc.record({
      mirrors: fc.constantFrom(0, 0.4),
      duplicates: fc.constantFrom(0, 0.2),
      redirects: fc.constantFrom(0, 0.2),
      robotsTrouble: fc.constantFrom(0, 0.3),
      nofollow: fc.constantFrom(0, 0.2),
    }),
  })
  .map(({ features, ...sizes }) =>
    createWorld({ ...sizes, pageBytes: 0, features: { ...VARIED_FEATURES, ...features } }),
  );

test('World.reachable equals what a crawl of the served bytes finds, in any world', () => {
  const claim = fc.property(WORLDS, (world) => {
    const seeds = [...world.seeds(3)];
    const next = (frontier: string[]) => frontier.shift()!;
    const crawl = { userAgent: USER_AGENT, seeds, skipCopies: false, next };
    const { pages } = smallCrawl(world, crawl);
    const reachable = [...world.reachable({ userAgent: USER_AGENT, fromSeeds: seeds })];
    deepStrictEqual(reachable.sort(), [...pages].sort());
  });
  fc.assert(claim, { numRuns: 40 });
});

test('judge clears a crawl by the book that skips copies, in any world and order', () => {
  const claim = fc.property(WORLDS, fc.infiniteStream(fc.nat()), (world, draws) => {
    const seeds = [...world.seeds(3)];
    const next = (frontier: string[]) => {
      const drawn = draws.next().value ?? 0;
      return frontier.splice(drawn % frontier.length, 1)[0]!;
    };
    const crawl = { userAgent: USER_AGENT, seeds, skipCopies: true, next };
    const { log } = smallCrawl(world, crawl);
    const verdict = judge(world, log, {
      minGapMs: 1000,
      addressBudget: 1,
      coverage: { userAgent: USER_AGENT, fromSeeds: seeds },
      requireLate: true,
    });
    deepStrictEqual(verdict.violations, []);
  });
  fc.assert(claim, { numRuns: 40 });
});
