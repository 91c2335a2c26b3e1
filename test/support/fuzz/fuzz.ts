// Fuzzing with a limit of time: a short one in the suite, a longer one by `npm run fuzz -- --seconds N`. What is drawn is what fast-check
// draws; a failure prints its seed and the smallest input.
import { ok } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';

/** Time of one fuzzed claim when nothing else is said, milliseconds: forty claims are ten seconds. */
const SUITE_MS = 250;
/** More runs than any limit of time allows. */
const RUNS_MAX = 100_000_000;

/** Milliseconds for one claim: `FUZZ_SECONDS` from the environment, or the suite's own. */
export function fuzzMs(): number {
  const seconds = Number(process.env.FUZZ_SECONDS);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : SUITE_MS;
}

/**
 * Registers a test that draws inputs until its time is up.
 * @param claim name of the test: symbol and claim
 * @param check throws when the claim does not hold for an input
 */
export function fuzz<Input>(
  claim: string,
  inputs: fc.Arbitrary<Input>,
  check: (input: Input) => void,
): void {
  test(claim, () => {
    let runs = 0;
    const property = fc.property(inputs, (input) => {
      runs += 1;
      check(input);
    });
    fc.assert(property, {
      numRuns: RUNS_MAX,
      interruptAfterTimeLimit: fuzzMs(),
      markInterruptAsFailure: false,
    });
    ok(runs > 0, `no run in ${fuzzMs()} ms`);
  });
}

/** Real data with damage: bytes set, cut out, doubled, or swapped for one that parsers care about. */
export function damaged(whole: fc.Arbitrary<Uint8Array>, telling: string): fc.Arbitrary<Buffer> {
  const marks = Buffer.from(telling, 'latin1');
  const hit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    how: fc.constantFrom('set', 'mark', 'cut', 'double', 'end'),
    value: fc.nat(255),
    length: fc.nat(40),
  });
  return fc.tuple(whole, fc.array(hit, { minLength: 1, maxLength: 6 })).map(([bytes, hits]) => {
    let out = Buffer.from(bytes);
    for (const { at, how, value, length } of hits) {
      const place = Math.min(Math.floor(at * out.length), Math.max(out.length - 1, 0));
      const [before, after] = [out.subarray(0, place), out.subarray(place)];
      if (how === 'cut') out = Buffer.concat([before, after.subarray(length)]);
      else if (how === 'double') out = Buffer.concat([before, after.subarray(0, length), after]);
      else if (how === 'end') out = Buffer.from(before);
      else if (out.length > 0) {
        out = Buffer.from(out);
        out[place] = how === 'set' ? value : (marks[value % marks.length] as number);
      }
    }
    return out;
  });
}
