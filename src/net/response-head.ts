// Reads the status line and the fields of a response (step 9 of a URL's life) before undici's parser sees them. Three reasons. The
// record must hold the head as it came. undici 7.30 gives up on "100 Continue", which every client must skip (RFC 9110 §15.2). And its
// parser, strict by design, refuses whole pages for faults that RFC 9112 lets or tells a user agent repair: bare LF (§2.2), folded lines
// (§5.2), blanks before the colon (§5.1), a Content-Length beside chunked (§6.3) or repeated (§6.3).
// What decides where a message ends is never guessed: a length that is no number, lengths that differ and unknown transfer codings are
// failures. A head that needs no repair goes to undici byte for byte. Linear time; the caller bounds the size.

/** The head of a final response. */
export interface ResponseHead {
  /** 200 … 999. */
  readonly status: number;
  /** Latin-1 as received, may be empty. */
  readonly reason: string;
  /** Flat list name, value …, Latin-1 as received; folded lines joined by a blank, lines without a colon left out. */
  readonly headers: readonly string[];
  /** Declared length of the body that follows; undefined when chunked, ended by the connection's end, or absent by status. */
  readonly contentLength: number | undefined;
  /** The head as undici is to read it; undefined when it can be left as it came. */
  readonly repaired: string | undefined;
}

/** What a head comes to: `interim` ones (1xx) are skipped. */
export type HeadReading =
  | { readonly kind: 'final'; readonly head: ResponseHead }
  | { readonly kind: 'interim' }
  | { readonly kind: 'broken'; readonly detail: string };

/** Status line. A missing reason, with or without its blank, is common (RFC 9112 §4). */
const STATUS_LINE = /^HTTP\/(\d\.\d) (\d{3})(?: ([^\r\n\0]*))?$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A head without these needs no second look at its values. */
const UNUSUAL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]/;
/** NUL and CR spoil a field, other control characters become blanks (RFC 9110 §5.5). */
const DANGEROUS = /[\0\r\n]/;
const CONTROL_EACH = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const DIGITS = /^\d{1,15}$/;

/** The fields of a head while they are read. */
interface Draft {
  readonly text: string;
  readonly isUnusual: boolean;
  readonly headers: string[];
  /** True once something needs repair before undici may see it. */
  isDamaged: boolean;
  /** Values of Content-Length and Transfer-Encoding; several joined by commas, as RFC 9110 §5.3 has it. */
  length: string | undefined;
  coding: string | undefined;
}

/**
 * Reads one head.
 * @param text Latin-1 text from the status line up to and including the empty line
 */
export function readResponseHead(text: string): HeadReading {
  const lineEnd = text.indexOf('\n');
  const isBareLf = text.charCodeAt(lineEnd - 1) !== 13;
  const statusLine = STATUS_LINE.exec(text.slice(0, isBareLf ? lineEnd : lineEnd - 1));
  if (statusLine === null) return { kind: 'broken', detail: 'not an HTTP status line' };
  const status = Number(statusLine[2]);
  if (status === 101) return { kind: 'broken', detail: 'protocol switch nobody asked for' };
  if (status < 100) return { kind: 'broken', detail: `status ${statusLine[2]}` };
  if (status < 200) return { kind: 'interim' };
  const draft: Draft = {
    text,
    isUnusual: UNUSUAL.test(text),
    headers: [],
    isDamaged: isBareLf,
    length: undefined,
    coding: undefined,
  };
  const fault = readFields(draft, lineEnd + 1);
  if (fault !== undefined) return { kind: 'broken', detail: fault };
  const framing = judgeFraming(status, draft);
  if (typeof framing === 'string') return { kind: 'broken', detail: framing };
  const isRepaired = draft.isDamaged || framing.dropLength || framing.dropCoding;
  return {
    kind: 'final',
    head: {
      status,
      reason: statusLine[3] ?? '',
      headers: draft.headers,
      contentLength: framing.contentLength,
      repaired: isRepaired ? rebuild(statusLine, draft.headers, framing) : undefined,
    },
  };
}

/** Fills the draft from the field lines; returns a fault, if there is one beyond repair. */
function readFields(draft: Draft, from: number): string | undefined {
  const { text } = draft;
  let position = from;
  while (position < text.length) {
    const lineEnd = text.indexOf('\n', position);
    const isBareLf = text.charCodeAt(lineEnd - 1) !== 13;
    const end = isBareLf ? lineEnd : lineEnd - 1;
    if (isBareLf) draft.isDamaged = true;
    if (end <= position) break;
    const fault = isBlank(text.charCodeAt(position))
      ? readFolded(draft, position, end)
      : readField(draft, position, end);
    if (fault !== undefined) return fault;
    position = lineEnd + 1;
  }
  return undefined;
}

/** A line that continues the field before it. */
function readFolded(draft: Draft, start: number, end: number): string | undefined {
  const { headers } = draft;
  draft.isDamaged = true;
  const folded = trimBlanks(draft.text, start, end);
  if (DANGEROUS.test(folded)) return 'NUL or CR within a field';
  if (headers.length === 0) return undefined;
  // A length or a coding written over two lines is left unread on purpose: no honest server does that.
  if (isFraming(headers[headers.length - 2] as string)) return 'framing field over two lines';
  headers[headers.length - 1] += ` ${folded}`;
  return undefined;
}

function readField(draft: Draft, start: number, end: number): string | undefined {
  const { text } = draft;
  if (draft.isUnusual) {
    const line = text.slice(start, end);
    if (DANGEROUS.test(line)) return 'NUL or CR within a field';
    if (UNUSUAL.test(line)) draft.isDamaged = true;
  }
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon >= end) {
    // No field at all: left out, as browsers do.
    draft.isDamaged = true;
    return undefined;
  }
  // No regular expression trims here: those for an end of blanks take quadratic time on many of them.
  const name = trimBlanks(text, start, colon);
  if (name.length < colon - start || !TOKEN.test(name)) draft.isDamaged = true;
  const value = trimBlanks(text, colon + 1, end);
  draft.headers.push(name, value);
  if (name.length === 14 || name.length === 17) noteFraming(draft, name.toLowerCase(), value);
  return undefined;
}

function isFraming(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'content-length' || lower === 'transfer-encoding';
}

function noteFraming(draft: Draft, lower: string, value: string): void {
  if (lower === 'content-length') {
    draft.length = draft.length === undefined ? value : `${draft.length},${value}`;
  } else if (lower === 'transfer-encoding') {
    draft.coding = draft.coding === undefined ? value : `${draft.coding},${value}`;
  }
}

/** The text between two positions without blanks at its ends. */
function trimBlanks(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Where the message ends, by RFC 9112 §6.3. */
interface Framing {
  readonly contentLength: number | undefined;
  /** Content-Length is not for undici: it is overridden, or written again once. */
  readonly dropLength: boolean;
  readonly dropCoding: boolean;
}

const NO_FRAMING: Framing = { contentLength: undefined, dropLength: false, dropCoding: false };

/** @returns the framing, or why there is none */
function judgeFraming(status: number, { length, coding }: Draft): Framing | string {
  if (status === 204 || status === 304) {
    if (length === undefined && coding === undefined) return NO_FRAMING;
    return { contentLength: undefined, dropLength: true, dropCoding: true };
  }
  if (coding !== undefined) {
    // No coding was asked for (no TE was sent), so chunked is all there may be; `identity` is what RFC 2616 called none.
    const name = coding.trim().toLowerCase();
    if (name !== 'chunked' && name !== 'identity') return `transfer coding ${coding}`;
    if (name === 'chunked') {
      return { contentLength: undefined, dropLength: length !== undefined, dropCoding: false };
    }
  }
  if (length === undefined) return NO_FRAMING;
  const dropCoding = coding !== undefined;
  if (DIGITS.test(length)) return { contentLength: Number(length), dropLength: false, dropCoding };
  const lengths = length.split(',').map((part) => part.trim());
  const first = lengths[0] as string;
  if (!DIGITS.test(first)) return `content length ${JSON.stringify(length)}`;
  if (lengths.some((other) => other !== first)) return 'content lengths that differ';
  return { contentLength: Number(first), dropLength: true, dropCoding };
}

/** The head once more, without what undici's parser refuses. */
function rebuild(
  statusLine: RegExpExecArray,
  headers: readonly string[],
  framing: Framing,
): string {
  const [, version, status, reason] = statusLine;
  let text = `HTTP/${version} ${status} ${(reason ?? '').replace(CONTROL_EACH, ' ')}\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (!TOKEN.test(name)) continue;
    const lower = name.toLowerCase();
    if (framing.dropLength && lower === 'content-length') continue;
    if (framing.dropCoding && lower === 'transfer-encoding') continue;
    text += `${name}: ${(headers[index + 1] as string).replace(CONTROL_EACH, ' ')}\r\n`;
  }
  if (framing.dropLength && framing.contentLength !== undefined) {
    text += `Content-Length: ${framing.contentLength}\r\n`;
  }
  return `${text}\r\n`;
}
