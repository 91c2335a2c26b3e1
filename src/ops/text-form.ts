// Answers as text for people: a list of objects as an aligned table, an object as `key: value`
// lines, nested ones indented. No line is empty, so that an empty line can end an answer.
// Characters that a terminal would obey are escaped: much of the text comes from the web.

import type { Plain } from './plain-value.ts';

/** Columns of a table, at most. */
const COLUMNS_MAX = 24;
/** Widest column that others are aligned to. */
const ALIGN_MAX = 72;
/** Longest list of short values kept on one line. */
const INLINE_MAX = 100;

type Fields = { readonly [key: string]: Plain };

/** The lines of an answer, without the empty one that ends it. Never empty. */
export function textOf(value: Plain): string {
  return linesOf(value).join('\n');
}

/** Text with control characters, line ends and direction marks replaced by visible escapes. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function linesOf(value: Plain): string[] {
  if (isList(value)) return listLines(value);
  if (isFields(value)) return fieldLines(value);
  return [scalarText('', value) || '(empty)'];
}

function listLines(list: readonly Plain[]): string[] {
  if (list.length === 0) return ['(none)'];
  if (list.every((row) => isFields(row))) return tableLines(list as readonly Fields[]);
  return list.map((row) => cellText('', row) || '(empty)');
}

function fieldLines(fields: Fields): string[] {
  const lines: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    const name = visible(key);
    const inline = inlineText(key, value);
    if (inline !== undefined) lines.push(`${name}: ${inline}`.trimEnd());
    else lines.push(`${name}:`, ...linesOf(value).map((line) => `  ${line}`));
  }
  return lines.length === 0 ? ['(none)'] : lines;
}

/** The value if it fits behind its key on one line. */
function inlineText(key: string, value: Plain): string | undefined {
  if (isFields(value)) return Object.keys(value).length === 0 ? '(none)' : undefined;
  if (!isList(value)) return scalarText(key, value);
  if (value.length === 0) return '(none)';
  if (value.some((entry) => typeof entry === 'object' && entry !== null)) return undefined;
  const text = value.map((entry) => scalarText('', entry)).join(', ');
  return text.length <= INLINE_MAX ? text : undefined;
}

function tableLines(rows: readonly Fields[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, COLUMNS_MAX);
  const table = [
    columns.map(visible),
    ...rows.map((row) => columns.map((column) => cellText(column, row[column] ?? null))),
  ];
  const widths = columns.map((_, index) =>
    table.reduce((widest, cells) => {
      const { length } = cells[index] ?? '';
      return length > ALIGN_MAX ? widest : Math.max(widest, length);
    }, 0),
  );
  const isNumeric = columns.map((column) =>
    rows.every((row) => typeof row[column] === 'number' && !isTime(column)),
  );
  const last = columns.length - 1;
  return table.map((cells) =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        if (isNumeric[index] === true) return cell.padStart(width);
        return index === last ? cell : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function cellText(column: string, value: Plain): string {
  if (typeof value !== 'object' || value === null) return scalarText(column, value);
  if (isList(value) && value.every((entry) => typeof entry !== 'object')) {
    return value.map((entry) => scalarText('', entry)).join(',');
  }
  return visible(JSON.stringify(value));
}

function scalarText(key: string, value: Plain): string {
  if (value === null) return '-';
  if (typeof value === 'string') return visible(value);
  if (typeof value !== 'number') return String(value);
  if (isTime(key)) return value > 0 ? new Date(value).toISOString() : '-';
  return String(Math.round(value * 1_000) / 1_000);
}

/** `at`, `startedAt`: milliseconds since the epoch (reports.ts). */
function isTime(key: string): boolean {
  return key === 'at' || key.endsWith('At');
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

function isFields(value: Plain): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
