// Tells one run of a process from every other, so that a lock outlives neither its holder nor a reboot: a process id is reused, but not
// together with its start time and the kernel's boot id (proc(5)). Where /proc is missing only the process id is compared.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** One run of one process on one machine. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot at which the process started (proc_pid_stat(5), field 22); empty where unknown. */
  readonly startTime: string;
  /** /proc/sys/kernel/random/boot_id; empty where unknown. */
  readonly bootId: string;
  readonly host: string;
}

/** Where starttime is, counted from the field after the command name, which may itself hold blanks and parentheses. */
const START_TIME_FIELD = 19;

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? '',
    bootId: bootId(),
    host: hostname(),
  };
}

/**
 * Whether the process still runs. One on another machine is taken to run, since that cannot be known from here.
 */
export function isAlive(holder: ProcessIdentity): boolean {
  if (holder.host !== hostname()) return true;
  const boot = bootId();
  if (boot !== '' && holder.bootId !== '' && holder.bootId !== boot) return false;
  const startTime = startTimeOf(holder.pid);
  if (startTime === undefined) return hasPid(holder.pid);
  return holder.startTime === '' || holder.startTime === startTime;
}

/** True when both name the same run of the same process. */
export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return (
    one.pid === other.pid &&
    one.startTime === other.startTime &&
    one.bootId === other.bootId &&
    one.host === other.host
  );
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; only its parent has not looked yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended';
    return fields[START_TIME_FIELD];
  } catch {
    return undefined;
  }
}

function hasPid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
