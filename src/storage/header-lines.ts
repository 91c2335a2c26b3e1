// Reads the header lines of WARC records and of the HTTP messages inside them, from bytes that may come from any tool and may be damaged.
// Steps 10 and 11. Linear, bounded by the bytes given, never throws.
// HTTP bytes become Latin-1 strings, one character a byte, exactly as the fetcher delivers them; WARC values are UTF-8 (WARC 1.1 §4).

/** A head: its first line, the fields as a flat list name, value, name, value …, and the offset of what follows the empty line. */
export interface HeaderLines {
  readonly firstLine: string;
  readonly fields: readonly string[];
  readonly end: number;
}

const LF = 10;
const CR = 13;

/**
 * Parses a head from `start` up to and including its empty line. Lines may end in a bare LF; a line that begins with a blank continues
 * the value before it (RFC 9112 §5.2); a line without colon is left out.
 * @param encoding `latin1` for HTTP, `utf8` for WARC
 * @returns undefined when the bytes end before the empty line
 */
export function parseHeaderLines(
  bytes: Buffer,
  start: number,
  encoding: 'latin1' | 'utf8',
): HeaderLines | undefined {
  let firstLine: string | undefined;
  const fields: string[] = [];
  let at = start;
  for (;;) {
    const lineFeed = bytes.indexOf(LF, at);
    if (lineFeed < 0) return undefined;
    const lineEnd = lineFeed > at && bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
    const line = bytes.toString(encoding, at, lineEnd);
    at = lineFeed + 1;
    if (firstLine === undefined) {
      firstLine = line;
      if (line === '') return { firstLine, fields, end: at };
      continue;
    }
    if (line === '') return { firstLine, fields, end: at };
    addLine(fields, line);
  }
}

function addLine(fields: string[], line: string): void {
  if (line[0] === ' ' || line[0] === '\t') {
    if (fields.length > 0) fields[fields.length - 1] += ` ${trimBlanks(line)}`;
    return;
  }
  const colon = line.indexOf(':');
  if (colon > 0) fields.push(trimBlanks(line.slice(0, colon)), trimBlanks(line.slice(colon + 1)));
}

/** Without blanks and tabs at both ends, and nothing else: other control characters are part of the value. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/**
 * The first value of a field, names compared without case.
 * @param fields flat list name, value …
 * @param lowerName the name in lower case
 */
export function fieldValue(fields: readonly string[], lowerName: string): string | undefined {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index]!;
    if (name.length === lowerName.length && name.toLowerCase() === lowerName)
      return fields[index + 1];
  }
  return undefined;
}

/** All values of a field, in order, joined by `, ` as a list field is (RFC 9110 §5.3); empty when there is none. */
export function fieldValues(fields: readonly string[], lowerName: string): string {
  let joined = '';
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (fields[index]!.toLowerCase() !== lowerName) continue;
    joined += joined === '' ? fields[index + 1] : `, ${fields[index + 1]}`;
  }
  return joined;
}
