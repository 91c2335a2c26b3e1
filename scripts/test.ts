// `npm test`: builds, checks style and layers, and runs every suite in order, each in one process and within a time limit. What passes is
// a line; what fails is shown whole; what was skipped is named. The last line says how it went. `npm test -- unit property` runs the named
// suites only. STYLE.md 16 names the suites.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SECOND_MS = 1_000;
/** Lines shown of a step that gave no list of failures: a build, or a suite that was stopped. */
const TAIL_LINES = 60;
/** Lines shown of a list of failures, and characters of a line: an assertion prints whole texts. */
const FAILURE_LINES = 400;
const LINE_CHARS = 300;

/** The suites in order, quickest first, with the longest time each may take on two busy cores, seconds. */
const SUITES: readonly (readonly [name: string, secondsMax: number])[] = [
  ['unit', 120],
  ['property', 300],
  ['conformance', 180],
  ['crawls', 720],
  ['integration', 480],
  ['simulation', 300],
  ['crash', 480],
  ['long', 1_800],
];
/** Suites that run when they are named, for they take too long for every change. */
const ON_DEMAND = new Set(['long']);
/** Suites that mostly wait, for gaps and for other processes: they run beside all that come after them, each in so many processes. */
const BESIDE: ReadonlyMap<string, number> = new Map([['crawls', 2]]);

interface Ended {
  /** Null when it was stopped for its time. */
  readonly status: number | null;
  readonly output: string;
  readonly seconds: number;
}

interface Counts {
  passed: number;
  failed: number;
  readonly skipped: string[];
}

/** Runs a program to its end or to its time limit, when all it started ends with it. */
function run(
  argv: readonly string[],
  secondsMax: number,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { cwd: ROOT, detached: true, env: environment });
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    const stop = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const interrupted = (): void => {
      stop();
      process.exit(130);
    };
    process.once('SIGINT', interrupted);
    const timer = setTimeout(stop, secondsMax * SECOND_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      process.off('SIGINT', interrupted);
      const seconds = (performance.now() - startedMs) / SECOND_MS;
      resolve({ status, output: Buffer.concat(pieces).toString('utf8'), seconds });
    });
  });
}

/** A program of node_modules, run by this Node. */
function tool(name: string, file: string): string {
  return join(ROOT, 'node_modules', name, file);
}

/** Compiled files whose source is gone would still be run. */
function removeStale(): void {
  for (const folder of ['src', 'test', 'bench', 'scripts']) {
    const compiled = join(ROOT, 'dist', folder);
    if (!existsSync(compiled)) continue;
    for (const file of readdirSync(compiled, { recursive: true }).map(String)) {
      if (!file.endsWith('.js')) continue;
      const source = join(ROOT, folder, file.replace(/\.js$/, '.ts'));
      if (!existsSync(source)) rmSync(join(compiled, file));
    }
  }
}

/** True when the step passed; otherwise its output is shown. */
async function step(name: string, argv: readonly string[], secondsMax: number): Promise<boolean> {
  const ended = await run(argv, secondsMax);
  if (ended.status === 0) {
    say(`ok      ${name}  ${ended.seconds.toFixed(1)} s`);
    return true;
  }
  say(`FAILED  ${name}  ${ended.seconds.toFixed(1)} s`);
  say(tail(ended.output));
  return false;
}

/** @param part of how many, `1/1` for the whole suite; the parts share out its files */
async function suite(
  name: string,
  part: string,
  secondsMax: number,
  folder: string,
): Promise<Counts> {
  const tap = join(folder, `${name}-${part.replace('/', '-of-')}.tap`);
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push('--test-reporter=tap', `--test-reporter-destination=${tap}`);
  const file = join('dist', 'test', 'suites', `${name}.suite.js`);
  const environment = { ...process.env, NO_COLOR: '1', TEST_PART: part };
  const ended = await run(['--test', ...reporters, file], secondsMax, environment);
  const counts = countsOf(existsSync(tap) ? readFileSync(tap, 'utf8') : '');
  const isGood = ended.status === 0 && counts.failed === 0 && counts.passed > 0;
  if (!isGood) counts.failed = Math.max(counts.failed, 1);
  const skipped = counts.skipped.length === 0 ? '' : `, ${counts.skipped.length} skipped`;
  const seconds = ended.seconds.toFixed(1);
  const called = part === '1/1' ? name : `${name} ${part}`;
  say(
    `${isGood ? 'ok    ' : 'FAILED'}  ${called}: ${counts.passed} passed${skipped}  ${seconds} s`,
  );
  for (const reason of counts.skipped) say(`          skipped: ${reason}`);
  if (!isGood) {
    if (ended.status === null) say(`stopped after ${secondsMax} s; the last it said:`);
    const list = ended.output.indexOf('failing tests:');
    say(list === -1 ? tail(ended.output) : head(ended.output.slice(list)));
  }
  return counts;
}

/** Reads the totals and the skipped tests from TAP, the reporter's form for programs. */
function countsOf(tap: string): Counts {
  const total = (what: string): number =>
    Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
  const skipped = [...tap.matchAll(/^ *ok \d+ - (.*?) # SKIP ?(.*)$/gm)];
  return {
    passed: total('pass'),
    failed: total('fail') + total('cancelled'),
    skipped: skipped.map(([, name, reason]) => (reason === '' ? `${name}` : `${name}: ${reason}`)),
  };
}

/** Suites to run: those that have tests. One that is named and has none is an error, by its own loader. */
function chosen(names: readonly string[]): typeof SUITES {
  for (const name of names) {
    if (!SUITES.some(([known]) => known === name)) {
      say(`no suite ${name}; there are ${SUITES.map(([known]) => known).join(', ')}`);
      process.exit(2);
    }
  }
  if (names.length > 0) return SUITES.filter(([name]) => names.includes(name));
  return SUITES.filter(([name]) => !ON_DEMAND.has(name) && existsSync(join(ROOT, 'test', name)));
}

function head(text: string): string {
  const lines = text.trimEnd().split('\n').slice(0, FAILURE_LINES);
  return lines.map((line) => line.slice(0, LINE_CHARS)).join('\n');
}

function tail(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-TAIL_LINES);
  return lines.map((line) => line.slice(0, LINE_CHARS)).join('\n');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const suites = chosen(process.argv.slice(2));
  const startedMs = performance.now();
  const failed: string[] = [];
  let passed = 0;
  let skipped = 0;
  removeStale();
  const build = await step('build', [tool('typescript', 'bin/tsc'), '-p', 'tsconfig.json'], 120);
  if (!build) {
    say('FAILED: it does not build');
    return 1;
  }
  const biome = tool('@biomejs/biome', 'bin/biome');
  if (!(await step('check', [biome, 'check', '--error-on-warnings', '.'], 60)))
    failed.push('check');
  const folder = mkdtempSync(join(tmpdir(), 'hostler-suites-'));
  const record = async (name: string, part: string, secondsMax: number): Promise<void> => {
    const counts = await suite(name, part, secondsMax, folder);
    passed += counts.passed;
    skipped += counts.skipped.length;
    if (counts.failed > 0 && !failed.includes(name)) failed.push(name);
  };
  const beside: Promise<void>[] = [];
  for (const [name, secondsMax] of suites) {
    // What TEST_ONLY leaves may all lie in one part.
    const parts = process.env.TEST_ONLY === undefined ? BESIDE.get(name) : undefined;
    if (parts === undefined) await record(name, '1/1', secondsMax);
    for (let part = 1; part <= (parts ?? 0); part += 1) {
      beside.push(record(name, `${part}/${parts}`, secondsMax));
    }
  }
  await Promise.all(beside);
  rmSync(folder, { recursive: true });
  const seconds = ((performance.now() - startedMs) / SECOND_MS).toFixed(0);
  const totals = `${passed} tests passed, ${skipped} skipped, in ${seconds} s`;
  say(failed.length === 0 ? `PASSED: ${totals}` : `FAILED: ${failed.join(', ')}; ${totals}`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
