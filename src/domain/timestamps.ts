// The dates that sitemaps and feeds carry (step 11), checked and brought into one form, without a clock or the platform's guesses: a
// date that is not one of the two known forms is no date, and the URL it came with stays.

const W3C =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?$/;
const MAIL =
  /^(?:[A-Za-z]{3,9},?\s+)?(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{2}|\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([A-Za-z]{1,4}|[+-]\d{4})$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ZONES: Readonly<Record<string, string>> = {
  est: '-05:00',
  edt: '-04:00',
  cst: '-06:00',
  cdt: '-05:00',
  mst: '-07:00',
  mdt: '-06:00',
  pst: '-08:00',
  pdt: '-07:00',
};

/**
 * A date as the sitemap protocol wants it, returned as written. Source: sitemaps.org `lastmod`; W3C note "Date and Time Formats"
 * @param text at most a few dozen characters matter; blanks around it are dropped
 * @returns undefined for anything else. Never throws
 */
export function w3cTimestamp(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > 40) return undefined;
  const match = W3C.exec(trimmed);
  if (match === null) return undefined;
  const [, , month = '01', day = '01', hour = '00', minute = '00', second = '00'] = match;
  const valid =
    inRange(month, 1, 12) &&
    inRange(day, 1, 31) &&
    inRange(hour, 0, 24) &&
    inRange(minute, 0, 59) &&
    inRange(second, 0, 60);
  return valid ? trimmed : undefined;
}

/**
 * A feed's date in the form of w3cTimestamp: from `Sun, 06 Sep 2009 16:20:00 +0000` (RSS) or from a W3C date (Atom, Dublin Core).
 * @returns undefined for anything else. Never throws. Source: RFC 5322 §3.3
 */
export function feedTimestamp(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > 64) return undefined;
  const match = MAIL.exec(trimmed);
  if (match === null) return w3cTimestamp(trimmed);
  const [, day = '', name = '', year = '', hour = '', minute = '', second = '00', zone = ''] =
    match;
  const month = String(MONTHS.indexOf(name.toLowerCase()) + 1).padStart(2, '0');
  const time = `${hour.padStart(2, '0')}:${minute}:${second}`;
  return w3cTimestamp(`${fullYear(year)}-${month}-${day.padStart(2, '0')}T${time}${zoneOf(zone)}`);
}

/** Two digits mean 1950 to 2049. RFC 5322 §4.3 */
function fullYear(year: string): string {
  if (year.length === 4) return year;
  return Number(year) < 50 ? `20${year}` : `19${year}`;
}

function zoneOf(zone: string): string {
  if (/^[+-]\d{4}$/.test(zone)) return `${zone.slice(0, 3)}:${zone.slice(3)}`;
  return ZONES[zone.toLowerCase()] ?? 'Z';
}

function inRange(digits: string, low: number, high: number): boolean {
  const value = Number(digits);
  return value >= low && value <= high;
}
