// `npm run fuzz -- --seconds N [--only NAME] [--seed N]`: the fuzz tests of the property suite, each claim for N seconds instead of a
// quarter of one, from a new seed, which is printed, or the one given.

import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
  },
});
const seed = values.seed ?? String(randomInt(2 ** 31));
process.stdout.write(`seed ${seed}\n`);
const suite = resolve(import.meta.dirname, '..', 'test', 'suites', 'property.suite.js');
const { status } = spawnSync(process.execPath, ['--test', suite], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_ONLY: `fuzz-${values.only}`,
    FUZZ_SECONDS: values.seconds,
    FUZZ_SEED: seed,
  },
});
process.exitCode = status ?? 1;
