// The planted bugs of test/mutants/ against the sources as they are: a patch that no longer applies or compiles proves nothing, and would be
// noticed only by the long run that plants them all. Here and not in the unit suite because the compiler is run on copies of the project.
import { match, strictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/mutants.js', import.meta.url));
const ROOT = join(SCRIPT, '..', '..', '..');

test('mutants: every patch applies to the sources as they are and compiles', async () => {
  const child = spawn(process.execPath, [SCRIPT, '--check'], { cwd: ROOT });
  let output = '';
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  strictEqual(status, 0, output);
  match(output, /^\d{3} patches looked at in \d+ compilations$/m);
});
