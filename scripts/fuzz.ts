// `npm run fuzz -- --seconds N [--only NAME] [--seed N]`: the fuzz tests of the property suite, each claim for N seconds instead of a
// quarter of one. A failure prints the seed that repeats it.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
  },
});
const suite = resolve(import.meta.dirname, '..', 'test', 'suites', 'property.suite.js');
const { status } = spawnSync(process.execPath, ['--test', suite], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_ONLY: `fuzz-${values.only}`,
    FUZZ_SECONDS: values.seconds,
    ...(values.seed === undefined ? {} : { FUZZ_SEED: values.seed }),
  },
});
process.exitCode = status ?? 1;
