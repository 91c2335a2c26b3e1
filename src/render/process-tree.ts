// The processes of a browser, read from /proc (docs/RENDERING.md): which are its renderers, what memory each has for itself, and how much of a
// processor it has used. A page that hangs or grows cannot be asked for these. Linux only; elsewhere the lists are empty and the bounds of V8
// alone hold. Never throws: a process may end while it is looked at; its start time tells it from a later one with its number.

import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4_096;

/** A process, and when it was started, in ticks since the boot of the machine. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedTicks: number;
}

export interface RendererProcess extends ProcessIdentity {
  /** Resident and shared with nobody. */
  readonly privateBytes: number;
  /** Of a processor, since its start; in ticks of 10 ms. */
  readonly usedTicks: number;
}

/** The process whose command line has this argument; undefined when there is none. Looks at all processes. */
export function processWith(argument: string): ProcessIdentity | undefined {
  for (const pid of pids()) {
    if (argumentsOf(pid).includes(argument)) return statOf(pid);
  }
  return undefined;
}

/** A process and all below it, as the kernel lists children (CONFIG_PROC_CHILDREN). */
export function processesBelow(root: ProcessIdentity): ProcessIdentity[] {
  const found = [root];
  for (let at = 0; at < found.length; at += 1) {
    const { pid } = found[at] as ProcessIdentity;
    const children = textOf(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
    found.push(...children.map(statOf).filter((child) => child !== undefined));
  }
  return found;
}

/** The renderers among the processes below one. */
export function renderersBelow(root: ProcessIdentity): RendererProcess[] {
  const renderers: RendererProcess[] = [];
  for (const { pid } of processesBelow(root)) {
    const stat = statOf(pid);
    if (stat === undefined || !argumentsOf(pid).includes('--type=renderer')) continue;
    renderers.push({ ...stat, privateBytes: privateBytesOf(pid) });
  }
  return renderers;
}

/** Ends processes at once; those that are gone already are passed over. */
export function killProcesses(list: readonly ProcessIdentity[]): void {
  for (const { pid, startedTicks } of list) {
    if (statOf(pid)?.startedTicks !== startedTicks) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone.
    }
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Chromium's children write theirs with blanks, in one argument. */
function argumentsOf(pid: number): string[] {
  return textOf(pid, 'cmdline').split(/[\0 ]/);
}

/** proc(5): after the name in brackets come state, parent …, as 14th and 15th field the ticks in user and system mode, as 22nd the start. */
function statOf(pid: number): Omit<RendererProcess, 'privateBytes'> | undefined {
  const text = textOf(pid, 'stat');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return undefined;
  const usedTicks = Number(fields[11]) + Number(fields[12]);
  return { pid, usedTicks, startedTicks: Number(fields[19]) };
}

function privateBytesOf(pid: number): number {
  const [, resident = '0', shared = '0'] = textOf(pid, 'statm').split(' ');
  return (Number(resident) - Number(shared)) * PAGE_BYTES;
}
