// Permitted hours of a host (step 8): some owners ask to be crawled at night only. The operator writes `22:00-06:00` in UTC for a host; outside
// these hours nothing is asked of it, robots.txt included. Pure; a day has 86,400 seconds, as Unix time has it.

import type { WallMs } from '../base/units.ts';

/** From a minute of the day to another, UTC; `toMinute` is not in it. Over midnight when `fromMinute` is the greater; never equal. */
export interface PermittedHours {
  /** 0 … 1,439. */
  readonly fromMinute: number;
  /** 0 … 1,440. */
  readonly toMinute: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24):(00))$/;

/** Reads `HH:MM-HH:MM` (24:00 ends a day); undefined when it is none, or empty. */
export function parsePermittedHours(text: string): PermittedHours | undefined {
  const match = HOURS.exec(text);
  if (match === null) return undefined;
  const [, fromHour, fromMinutes, toHour = match[5], toMinutes = match[6]] = match;
  const fromMinute = Number(fromHour) * 60 + Number(fromMinutes);
  const toMinute = Number(toHour) * 60 + Number(toMinutes);
  return fromMinute === toMinute ? undefined : { fromMinute, toMinute };
}

/** How long until the host may be asked: 0 within its hours, else at most a day; milliseconds. */
export function msUntilPermitted(hours: PermittedHours, wallNow: WallMs): number {
  const dayMs = ((wallNow % DAY_MS) + DAY_MS) % DAY_MS;
  const fromMs = hours.fromMinute * MINUTE_MS;
  const toMs = hours.toMinute * MINUTE_MS;
  const isWithin =
    fromMs < toMs ? dayMs >= fromMs && dayMs < toMs : dayMs >= fromMs || dayMs < toMs;
  return isWithin ? 0 : (fromMs - dayMs + DAY_MS) % DAY_MS;
}
