// How the dashboard writes numbers: short, with units, never with more digits than
// are meant. The same number is written the same way in tiles, tables and on the
// axes of charts.

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** @param {number | string} value a count; the server writes numbers that are not finite as text */
export function count(value) {
  if (typeof value !== 'number') return String(value);
  return Math.abs(value) < 100_000 ? WHOLE.format(value) : COMPACT.format(value);
}

/** @param {number} value per second */
export function rate(value) {
  return value >= 100 ? count(value) : ONE_DIGIT.format(value);
}

/** @param {number} bytes */
export function bytes(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? WHOLE.format(value) : ONE_DIGIT.format(value)} ${units[unit]}`;
}

/** @param {number | string | null | undefined} value milliseconds */
export function milliseconds(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value === 'Infinity' ? 'never' : value;
  if (value < 1_000) return `${value < 10 ? ONE_DIGIT.format(value) : WHOLE.format(value)} ms`;
  return value < 60_000 ? `${ONE_DIGIT.format(value / 1_000)} s` : span(value / 1_000);
}

/** @param {number} seconds */
export function span(seconds) {
  const whole = Math.floor(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ].filter(([value]) => value !== 0);
  if (parts.length === 0) return '0 s';
  return parts
    .slice(0, 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

/** @param {number} at milliseconds since the epoch; 0 for never */
export function time(at) {
  return at > 0 ? new Date(at).toLocaleString('sv') : '–';
}
