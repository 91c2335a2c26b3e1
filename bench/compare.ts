// `npm run bench -- compare A B [--rounds 5] [--rate N --size 10k …]`: two builds side by side. A and B are commits or folders; a commit is
// checked out beside this folder's node_modules and built. The runs are interleaved, A B A B …, so that what the machine does besides falls
// on both; of each figure the medians are printed, and the ratio B : A of the pairs with its range, which says more than either.

import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What is compared of a row of `load --json`. */
const FIGURES = ['pagesPerSecond', 'cpuMsPerPage', 'wholeCpuMsPerPage', 'peakBytes'] as const;
const ROUNDS = 5;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

type Figure = (typeof FIGURES)[number];
type Figures = Readonly<Record<Figure, number>>;

/** Options of `load` that are handed on. */
const LOAD_OPTIONS = ['rate', 'size', 'hosts', 'seconds', 'threads'] as const;

interface Build {
  readonly name: string;
  readonly folder: string;
  /** Removes what was made for it. */
  readonly remove: () => void;
}

/** Runs the command. @returns the exit status: 2 for wrong arguments */
export async function compareCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ rate: text, size: text, hosts: text, seconds: text },
      ...{ threads: text, rounds: text, sim: { type: 'boolean' } },
    },
  });
  const [first, second, third] = positionals;
  if (first === undefined || second === undefined || third !== undefined) {
    process.stderr.write('usage: npm run bench -- compare A B [--rounds 5] [options of load]\n');
    return 2;
  }
  const load = LOAD_OPTIONS.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  if (values.sim === true) load.push('--sim');
  const builds = [buildOf(first), buildOf(second)];
  try {
    const runs: Figures[][] = [[], []];
    for (let round = 0; round < Number(values.rounds ?? ROUNDS); round += 1) {
      for (const [at, build] of builds.entries()) {
        const figures = measured(build, load);
        runs[at]?.push(figures);
        process.stdout.write(`${build.name}  ${textOf(figures)}\n`);
      }
    }
    report(runs[0] ?? [], runs[1] ?? []);
    return 0;
  } finally {
    for (const build of builds) build.remove();
  }
}

/** @throws Error when it is neither a folder with a build nor a commit that builds */
function buildOf(name: string): Build {
  if (existsSync(join(name, 'dist/bench/run.js'))) {
    return { name, folder: resolve(name), remove: () => {} };
  }
  const folder = join(mkdtempSync(join(tmpdir(), 'compare-')), 'build');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', folder, name], STDIO);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'build'], { ...STDIO, cwd: folder });
  const remove = (): void => {
    rmSync(join(folder, 'node_modules'));
    execFileSync('git', ['worktree', 'remove', '--force', folder], STDIO);
    rmSync(join(folder, '..'), { recursive: true, force: true });
  };
  return { name, folder, remove };
}

const STDIO: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] };

function measured(build: Build, load: readonly string[]): Figures {
  const folder = mkdtempSync(join(tmpdir(), 'compare-'));
  const file = join(folder, 'load.json');
  try {
    const run = spawnSync(
      process.execPath,
      ['dist/bench/run.js', 'load', ...load, '--json', file],
      { cwd: build.folder, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX },
    );
    if (run.status !== 0) throw new Error(`${build.name}: ${run.stdout}${run.stderr}`);
    const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { rows: { runs: Figures[] }[] };
    const figures = rows[0]?.runs[0];
    if (figures === undefined) throw new Error(`${build.name}: no row`);
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(figures: Figures): string {
  return FIGURES.map((name) => `${name} ${scaled(name, figures[name])}`).join('  ');
}

function scaled(name: Figure, value: number): string {
  if (name === 'peakBytes') return `${(value / 1e6).toFixed(0)} MB`;
  return name === 'pagesPerSecond' ? value.toFixed(0) : value.toFixed(3);
}

function report(one: readonly Figures[], other: readonly Figures[]): void {
  process.stdout.write('figure              median A   median B   B : A (range)\n');
  for (const name of FIGURES) {
    const ratios = one.map((figures, at) => (other[at] as Figures)[name] / figures[name]);
    const medians = [one, other].map((runs) => median(runs.map((figures) => figures[name])));
    const cells = medians.map((value) => scaled(name, value).padStart(9));
    const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    process.stdout.write(
      `${name.padEnd(18)}  ${cells.join('  ')}   ${median(ratios).toFixed(2)} (${range})\n`,
    );
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
