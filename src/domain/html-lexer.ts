// Where the parts of a page's markup end, over its bytes (step 11): comments, CDATA sections, raw text elements, scripts. These are
// the tokenizer states of the HTML standard in which no tag begins; each function runs forward once from its start and answers the
// position at which the data state resumes. Nothing here allocates. A part that is never closed ends with the page.

/**
 * The next `<` at or after `start`, or `end`. Short gaps are walked; long ones are left to the engine's own search.
 */
export function nextLessThan(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(start + WALKED_BYTES, end);
  for (let at = start; at < near; at++) if (bytes[at] === LESS_THAN) return at;
  if (near === end) return end;
  const found = bytes.indexOf(LESS_THAN, near);
  return found < 0 || found > end ? end : found;
}

/** Calling indexOf costs as much as walking about this many bytes (bench/link-scanner.bench.ts). */
const WALKED_BYTES = 48;
const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const DASH = 0x2d;

/** The position after the next `>`, which ends bogus comments, processing instructions and doctypes. HTML standard §13.2.5.41. */
export function endOfBogusComment(bytes: Uint8Array, start: number, end: number): number {
  const close = bytes.indexOf(GREATER_THAN, start);
  return close < 0 ? end : close + 1;
}

/**
 * The position after a comment. Source: HTML standard §13.2.5.43 to §13.2.5.52: `-->`, `--!>`, and `>` or `->` at its very start.
 * @param start the position after `<!--`
 * @param xml true when only `-->` closes, as in XML
 */
export function endOfComment(bytes: Uint8Array, start: number, end: number, xml = false): number {
  if (!xml && bytes[start] === GREATER_THAN) return start + 1;
  if (!xml && bytes[start] === DASH && bytes[start + 1] === GREATER_THAN) return start + 2;
  for (let close = bytes.indexOf(GREATER_THAN, start); close >= 0; ) {
    const dashes = !xml && bytes[close - 1] === 0x21 ? close - 3 : close - 2;
    const dashed = bytes[dashes] === DASH && bytes[dashes + 1] === DASH;
    if (dashes >= start && dashed) return close + 1;
    close = bytes.indexOf(GREATER_THAN, close + 1);
  }
  return end;
}

/** The position after `]]>`. @param start the position after `<![CDATA[`. HTML standard §13.2.5.69. */
export function endOfCdata(bytes: Uint8Array, start: number, end: number): number {
  for (let close = bytes.indexOf(GREATER_THAN, start + 2); close >= 0; ) {
    if (bytes[close - 1] === 0x5d && bytes[close - 2] === 0x5d) return close + 1;
    close = bytes.indexOf(GREATER_THAN, close + 1);
  }
  return end;
}

/** The position after an XML processing instruction. @param start the position after `<?`. XML 1.0 §2.6. */
export function endOfInstruction(bytes: Uint8Array, start: number, end: number): number {
  for (let close = bytes.indexOf(GREATER_THAN, start); close >= 0; ) {
    if (bytes[close - 1] === 0x3f && close > start) return close + 1;
    close = bytes.indexOf(GREATER_THAN, close + 1);
  }
  return end;
}

/** True when `<![CDATA[` stands at `at` (the position of its `<`). Case-sensitive, HTML standard §13.2.5.42. */
export function isCdataStart(bytes: Uint8Array, at: number): boolean {
  return matchesExactly(bytes, at + 2, CDATA);
}

const CDATA = Uint8Array.from('[CDATA[', (character) => character.charCodeAt(0));

function matchesExactly(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[at + index] !== expected[index]) return false;
  }
  return true;
}

/**
 * True when the bytes from `at` are `name` in any case, followed by a blank, `/` or `>`: an "appropriate end tag", or the start of a
 * script within a script. @param name in lower case
 */
export function isTagNamed(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index++) {
    const byte = bytes[at + index]!;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
    if (lower !== name[index]) return false;
  }
  return endsName(bytes[at + name.length]!);
}

/** True for the bytes that end a tag's name. HTML standard §13.2.5.8. */
export function endsName(byte: number): boolean {
  return byte === GREATER_THAN || byte === 0x2f || isBlank(byte);
}

/** Tab, line feed, form feed, carriage return (which the standard has turned into a line feed), space. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x09 || byte === 0x0d || byte === 0x0c;
}

/**
 * The position of the `<` of the end tag that closes a raw text or RCDATA element, or `end`.
 * @param start the position after the start tag
 * @param name of the element, lower case. HTML standard §13.2.5.2 and following
 */
export function endOfRawText(
  bytes: Uint8Array,
  start: number,
  end: number,
  name: Uint8Array,
): number {
  for (let at = nextLessThan(bytes, start, end); at < end; ) {
    if (bytes[at + 1] === 0x2f && isTagNamed(bytes, at + 2, name)) return at;
    at = nextLessThan(bytes, at + 1, end);
  }
  return end;
}

/** The name of the script element, as endOfRawText takes it. */
export const SCRIPT = Uint8Array.from('script', (character) => character.charCodeAt(0));

/**
 * The position of the `<` of the end tag that closes a script, or `end`. Within `<!--`, a `<script` opens a second level that
 * `</script` closes first. @param start the position after the start tag. HTML standard §13.2.5.4 and §13.2.5.15 to §13.2.5.31
 */
export function endOfScript(bytes: Uint8Array, start: number, end: number): number {
  for (let at = nextLessThan(bytes, start, end); at < end; ) {
    if (bytes[at + 1] === 0x2f && isTagNamed(bytes, at + 2, SCRIPT)) return at;
    let next = at + 1;
    if (isCommentStart(bytes, at)) {
      next = endOfEscape(bytes, at + 4, end);
      if (next >= end || bytes[next] === LESS_THAN) return next;
    }
    at = nextLessThan(bytes, next, end);
  }
  return end;
}

function isCommentStart(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === 0x21 && bytes[at + 2] === DASH && bytes[at + 3] === DASH;
}

/** After `<!--` in a script: the position after `-->`, or that of the `<` of the closing end tag, or `end`. */
function endOfEscape(bytes: Uint8Array, start: number, end: number): number {
  let dashes = 2;
  let doubled = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === GREATER_THAN && dashes >= 2) return at + 1;
    dashes = byte === DASH ? dashes + 1 : 0;
    if (byte !== LESS_THAN) continue;
    if (bytes[at + 1] === 0x2f) {
      if (!isTagNamed(bytes, at + 2, SCRIPT)) continue;
      if (!doubled) return at;
      doubled = false;
      at += SCRIPT.length + 1;
    } else if (!doubled && isTagNamed(bytes, at + 1, SCRIPT)) {
      doubled = true;
      at += SCRIPT.length;
    }
  }
  return end;
}
