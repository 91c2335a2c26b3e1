// Dates as HTTP writes them (RFC 9110 §5.6.7): Retry-After, Last-Modified, Expires. Used around step 9 of a URL's life.
// Date.parse is not used: it accepts nearly anything, by rules that differ between engines and time zones, and a wrong date here
// means a wrong pause. Linear time: every pattern is anchored and has no nested repetition.

import { type WallMs, wallMs } from '../base/units.ts';

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';
/** `Sun, 06 Nov 1994 08:49:37 GMT`, and `Sunday, 06-Nov-94 08:49:37 GMT` of RFC 850. */
const DAY_FIRST =
  /^[a-z]{3,9}, {0,2}(\d{1,2})[ -]([a-z]{3})[ -](\d{4}|\d{2}) (\d{2}):(\d{2}):(\d{2}) (?:gmt|utc|ut|z|\+0000)$/;
/** `Sun Nov  6 08:49:37 1994` of C's asctime. */
const MONTH_FIRST = /^[a-z]{3} ([a-z]{3}) {1,2}(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/**
 * Reads an HTTP date in any of its three forms; names are taken without case and the weekday is not checked.
 * @returns undefined when the text is no such date or names an impossible one (31 February, hour 25); never throws
 */
export function parseHttpDate(text: string): WallMs | undefined {
  if (text.length > 64) return undefined;
  const lower = text.trim().toLowerCase();
  const dayFirst = DAY_FIRST.exec(lower);
  if (dayFirst !== null) {
    const [, day, month, year, hour, minute, second] = dayFirst;
    return assemble([year!, month!, day!, hour!, minute!, second!]);
  }
  const monthFirst = MONTH_FIRST.exec(lower);
  if (monthFirst === null) return undefined;
  const [, month, day, hour, minute, second, year] = monthFirst;
  return assemble([year!, month!, day!, hour!, minute!, second!]);
}

type DateParts = readonly [
  year: string,
  month: string,
  day: string,
  hour: string,
  minute: string,
  second: string,
];

function assemble([yearText, monthText, dayText, ...time]: DateParts): WallMs | undefined {
  const monthAt = MONTHS.indexOf(monthText);
  if (monthAt < 0 || monthAt % 3 !== 0) return undefined;
  const month = monthAt / 3;
  const day = Number(dayText);
  const [hour, minute, second] = time.map(Number) as [number, number, number];
  // A leap second (60) is allowed by the grammar; Date.UTC carries it over.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const year = fullYear(yearText);
  const date = Date.UTC(year, month, day, hour, minute, second);
  const midnight = new Date(Date.UTC(year, month, day));
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  return wallMs(date);
}

/** Two digits: 70 … 99 are of the last century, the others of this one; a fixed pivot, so that no clock is needed. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length === 4) return year;
  return year >= 70 ? 1900 + year : 2000 + year;
}
