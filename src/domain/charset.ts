// Which encoding a page is in (step 11): byte order mark, then the charset of Content-Type, then a meta element within the first
// 1,024 bytes, then an XML declaration, then the default; the order of the HTML standard, so that a link's bytes are read as a
// browser reads them. The answer is an encoding's name from charset-labels.ts. Bounded: nothing past the first 1,024 bytes is read.
import { encodingOf } from './charset-labels.ts';
import { prescanMeta, prescanXmlDeclaration } from './charset-prescan.ts';

/** What the answer rests on. Only `default` may be changed by a meta element that comes later in the page. */
export type CharsetSource = 'bom' | 'header' | 'meta' | 'xml-declaration' | 'default';

export interface DetectedCharset {
  /** An encoding's name under the Encoding standard, for example `UTF-8`, `windows-1252`, `Shift_JIS`. */
  readonly encoding: string;
  readonly source: CharsetSource;
  /** Bytes of the byte order mark to leave out, 0, 2 or 3. */
  readonly bomBytes: number;
}

/**
 * The encoding of a page. Never throws.
 * @param bytes the decoded body (after Content-Encoding)
 * @param options.header the charset parameter of Content-Type, when there was one; an unknown label counts as none
 * @param options.xml true for XML types, whose default is UTF-8 and in which a meta element means nothing
 * @returns Source: HTML standard §13.2.3.2 "determining the character encoding"; windows-1252 by default, as there for most locales
 */
export function detectCharset(
  bytes: Uint8Array,
  options: { readonly header?: string | undefined; readonly xml?: boolean } = {},
): DetectedCharset {
  const mark = byteOrderMark(bytes);
  if (mark !== undefined) return mark;
  const header = options.header === undefined ? undefined : encodingOf(options.header);
  if (header !== undefined) return { encoding: header, source: 'header', bomBytes: 0 };
  const wide = utf16Declaration(bytes);
  if (wide !== undefined) return { encoding: wide, source: 'xml-declaration', bomBytes: 0 };
  const meta = options.xml === true ? undefined : prescanMeta(bytes);
  if (meta !== undefined) return { encoding: meta, source: 'meta', bomBytes: 0 };
  const declared = prescanXmlDeclaration(bytes);
  if (declared !== undefined) return { encoding: declared, source: 'xml-declaration', bomBytes: 0 };
  const fallback = options.xml === true ? 'UTF-8' : 'windows-1252';
  return { encoding: fallback, source: 'default', bomBytes: 0 };
}

/** Source: Encoding standard §6 "BOM sniff". */
function byteOrderMark(bytes: Uint8Array): DetectedCharset | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { encoding: 'UTF-8', source: 'bom', bomBytes: 3 };
  }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return { encoding: 'UTF-16BE', source: 'bom', bomBytes: 2 };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return { encoding: 'UTF-16LE', source: 'bom', bomBytes: 2 };
  }
  return undefined;
}

/** `<?x` in sixteen-bit units. Source: HTML standard §13.2.3.2 "prescan a byte stream", step 3. */
function utf16Declaration(bytes: Uint8Array): string | undefined {
  const little = [0x3c, 0, 0x3f, 0, 0x78, 0];
  const big = [0, 0x3c, 0, 0x3f, 0, 0x78];
  if (little.every((byte, index) => bytes[index] === byte)) return 'UTF-16LE';
  if (big.every((byte, index) => bytes[index] === byte)) return 'UTF-16BE';
  return undefined;
}
