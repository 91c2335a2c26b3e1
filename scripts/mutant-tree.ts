// A copy of the project in a temporary folder, in which a mutant can be applied, compiled and tried, and taken back again. The compiled
// files are copied too, so that the compiler looks at what changed and no more.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Killer, Mutant } from './mutant-patch.ts';

/** What is copied: all that the compiler and the tests read. */
const COPIED = [
  'src',
  'test',
  'bench',
  'scripts',
  'docs',
  'dist',
  'package.json',
  'tsconfig.json',
  'cluster.js',
  'cluster.config.ts',
];
/** Seeds of one simulation process: it ends when all are run, so a kill is known after a few. */
const SEEDS_AT_ONCE = 4;

/** How a trial of one killer ended. */
export interface Trial {
  readonly failed: boolean;
  /** What failed, one line; for a simulation `world seed`. */
  readonly detail: string;
  /** Seeds that failed. */
  readonly seeds: readonly number[];
}

const PASSED: Trial = { failed: false, detail: '', seeds: [] };

export class MutantTree {
  readonly folder: string;
  readonly #root: string;
  readonly #limitMs: number;

  /**
   * @param root the project; it must be compiled
   * @param limitMs longest time of one compilation or one process of tests
   */
  constructor(root: string, limitMs: number) {
    this.#root = root;
    this.#limitMs = limitMs;
    this.folder = mkdtempSync(join(tmpdir(), 'mutants-'));
    for (const name of COPIED) {
      if (!existsSync(join(root, name))) continue;
      cpSync(join(root, name), join(this.folder, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Applies a patch, or looks whether it would. @returns why it does not apply, or undefined */
  apply(mutant: Mutant, isTrial = false): string | undefined {
    const args = ['apply', '-C1', ...(isTrial ? ['--check'] : []), mutant.path];
    const { status, stderr } = spawnSync('git', args, {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(this.folder) },
    });
    return status === 0 ? undefined : (stderr.trim().split('\n')[0] ?? 'unknown');
  }

  /** Takes the files of a patch back. */
  restore(mutant: Mutant): void {
    for (const file of mutant.files) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      cpSync(join(this.#root, file), join(this.folder, file));
    }
  }

  /** Compiles what changed. @returns the first complaint, or undefined */
  async compile(): Promise<string | undefined> {
    const compiler = join(this.#root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { code, output } = await this.#run([compiler, '-p', 'tsconfig.json'], {});
    return code === 0 ? undefined : (output.split('\n').find((line) => line !== '') ?? 'unknown');
  }

  /**
   * Runs one killer until something fails that passes without the mutant.
   * @param isNews asks the sources as they are
   */
  async trial(killer: Killer, isNews: (trial: Trial) => Promise<boolean>): Promise<Trial> {
    if (killer.kind === 'suite') {
      const found = await this.suite(killer.suite, killer.only);
      return found.failed && (await isNews(found)) ? found : PASSED;
    }
    for (let seed = killer.first; seed <= killer.last; seed += SEEDS_AT_ONCE) {
      const count = Math.min(SEEDS_AT_ONCE, killer.last - seed + 1);
      const found = await this.simulate(killer.world, seed, count);
      if (found.failed && (await isNews(found))) return found;
    }
    return PASSED;
  }

  /** Runs `count` simulations of a world from a seed on. */
  async simulate(world: string, seed: number, count: number): Promise<Trial> {
    const script = join('dist', 'test', 'support', 'sim', 'run-sim.js');
    const range = ['--world', world, '--seed', String(seed), '--seeds', String(count)];
    const { code, output, isLate } = await this.#run([script, ...range], {});
    if (code === 0) return PASSED;
    const reason = /^FAILED (.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '';
    const seeds = Array.from(output.matchAll(/--world \S+ --seed (\d+)/g), (match) =>
      Number(match[1]),
    );
    const detail = isLate ? 'time limit' : reason.replace(/^at [\d.]+ ms: /, '');
    return { failed: true, detail, seeds: seeds.length > 0 ? seeds : [seed] };
  }

  /** Runs the tests of a suite. */
  async suite(suite: string, only: string): Promise<Trial> {
    const entry = join('dist', 'test', 'suites', `${suite}.suite.js`);
    const env = only === '' ? {} : { TEST_ONLY: only };
    const args = ['--test', '--test-reporter=tap', entry];
    const { code, output, isLate } = await this.#run(args, env);
    if (code === 0) return PASSED;
    const test = /^\s*not ok \d+ - (.*)$/m.exec(output)?.[1] ?? '';
    return { failed: true, detail: isLate ? 'time limit' : test, seeds: [] };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs node in the copy. A process over the limit is killed and counts as failed. */
  #run(
    args: readonly string[],
    env: Record<string, string>,
  ): Promise<{ readonly code: number; readonly output: string; readonly isLate: boolean }> {
    return new Promise((resolve) => {
      const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
      const child = spawn(process.execPath, args, {
        cwd: this.folder,
        env: { ...inherited, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: this.#limitMs,
        killSignal: 'SIGKILL',
      });
      let output = '';
      const take = (chunk: Buffer): void => {
        if (output.length < OUTPUT_CHARS_MAX) output += chunk.toString();
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('close', (code) => resolve({ code: code ?? 1, output, isLate: code === null }));
    });
  }
}

/** Output of one process that is kept. */
const OUTPUT_CHARS_MAX = 4_000_000;
