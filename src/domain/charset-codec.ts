// Bytes to text and text to bytes in a page's encoding, for slices (step 11): an attribute value, a title, the query of a link. The
// page as a whole is never decoded, save for the three encodings in which a byte below 0x80 need not be that ASCII character.
// Decoding is the platform's TextDecoder, which follows the Encoding standard; windows-1252, x-user-defined and ISO-8859-16 are done
// here because Node 20's decoder gets the first wrong (it reads 0x80 as U+0080) and lacks the others. Encoding is iconv-lite, with
// the places where the standard's encoders differ from it corrected.
import iconv from 'iconv-lite';
import { windows1252Character } from './html-entities.ts';

/** Encodings in which the byte of `<` can stand for something else: such a page is turned into UTF-8 before it is scanned. */
export function isAsciiCompatible(encoding: string): boolean {
  return !(
    encoding.startsWith('UTF-16') ||
    encoding === 'ISO-2022-JP' ||
    encoding === 'replacement'
  );
}

const decoders = new Map<string, InstanceType<typeof TextDecoder>>();
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Decodes one slice. A byte order mark is not removed. Malformed bytes become U+FFFD; never throws.
 * @param bytes the page
 * @param start first byte of the slice
 * @param end one after its last byte
 * @param encoding a name that encodingOf answers
 */
export function decodeSlice(
  bytes: Uint8Array,
  start: number,
  end: number,
  encoding: string,
): string {
  let at = start;
  if (isAsciiCompatible(encoding)) {
    while (at < end && bytes[at]! < 0x80) at++;
    if (at === end) return asciiOf(bytes, start, end);
  }
  const slice = bytes.subarray(start, end);
  switch (encoding) {
    case 'UTF-8':
      return utf8.decode(slice);
    case 'windows-1252':
      return decodeByTable(slice, windows1252);
    case 'x-user-defined':
      return decodeByTable(slice, (byte) => String.fromCharCode(0xf700 + byte));
    case 'ISO-8859-16':
      return iconv.decode(slice, 'iso-8859-16');
    case 'replacement':
      return slice.length === 0 ? '' : '\ufffd';
    default:
      return decoderOf(encoding).decode(slice);
  }
}

/** The global Buffer makes a string of a slice in 90 ns, TextDecoder in 200, String.fromCharCode in 330 (38 bytes, Node 20). */
function asciiOf(bytes: Uint8Array, start: number, end: number): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('latin1', start, end);
}

function decoderOf(encoding: string): InstanceType<typeof TextDecoder> {
  let decoder = decoders.get(encoding);
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { ignoreBOM: true });
    decoders.set(encoding, decoder);
  }
  return decoder;
}

function windows1252(byte: number): string {
  return byte < 0xa0 ? windows1252Character(byte) : String.fromCharCode(byte);
}

function decodeByTable(slice: Uint8Array, high: (byte: number) => string): string {
  let text = '';
  for (const byte of slice) text += byte < 0x80 ? String.fromCharCode(byte) : high(byte);
  return text;
}

/** iconv-lite's names where they differ from the standard's. */
const ICONV_NAMES: Readonly<Record<string, string>> = {
  'ISO-8859-8-I': 'iso-8859-8',
  'x-mac-cyrillic': 'maccyrillic',
  'EUC-KR': 'cp949',
};

/** Bytes of the special-query percent-encode set below 0x7f. Source: URL standard §1.3. */
const QUERY_ESCAPED = new Set([0x20, 0x22, 0x23, 0x27, 0x3c, 0x3e]);

/**
 * The query of a reference with its non-ASCII characters percent-encoded in the page's encoding; a character that the encoding lacks
 * becomes `%26%23N%3B`. ASCII characters are left for the URL parser. UTF-8 and UTF-16 pages: nothing to do, the parser's own rule.
 * @param query any text, without its `?` and fragment
 * @param encoding a name that encodingOf answers
 * @returns never throws. Source: URL standard §1.3 "percent-encode after encoding" and §4.4 "query state"
 */
export function encodeQuery(query: string, encoding: string): string {
  if (usesUtf8InQueries(encoding)) return query;
  if (encoding === 'ISO-2022-JP') return encodeIso2022Jp(query);
  let encoded = '';
  for (const character of query) {
    encoded += character < '\u0080' ? character : escapeCharacter(character, encoding);
  }
  return encoded;
}

/** True when a query on a page of this encoding is encoded as UTF-8. Source: Encoding standard §4.3 "get an output encoding" */
export function usesUtf8InQueries(encoding: string): boolean {
  return encoding === 'UTF-8' || encoding === 'replacement' || encoding.startsWith('UTF-16');
}

function escapeCharacter(character: string, encoding: string): string {
  const bytes = encodeCharacter(character, encoding);
  if (bytes === undefined) return `%26%23${character.codePointAt(0)}%3B`;
  return escapeBytes(bytes);
}

function escapeBytes(bytes: Iterable<number>): string {
  let text = '';
  for (const byte of bytes) {
    const plain = byte > 0x20 && byte < 0x7f && !QUERY_ESCAPED.has(byte);
    text += plain ? String.fromCharCode(byte) : percentEncoded(byte);
  }
  return text;
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** The bytes of one non-ASCII character, or undefined when the encoding lacks it. */
function encodeCharacter(character: string, encoding: string): Uint8Array | undefined {
  if (character >= '\ud800' && character <= '\udfff' && character.length === 1) return undefined;
  if (encoding === 'x-user-defined') {
    const byte = character.charCodeAt(0) - 0xf700;
    return byte >= 0x80 && byte <= 0xff ? Uint8Array.of(byte) : undefined;
  }
  const japanese = encoding === 'Shift_JIS' || encoding === 'EUC-JP';
  if (japanese && character === '\u00a5') return Uint8Array.of(0x5c);
  if (japanese && character === '\u203e') return Uint8Array.of(0x7e);
  const source = japanese && character === '\u2212' ? '\uff0d' : character;
  const bytes = iconv.encode(source, ICONV_NAMES[encoding] ?? encoding);
  if (bytes.length === 0 || bytes[0] === 0x3f) return undefined;
  // The standard's Big5 encoder leaves out the Hong Kong rows, and its EUC-JP encoder leaves out JIS X 0212 (Encoding §11.1, §12.1).
  if (encoding === 'Big5' && bytes[0]! < 0xa1) return undefined;
  if (encoding === 'EUC-JP' && bytes[0] === 0x8f) return undefined;
  return bytes;
}

const TO_ASCII = [0x1b, 0x28, 0x42];
const TO_ROMAN = [0x1b, 0x28, 0x4a];
const TO_JIS0208 = [0x1b, 0x24, 0x42];
const HALF_WIDTH_KATAKANA =
  '。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜';

/** Source: Encoding standard §12.2.2. The character set is switched by escape sequences, and ends as ASCII. */
function encodeIso2022Jp(query: string): string {
  let text = '';
  let state = TO_ASCII;
  const enter = (next: number[]) => {
    if (state !== next) text += escapeBytes(next);
    state = next;
  };
  for (const character of query) {
    if (character < '\u0080') {
      if (state !== TO_ROMAN || character === '\\' || character === '~') enter(TO_ASCII);
      text += character;
    } else if (character === '\u00a5' || character === '\u203e') {
      enter(TO_ROMAN);
      text += character === '\u00a5' ? '\\' : '~';
    } else {
      const jis = jis0208Of(character);
      enter(jis === undefined ? TO_ASCII : TO_JIS0208);
      text += jis === undefined ? `%26%23${character.codePointAt(0)}%3B` : escapeBytes(jis);
    }
  }
  enter(TO_ASCII);
  return text;
}

/** The two seven-bit bytes of a JIS X 0208 character: its EUC-JP bytes without their high bits. */
function jis0208Of(character: string): Uint8Array | undefined {
  const wide = HALF_WIDTH_KATAKANA[character.charCodeAt(0) - 0xff61] ?? character;
  const bytes = encodeCharacter(wide, 'EUC-JP');
  if (bytes?.length !== 2 || bytes[0]! < 0xa1) return undefined;
  return Uint8Array.of(bytes[0]! & 0x7f, bytes[1]! & 0x7f);
}
