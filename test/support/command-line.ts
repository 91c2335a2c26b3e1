// Runs `node cluster.js` as a user does, for tests of the command line: its own process, bounded in time, output gathered.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, seen from the compiled tests. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What a finished command left. */
export interface CommandResult {
  /** Exit status; null when it was killed for its time. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command to its end.
 * @param argv what follows `node cluster.js`
 * @param options.input standard input, by default empty; `cwd` by default the project; `timeoutMs` by default 15,000; `env` is added
 */
export function runCommand(
  argv: readonly string[],
  options: {
    readonly input?: string;
    readonly cwd?: string;
    readonly timeoutMs?: number;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<CommandResult> {
  const { input = '', cwd = PROJECT_ROOT, timeoutMs = 15_000, env = {} } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'cluster.js'), ...argv], {
      cwd,
      env: { ...process.env, ...env },
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    // A command that refuses its arguments ends without reading.
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (status) => {
      const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      resolve({ status, stdout: text(out), stderr: text(err) });
    });
    child.stdin.end(input);
  });
}

/**
 * Gives a new folder with some files to a body, and removes it.
 * @param files texts by name
 */
export async function inFolder<Result>(
  files: Readonly<Record<string, string>>,
  body: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'hostler-test-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
