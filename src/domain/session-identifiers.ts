// Session identifiers in URLs: a trap defence of its own at step 1 (DESIGN.md §1 and §4, traps). A server that writes a visitor's session
// into its links shows the same page under ever new URLs. Stripping the identifier from the identity (never from the URL that is
// requested) makes them one page again. It is no part of the stated canonical policy, so it is a separate step that callers switch on.
// Only a known name with a value of a known shape counts: `NewsID`, `side`, `sid=xyz` or a 33-character `jsessionid` are real keys.
// Invariant: idempotent; linear time (every look at a value is bounded by the value).

/** Shapes of values: how many characters, and whether a routing suffix (`.node1`, `!123`) may follow. */
interface ValueShape {
  readonly lengthMin: number;
  readonly lengthMax: number;
  readonly route: boolean;
}

const EXACTLY_32: ValueShape = { lengthMin: 32, lengthMax: 32, route: false };
const JSESSIONID: ValueShape = { lengthMin: 32, lengthMax: 32, route: true };

/**
 * Names in lower case. `jsessionid`: 32 characters (Servlet 6.0 §7.1.3 names it; Tomcat mints 32 and may add a route; Heritrix strips
 * exactly 32). `phpsessid`: 22 to 256 (PHP session.sid_length). `sid` of phpBB, `oscsid`, `zenid`: 32 hexadecimal digits of MD5, older and
 * newer shops 26. The general names need 16 characters, which no hand-written value has.
 */
const SHAPES: ReadonlyMap<string, ValueShape> = new Map<string, ValueShape>([
  ['jsessionid', JSESSIONID],
  ['phpsessid', { lengthMin: 22, lengthMax: 256, route: false }],
  ['sid', EXACTLY_32],
  ['oscsid', { lengthMin: 26, lengthMax: 64, route: false }],
  ['zenid', { lengthMin: 26, lengthMax: 64, route: false }],
  ['sessid', { lengthMin: 16, lengthMax: 256, route: false }],
  ['sessionid', { lengthMin: 16, lengthMax: 256, route: false }],
  ['_sessionid', { lengthMin: 16, lengthMax: 256, route: false }],
  ['session_id', { lengthMin: 16, lengthMax: 256, route: false }],
  ['bv_sessionid', { lengthMin: 16, lengthMax: 256, route: false }],
]);

/** ASP: `ASPSESSIONID` and eight letters name the cookie, 24 letters are its value. */
const ASP_NAME = 'aspsessionid';
/** Every name that `isSessionParameter` may find, in lower case; a final `*` stands for any ending. */
export const SESSION_NAMES: readonly string[] = [
  ...SHAPES.keys(),
  'cfid',
  'cftoken',
  `${ASP_NAME}*`,
];
const PATH_PARAMETER = ';jsessionid=';

function isAlphanumeric(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a && code < 0x80);
}

/** Length of the run of letters and digits at `from`, at most `end - from`. */
function runLength(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isAlphanumeric(text.charCodeAt(at))) at += 1;
  return at - from;
}

/** Says whether the characters from `from` to `end` are an identifier of a shape. */
function fits(text: string, from: number, end: number, shape: ValueShape): boolean {
  const run = runLength(text, from, end);
  if (run < shape.lengthMin || run > shape.lengthMax) return false;
  if (from + run === end) return true;
  const next = text.charCodeAt(from + run);
  return shape.route && (next === 0x2e || next === 0x21);
}

/**
 * Says whether a query parameter carries a session identifier.
 *
 * @param name name of the parameter with its escapes normalised, any case
 * @param value the text after `=`; empty when there is none
 */
export function isSessionParameter(name: string, value: string): boolean {
  // ColdFusion: CFID is a number and CFTOKEN a number or a UUID; the two names mean nothing else.
  const lower = name.toLowerCase();
  if (lower === 'cfid' || lower === 'cftoken') return value.length > 0;
  if (lower.length === ASP_NAME.length + 8 && lower.startsWith(ASP_NAME)) {
    return value.length === 24 && runLength(value, 0, 24) === 24;
  }
  const shape = SHAPES.get(lower);
  return shape !== undefined && fits(value, 0, value.length, shape);
}

/**
 * Removes `;jsessionid=…` where the servlet container puts it: at the end of a path, or of the last value of a query.
 *
 * @param text a path or one query parameter
 * @returns the same string object when there is none
 */
export function stripSessionSuffix(text: string): string {
  let end = text.length;
  while (true) {
    const semicolon = text.lastIndexOf(';', end - 1);
    const valueAt = semicolon + PATH_PARAMETER.length;
    const isSuffix =
      semicolon !== -1 &&
      end > 0 &&
      text.slice(semicolon, valueAt).toLowerCase() === PATH_PARAMETER &&
      fits(text, valueAt, end, JSESSIONID);
    if (!isSuffix) return end === text.length ? text : text.slice(0, end);
    end = semicolon;
  }
}

/**
 * Removes the cookieless session of ASP.NET: path segments `(S(24 characters))` or `(24 characters)`, which
 * `<sessionState cookieless>` writes below the application's root.
 *
 * @param path a path that starts with `/`
 * @returns the same string object when there is none
 */
export function stripSessionSegments(path: string): string {
  const open = path.indexOf('/(');
  if (open === -1) return path;
  const segments = path.split('/');
  // The last segment is the page itself and stays.
  const last = segments.length - 1;
  const kept = segments.filter((segment, at) => at === last || !isSessionSegment(segment));
  const result = kept.join('/');
  return result.length === path.length ? path : result;
}

function isSessionSegment(segment: string): boolean {
  const length = segment.length;
  if (segment.charCodeAt(0) !== 0x28 || segment.charCodeAt(length - 1) !== 0x29) return false;
  const nested = segment.charCodeAt(2) === 0x28 && segment.charCodeAt(length - 2) === 0x29;
  const from = nested ? 3 : 1;
  const end = nested ? length - 2 : length - 1;
  return end - from === 24 && runLength(segment, from, end) === 24;
}
