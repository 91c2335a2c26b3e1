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
/** Control characters in a value (RFC 9110 §5.5): NUL, CR and LF spoil a head, the others become blanks. */
const DANGEROUS = /[\0\r\n]/;
const CONTROL = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const CONTROL_EACH = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const DIGITS = /^\d{1,15}$/;
const BLANK_ENDS = /^[ \t]+|[ \t]+$/g;

/** Fields of a head on the way to a reading. */
interface Draft {
  readonly headers: string[];
  /** Lines for undici, built only once a repair was needed. */
  damaged: boolean;
  readonly lengths: string[];
  readonly codings: string[];
}

/**
 * Reads one head.
 * @param text Latin-1 text from the status line up to and including the empty line
 */
export function readResponseHead(text: string): HeadReading {
  const lineEnd = text.indexOf('\n');
  let damaged = text.charCodeAt(lineEnd - 1) !== 13;
  const statusLine = STATUS_LINE.exec(text.slice(0, damaged ? lineEnd : lineEnd - 1));
  if (statusLine === null) return { kind: 'broken', detail: 'not an HTTP status line' };
  const status = Number(statusLine[2]);
  if (status === 101) return { kind: 'broken', detail: 'protocol switch nobody asked for' };
  if (status < 200) {
    return status < 100
      ? { kind: 'broken', detail: `status ${statusLine[2]}` }
      : { kind: 'interim' };
  }
  const draft: Draft = { headers: [], damaged, lengths: [], codings: [] };
  const fault = readFields(text, lineEnd + 1, draft);
  if (fault !== undefined) return { kind: 'broken', detail: fault };
  const framing = judgeFraming(status, draft);
  if (typeof framing === 'string') return { kind: 'broken', detail: framing };
  damaged = draft.damaged || framing.dropLength || framing.dropCoding;
  return {
    kind: 'final',
    head: {
      status,
      reason: statusLine[3] ?? '',
      headers: draft.headers,
      contentLength: framing.contentLength,
      repaired: damaged ? rebuild(statusLine, draft.headers, framing) : undefined,
    },
  };
}

/** Fills the draft from the field lines; returns a fault, if there is one beyond repair. */
function readFields(text: string, from: number, draft: Draft): string | undefined {
  const { headers } = draft;
  let position = from;
  while (position < text.length) {
    const lineEnd = text.indexOf('\n', position);
    const crlf = text.charCodeAt(lineEnd - 1) === 13;
    const end = crlf ? lineEnd - 1 : lineEnd;
    if (!crlf) draft.damaged = true;
    if (end <= position) break;
    const first = text.charCodeAt(position);
    if (first === 32 || first === 9) {
      draft.damaged = true;
      const folded = text.slice(position, end).replace(BLANK_ENDS, '');
      if (DANGEROUS.test(folded)) return 'NUL or CR within a field';
      if (headers.length > 0) headers[headers.length - 1] += ` ${folded}`;
    } else {
      const fault = readField(text, position, end, draft);
      if (fault !== undefined) return fault;
    }
    position = lineEnd + 1;
  }
  return undefined;
}

function readField(text: string, start: number, end: number, draft: Draft): string | undefined {
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon >= end) {
    // No field at all: left out, as browsers do, unless it could hide one.
    draft.damaged = true;
    return DANGEROUS.test(text.slice(start, end)) ? 'NUL or CR within a field' : undefined;
  }
  let name = text.slice(start, colon);
  const value = trimBlanks(text, colon + 1, end);
  if (DANGEROUS.test(value) || DANGEROUS.test(name)) return 'NUL or CR within a field';
  if (!TOKEN.test(name)) {
    draft.damaged = true;
    name = name.replace(BLANK_ENDS, '');
  } else if (CONTROL.test(value)) {
    draft.damaged = true;
  }
  draft.headers.push(name, value);
  return undefined;
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
  readonly dropLength: boolean;
  readonly dropCoding: boolean;
}

/** @returns the framing, or why there is none */
function judgeFraming(status: number, draft: Draft): Framing | string {
  collectFraming(draft);
  const { lengths, codings } = draft;
  const bodiless = status === 204 || status === 304;
  if (bodiless) {
    const dropLength = lengths.length > 0;
    return { contentLength: undefined, dropLength, dropCoding: codings.length > 0 };
  }
  if (codings.length > 0) {
    // No coding was asked for (no TE was sent), so chunked is all there may be; `identity` is what RFC 2616 called none.
    const coding = codings.length === 1 ? codings[0] : codings.join(', ');
    if (coding !== 'chunked' && coding !== 'identity') return `transfer coding ${coding}`;
    if (coding === 'chunked') {
      return { contentLength: undefined, dropLength: lengths.length > 0, dropCoding: false };
    }
  }
  const length = lengths[0];
  const none: Framing = { contentLength: undefined, dropLength: false, dropCoding: false };
  if (length === undefined) return none;
  if (!DIGITS.test(length)) return `content length ${JSON.stringify(length)}`;
  if (lengths.some((other) => other !== length)) return 'content lengths that differ';
  const repeated = lengths.length > 1;
  return { contentLength: Number(length), dropLength: repeated, dropCoding: codings.length > 0 };
}

function collectFraming(draft: Draft): void {
  const { headers } = draft;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const candidate = name.length === 14 || name.length === 17 ? name.toLowerCase() : '';
    if (candidate !== 'content-length' && candidate !== 'transfer-encoding') continue;
    const parts = (headers[index + 1] as string).split(',').map((part) => part.trim());
    if (candidate === 'content-length') draft.lengths.push(...parts);
    else draft.codings.push(...parts.map((part) => part.toLowerCase()));
  }
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
