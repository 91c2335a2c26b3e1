// Linear time and bounded memory, measured so that a busy machine cannot fail them: processor time and not the clock's, the least of
// several runs, a size against eight times that size, and three tries. A quadratic reading takes 64 times as long, a linear one 8 times.
import { ok } from 'node:assert';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';

/** Characters of the small input; the large one has eight times as many. */
const SMALL = 16_384;
const FACTOR = 8;
/** Half way, by powers, between linear (8) and quadratic (64). */
const RATIO_MAX = 24;
/** A large input that costs less is linear whatever the ratio: quadratic in 131,072 characters would be thousands of millions of steps. */
const CHEAP_MS = 12;
const TRIES = 3;

/** Draws an input of any size: a start, a few pieces repeated, an end. The shape of every quadratic bug there was. */
export interface Shape {
  readonly start: string;
  readonly unit: string;
  readonly end: string;
}

/** Shapes made of the given pieces. */
export function shapes(pieces: readonly string[]): fc.Arbitrary<Shape> {
  const piece = fc.constantFrom(...pieces);
  return fc.record({
    start: fc.oneof(fc.constant(''), piece),
    unit: fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    end: fc.oneof(fc.constant(''), piece),
  });
}

/** The text of a shape, of at least so many characters. */
export function textOf({ start, unit, end }: Shape, characters: number): string {
  return start + unit.repeat(Math.ceil(characters / Math.max(unit.length, 1))) + end;
}

/** Processor milliseconds of the quickest of three runs. */
function costMs(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** @throws AssertionError when the time grows much faster than the input */
export function checkLinear(shape: Shape, run: (text: string) => unknown): void {
  const large = textOf(shape, SMALL * FACTOR);
  const before = process.cpuUsage();
  run(large);
  const { user, system } = process.cpuUsage(before);
  if ((user + system) / 1_000 < CHEAP_MS) return;
  const small = textOf(shape, SMALL);
  const seen: string[] = [];
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const slow = costMs(() => run(large));
    const quick = costMs(() => run(small));
    if (slow < CHEAP_MS || slow < quick * RATIO_MAX) return;
    seen.push(`${quick} ms, then ${slow} ms`);
  }
  ok(false, `${JSON.stringify(shape)} takes ${seen.join('; ')} for ${FACTOR} times as much`);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that stay in use while the result of `run` is kept. */
export function keptBytes(run: () => unknown): number {
  const used = (): number => {
    collect();
    const { heapUsed, arrayBuffers, external } = process.memoryUsage();
    return heapUsed + Math.max(arrayBuffers, external);
  };
  const before = used();
  const result = run();
  const after = used();
  ok(result !== null);
  return after - before;
}
