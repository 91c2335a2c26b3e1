// Loads every `*.test.js` file below one folder of the compiled tests into this process, so that a suite is one node:test entry
// (DESIGN.md §11: one process for a suite costs a twentieth of a process for each file).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';

/** What properties draw from when nothing else is said: what has passed once passes again. `npm run fuzz` draws anew each time. */
const SEED = 1;

/**
 * Imports the tests of a suite, in the order of their names: all, those that TEST_ONLY is in the path of, or of n parts the k-th, as TEST_PART
 * `k/n` says.
 * @param folder name of a folder beside this one, for example `unit`
 * @throws Error when the folder holds no test, so that an empty suite cannot pass
 */
export async function runSuite(folder: string): Promise<void> {
  fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? SEED) });
  const root = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
  const only = process.env.TEST_ONLY;
  const [part = 1, parts = 1] = (process.env.TEST_PART ?? '1/1').split('/').map(Number);
  const files = readdirSync(root, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.js') && (only === undefined || file.includes(only)))
    .sort()
    .filter((_, at) => at % parts === part - 1);
  if (files.length === 0 && only === undefined) throw new Error(`no tests in ${root}`);
  for (const file of files) await import(pathToFileURL(join(root, file)).href);
}
