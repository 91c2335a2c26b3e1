// `npm run mutants [-- --only NAME,NAME] [--jobs N] [--limit SECONDS] [--check]`: plants each bug of test/mutants/ in a copy of the project
// and lets the suites that its header names find it. Prints a table; exits with 1 when one survives, does not apply or does not compile,
// since a checker that notices nothing proves nothing (DESIGN.md §11 and §12). What fails without the bug as well is no kill. With --check
// it only looks whether every patch still applies and compiles; one that does not is made anew: edit the source, `git diff`, keep the header.

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Killer, type Mutant, readMutants, textOf } from './mutant-patch.ts';
import { MutantTree, type Trial } from './mutant-tree.ts';

/** What became of a mutant. */
interface Verdict {
  readonly mutant: Mutant;
  readonly state: 'killed' | 'survived' | 'does not apply' | 'does not compile';
  readonly by: string;
  readonly detail: string;
  readonly seconds: number;
}

const root = resolve(import.meta.dirname, '..', '..');

/** Says whether a failure also happens in the sources as they are; each question is answered once. */
class Baseline {
  readonly #tree: MutantTree;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(tree: MutantTree) {
    this.#tree = tree;
  }

  /** True when something of what failed passes without the mutant. */
  async passes(killer: Killer, trial: Trial): Promise<boolean> {
    if (killer.kind === 'suite') {
      const { suite, only } = killer;
      const holds = async (): Promise<boolean> => !(await this.#tree.suite(suite, only)).failed;
      return this.#once(textOf(killer), holds);
    }
    for (const seed of trial.seeds) {
      const { world } = killer;
      const holds = async (): Promise<boolean> =>
        !(await this.#tree.simulate(world, seed, 1)).failed;
      if (await this.#once(`${world} ${seed}`, holds)) return true;
    }
    return false;
  }

  #once(name: string, ask: () => Promise<boolean>): Promise<boolean> {
    let answer = this.#known.get(name);
    if (answer === undefined) {
      answer = ask();
      this.#known.set(name, answer);
    }
    return answer;
  }
}

async function judge(mutant: Mutant, tree: MutantTree, baseline: Baseline): Promise<Verdict> {
  const startedMs = performance.now();
  const verdict = (state: Verdict['state'], by: string, detail: string): Verdict => {
    return { mutant, state, by, detail, seconds: (performance.now() - startedMs) / 1_000 };
  };
  try {
    const mismatch = tree.apply(mutant);
    if (mismatch !== undefined) return verdict('does not apply', '', mismatch);
    const complaint = await tree.compile();
    if (complaint !== undefined) return verdict('does not compile', '', complaint);
    for (const killer of mutant.killers) {
      const trial = await tree.trial(killer, (found) => baseline.passes(killer, found));
      if (!trial.failed) continue;
      const by = killer.kind === 'suite' ? textOf(killer) : `${killer.world} ${trial.seeds[0]}`;
      return verdict('killed', by, trial.detail);
    }
    return verdict('survived', '', mutant.killers.map(textOf).join(', '));
  } finally {
    tree.restore(mutant);
  }
}

function print({ mutant, state, by, detail, seconds }: Verdict): void {
  const name = mutant.name.padEnd(36);
  const where = by.padEnd(30);
  const shown = detail.length > 110 ? `${detail.slice(0, 109)}…` : detail;
  const invariant = mutant.invariant.padEnd(7);
  console.log(`${state.padEnd(9)} ${invariant} ${name} ${where} ${seconds.toFixed(0)} s  ${shown}`);
}

/**
 * Tells which patches do not apply or do not compile. As many as fit beside each other are applied and compiled at once, which takes a
 * dozen compilations instead of one for each.
 */
async function check(mutants: readonly Mutant[], tree: MutantTree): Promise<void> {
  const complain = (what: string, { name }: Mutant, detail: string): void => {
    console.log(`${what}: ${name}: ${detail}`);
    process.exitCode = 1;
  };
  let left = mutants.filter((mutant) => {
    const mismatch = tree.apply(mutant, true);
    if (mismatch !== undefined) complain('does not apply', mutant, mismatch);
    return mismatch === undefined;
  });
  let rounds = 0;
  while (left.length > 0) {
    const together = left.filter((mutant) => tree.apply(mutant) === undefined);
    rounds += 1;
    const isGood = (await tree.compile()) === undefined;
    for (const mutant of together) tree.restore(mutant);
    for (const mutant of isGood ? [] : together) {
      tree.apply(mutant);
      const complaint = await tree.compile();
      tree.restore(mutant);
      if (complaint !== undefined) complain('does not compile', mutant, complaint);
    }
    left = left.filter((mutant) => !together.includes(mutant));
  }
  console.log(`${mutants.length} patches looked at in ${rounds} compilations`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      jobs: { type: 'string', default: '2' },
      limit: { type: 'string', default: '240' },
      check: { type: 'boolean', default: false },
    },
  });
  const mutants = [...readMutants(join(root, 'test', 'mutants'), values.only)];
  const limitMs = Number(values.limit) * 1_000;
  if (values.check) {
    const tree = new MutantTree(root, limitMs);
    try {
      await check(mutants, tree);
    } finally {
      tree.remove();
    }
    return;
  }
  const jobs = Math.max(1, Math.min(Number(values.jobs), mutants.length));
  const trees = Array.from({ length: jobs + 1 }, () => new MutantTree(root, limitMs));
  const baseline = new Baseline(trees[jobs] as MutantTree);
  const verdicts: Verdict[] = [];
  const work = async (tree: MutantTree): Promise<void> => {
    for (let mutant = mutants.shift(); mutant !== undefined; mutant = mutants.shift()) {
      const verdict = await judge(mutant, tree, baseline);
      print(verdict);
      verdicts.push(verdict);
    }
  };
  try {
    await Promise.all(trees.slice(0, jobs).map(work));
  } finally {
    for (const tree of trees) tree.remove();
  }
  const killed = verdicts.filter(({ state }) => state === 'killed').length;
  console.log(`${killed} of ${verdicts.length} killed`);
  if (killed < verdicts.length || verdicts.length === 0) process.exitCode = 1;
}

await main();
