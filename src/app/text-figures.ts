// Figures as people read them, alike in every report: bytes, durations, times. Pure.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** 1234567 → `1.2 MB`; decimal units. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** Milliseconds → `0.8 s`, `45 s`, `12 min`, `3.5 h`, `2.1 days`. */
export function durationText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Number((seconds / 3_600).toFixed(1))} h`;
  return `${Number((seconds / 86_400).toFixed(1))} days`;
}

/** A wall-clock time → `2026-01-31 12:00:00 UTC`. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
