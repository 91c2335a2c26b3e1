// What a process has used so far, from /proc: CPU time by thread, memory that is its own (RssAnon + RssShmem: the resident set would count
// LMDB's map of the disk), bytes it made the disk write. Linux only, like the benchmarks. CPU time comes in ticks of 10 ms.

import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ of every Linux that Node runs on (sysconf(_SC_CLK_TCK)). */
const TICK_MS = 10;

/** A process at one moment. */
export interface ProcessSample {
  /** User and system time of all threads, also those that have ended. */
  readonly cpuMs: number;
  /** The same of each thread that runs, by thread id. */
  readonly threadMs: ReadonlyMap<number, number>;
  /** RssAnon + RssShmem. */
  readonly memoryBytes: number;
  /** Bytes handed to the file system's writers. */
  readonly writtenBytes: number;
}

/** @returns undefined when the process has ended */
export function sampleProcess(pid: number): ProcessSample | undefined {
  try {
    const threadMs = new Map<number, number>();
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      threadMs.set(Number(thread), cpuMsOf(`/proc/${pid}/task/${thread}/stat`));
    }
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1];
    return {
      cpuMs: cpuMsOf(`/proc/${pid}/stat`),
      threadMs,
      memoryBytes: 1024 * (kibibytes(status, 'RssAnon') + kibibytes(status, 'RssShmem')),
      writtenBytes: Number(written ?? 0),
    };
  } catch {
    // Between two looks the process, or one of its threads, may have ended.
    return undefined;
  }
}

/** Fields 14 and 15 of proc(5) stat; the second field, in parentheses, may hold spaces. */
function cpuMsOf(file: string): number {
  const text = readFileSync(file, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function kibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
}
