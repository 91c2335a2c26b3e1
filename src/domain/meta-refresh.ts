// The declarative refresh (step 11): `<meta http-equiv=refresh content="0; url=/new">`, and the Refresh header, which is written the
// same way. Followed to the letter of the HTML standard, as pages move by it and its quotes and blanks vary widely.

/** A refresh as written. */
export interface Refresh {
  /** Seconds to wait, 0 or more; fractions are kept although browsers drop them. */
  readonly delaySeconds: number;
  /** Where to go, unresolved; empty means the page itself. */
  readonly reference: string;
}

/**
 * Reads the content of a refresh. Never throws; linear.
 * @param content at most a few thousand characters. Source: HTML standard §4.2.5.3 "shared declarative refresh steps"
 * @returns undefined when the standard would ignore it
 */
export function parseRefresh(content: string): Refresh | undefined {
  let at = skipBlanks(content, 0);
  const start = at;
  while (isDigit(content.charCodeAt(at))) at++;
  if (at === start && content[at] !== '.') return undefined;
  while (isDigit(content.charCodeAt(at)) || content[at] === '.') at++;
  const delaySeconds = Math.min(
    Number.parseFloat(`0${content.slice(start, at)}`),
    DELAY_SECONDS_MAX,
  );
  if (at === content.length) return { delaySeconds, reference: '' };
  if (!/[;,\t\n\f\r ]/.test(content[at]!)) return undefined;
  at = skipBlanks(content, at);
  if (content[at] === ';' || content[at] === ',') at++;
  at = skipBlanks(content, at);
  return { delaySeconds, reference: readUrl(content, at) };
}

/** A year. Longer waits mean never, and the bound keeps the number a finite one. */
const DELAY_SECONDS_MAX = 31_536_000;

function readUrl(content: string, start: number): string {
  let at = start;
  if (content.slice(at, at + 3).toLowerCase() === 'url') {
    const equals = skipBlanks(content, at + 3);
    if (content[equals] !== '=') return content.slice(start);
    at = skipBlanks(content, equals + 1);
  }
  const quote = content[at];
  if (quote !== '"' && quote !== "'") return content.slice(at);
  const close = content.indexOf(quote, at + 1);
  return content.slice(at + 1, close < 0 ? content.length : close);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && /[\t\n\f\r ]/.test(text[at]!)) at++;
  return at;
}
