// What every bench shares: parameters with a smoke and a full value, and one line a subject with rate, p50, p99, CPU time and checksum
// (STYLE.md 19). Smoke runs are short enough for `npm run check`; `--full` gives figures worth quoting. The checksum proves that the work
// was done and that two runs did the same.

const isFull = process.argv.includes('--full');

/** The value of a parameter: `--name=value` if given, else by mode. */
export function parameter(name: string, smoke: number, full: number): number {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  if (given !== undefined) return Number(given.slice(name.length + 3));
  return isFull ? full : smoke;
}

/** One subject of a bench. */
export interface Subject {
  readonly name: string;
  /** Operations of one call of `round`. */
  readonly operations: number;
  readonly rounds: number;
  /** Does the work once and returns something that depends on all of it. */
  readonly round: (index: number) => number;
}

/** Runs a subject after two rounds of warming up, and prints its line. */
export function measure(subject: Subject): void {
  let checksum = 0;
  for (let index = 0; index < 2; index++) subject.round(index);
  const perOperation: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let index = 0; index < subject.rounds; index++) {
    const startedAt = process.hrtime.bigint();
    checksum = (Math.imul(checksum, 31) + subject.round(index)) | 0;
    perOperation.push(Number(process.hrtime.bigint() - startedAt) / subject.operations);
  }
  const cpu = process.cpuUsage(cpuBefore);
  printLine(subject.name, subject.operations * subject.rounds, perOperation, cpu, checksum);
}

/** Prints one result line. */
export function printLine(
  name: string,
  operations: number,
  nsPerOperation: readonly number[],
  cpu: NodeJS.CpuUsage,
  checksum: number,
): void {
  const sorted = [...nsPerOperation].sort((a, b) => a - b);
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0);
  const cpuSeconds = (cpu.user + cpu.system) / 1e6;
  const cpuNs = ((cpuSeconds * 1e9) / operations).toFixed(0);
  const rate = (operations / cpuSeconds / 1e6).toFixed(2);
  const columns = [
    name.padEnd(60),
    `${rate.padStart(7)} M per CPU s`,
    `cpu ${cpuNs.padStart(5)} ns`,
    `p50 ${at(0.5).padStart(5)} ns`,
    `p99 ${at(0.99).padStart(5)} ns`,
    `total ${cpuSeconds.toFixed(2)} CPU s`,
    `checksum ${(checksum >>> 0).toString(16)}`,
  ];
  process.stdout.write(`${columns.join('  ')}\n`);
}
