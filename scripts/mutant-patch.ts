// A mutant: a planted bug, kept as a unified patch against the sources, with a header that says which invariant of DESIGN.md §12 it
// breaks, how, and which suites must notice. Reading these files is all that happens here; `mutants.ts` applies and judges them.
//
//   Invariant: I2
//   Breaks: a host may be asked again as soon as its last request has ended.
//   Killed-by: simulation polite 1-20
//   Killed-by: unit actors/host-pace
//   Killed-by: simulation ownership        (a file of that suite, where no seeds are named)
//   --- a/src/…

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What is expected to notice a mutant. */
export type Killer =
  /** Tests of a suite; `only` restricts them to files whose path holds it, '' for all. */
  | { readonly kind: 'suite'; readonly suite: string; readonly only: string }
  /** Simulations of one world with the seeds `first` to `last`. */
  | {
      readonly kind: 'simulation';
      readonly world: string;
      readonly first: number;
      readonly last: number;
    };

/** One planted bug. */
export interface Mutant {
  /** File name without `.patch`. */
  readonly name: string;
  readonly path: string;
  readonly invariant: string;
  readonly breaks: string;
  /** Tried in this order until one kills; at least one. */
  readonly killers: readonly Killer[];
  /** Files that the patch changes, from the root of the project. */
  readonly files: readonly string[];
}

/**
 * Reads all mutants of a folder, by name.
 * @param only restricts them to names that hold one of these, separated by commas; '' for all
 * @throws Error for a patch whose header is incomplete
 */
export function readMutants(folder: string, only: string): readonly Mutant[] {
  return readdirSync(folder)
    .filter(
      (file) => file.endsWith('.patch') && only.split(',').some((name) => file.includes(name)),
    )
    .sort()
    .map((file) => readMutant(join(folder, file)));
}

/** A killer as its line has it, for the table. */
export function textOf(killer: Killer): string {
  if (killer.kind === 'suite') return `${killer.suite} ${killer.only}`.trim();
  return `simulation ${killer.world} ${killer.first}-${killer.last}`;
}

function readMutant(path: string): Mutant {
  const text = readFileSync(path, 'utf8');
  const header = text.slice(0, text.search(/^(?:diff|---) /m));
  const field = (name: string): string[] =>
    Array.from(header.matchAll(new RegExp(`^${name}: (.+)$`, 'gm')), (match) => match[1] as string);
  const [invariant] = field('Invariant');
  const [breaks] = field('Breaks');
  const killers = field('Killed-by').map((line) => killerOf(line, path));
  if (invariant === undefined || breaks === undefined || killers.length === 0) {
    throw new Error(`${path}: its header needs Invariant, Breaks and Killed-by`);
  }
  const files = Array.from(text.matchAll(/^\+\+\+ b\/(\S+)/gm), (match) => match[1] as string);
  if (files.length === 0) throw new Error(`${path} changes no file`);
  return { name: basename(path, '.patch'), path, invariant, breaks, killers, files };
}

function killerOf(line: string, path: string): Killer {
  const [kind = '', ...rest] = line.trim().split(/\s+/);
  if (kind !== 'simulation') return { kind: 'suite', suite: kind, only: rest.join(' ') };
  const [world = '', seeds = ''] = rest;
  // Simulations that are no crawls are tests like any other.
  if (seeds === '') return { kind: 'suite', suite: kind, only: world };
  const [first, last] = seeds.split('-').map(Number);
  if (first === undefined || last === undefined || !(first <= last)) {
    throw new Error(`${path}: no range of seeds in "${line}"`);
  }
  return { kind: 'simulation', world, first, last };
}
