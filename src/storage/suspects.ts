// Pages that crawl threads died of (step 11, DESIGN.md §5), kept as `DIR/suspects`: one line a page, `<16 hex digits of its URL key> <deaths>
// <how it died last>`. Written by the main process before it ends with a dead shard, read at the next start; such pages are parsed by the
// guarded pool only. Plain text, so that an operator can look, and remove a line whose page is innocent.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { damaged } from './disk-error.ts';
import { onDisk, replaceDurably } from './files.ts';

/** Pages kept; the oldest go first. Each stands for a death of the whole process, so there are few. */
export const SUSPECTS_MAX = 1_000;
const LINE = /^([0-9a-f]{16}) ([1-9]\d{0,8})(?: (.*))?$/;
const REASON_CHARACTERS_MAX = 200;

/** One page and the deaths it is held responsible for. */
export interface Suspect {
  readonly deaths: number;
  /** How the last one happened, for people. */
  readonly reason: string;
}

export function suspectsPath(dir: string): string {
  return join(dir, 'suspects');
}

/**
 * Reads the suspects of a crawl, the oldest first; none when there is no file.
 * @throws CrawlError data-damaged naming the line that is none; disk
 */
export function readSuspects(dir: string): Map<bigint, Suspect> {
  const path = suspectsPath(dir);
  const suspects = new Map<bigint, Suspect>();
  if (!existsSync(path)) return suspects;
  const lines = onDisk(path, () => readFileSync(path, 'utf8')).split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const match = LINE.exec(line);
    if (match === null) throw damaged(`${path} line ${index + 1}`, line.slice(0, 100));
    const [, key, deaths, reason = ''] = match;
    suspects.set(BigInt(`0x${key}`), { deaths: Number(deaths), reason });
  }
  return suspects;
}

/** Only the deaths, as crawl threads take them. @throws CrawlError as readSuspects does */
export function suspectDeaths(dir: string): Map<bigint, number> {
  return new Map(Array.from(readSuspects(dir), ([key, { deaths }]) => [key, deaths]));
}

/**
 * Adds one death to a page's account, durably.
 * @throws CrawlError as readSuspects does; disk-full
 */
export function recordSuspect(dir: string, urlKey: bigint, reason: string): void {
  const suspects = readSuspects(dir);
  const deaths = (suspects.get(urlKey)?.deaths ?? 0) + 1;
  suspects.delete(urlKey);
  suspects.set(urlKey, { deaths, reason });
  const kept = [...suspects].slice(-SUSPECTS_MAX);
  const lines = kept.map(([key, suspect]) => `${lineOf(key, suspect)}\n`);
  onDisk(suspectsPath(dir), () => replaceDurably(suspectsPath(dir), Buffer.from(lines.join(''))));
}

function lineOf(urlKey: bigint, { deaths, reason }: Suspect): string {
  const text = reason.replace(/\s+/g, ' ').slice(0, REASON_CHARACTERS_MAX);
  return `${urlKey.toString(16).padStart(16, '0')} ${deaths} ${text}`;
}
