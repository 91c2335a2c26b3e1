// A tolerant, linear reader of XML for sitemaps and feeds (step 11): it reports start tags, end tags and text, never fails, and knows
// nothing of validity. Namespace prefixes are cut off, since sitemaps in the wild declare them wrongly or not at all; entities that a
// document declares itself are never expanded, so there is nothing to blow up and nothing to fetch.
import { namedCharacter, numericReference } from './html-entities.ts';

/** Takes what the reader finds. Names are lower case and without their prefix. */
export interface XmlSink {
  /** True when the rest of the document need not be read; asked before each piece of it. */
  readonly done: boolean;
  /** @param attributes the raw text between name and `>`, for xmlAttribute */
  open(name: string, prefix: string, attributes: string): void;
  close(name: string): void;
  /** Text or CDATA, entities decoded; one run of text may come in several pieces. */
  text(text: string): void;
}

/** A name or a list of attributes longer than this is cut: no sitemap has one, and each tag stays cheap. */
const TAG_CHARACTERS_MAX = 8_192;

/**
 * Reads a document. Linear in its length; never throws, unless the sink does.
 * @param xml the decoded document
 * @param sink `text` is called only while `wanted` answers true
 * @param wanted asked before text is decoded, so that text nobody needs costs nothing
 */
export function readXml(xml: string, sink: XmlSink, wanted: () => boolean): void {
  let at = 0;
  while (at < xml.length && !sink.done) {
    const tag = xml.indexOf('<', at);
    const end = tag < 0 ? xml.length : tag;
    if (end > at && wanted()) sink.text(decodeXml(xml.slice(at, end)));
    if (tag < 0) return;
    at = readMarkup(xml, tag, sink, wanted);
  }
}

function readMarkup(xml: string, tag: number, sink: XmlSink, wanted: () => boolean): number {
  if (xml.startsWith('<!--', tag)) return after(xml, '-->', tag + 4);
  if (xml.startsWith('<![CDATA[', tag)) {
    const close = xml.indexOf(']]>', tag + 9);
    const end = close < 0 ? xml.length : close;
    if (wanted()) sink.text(xml.slice(tag + 9, end));
    return Math.min(end + 3, xml.length);
  }
  if (xml[tag + 1] === '?') return after(xml, '?>', tag + 2);
  if (xml[tag + 1] === '!') return endOfDoctype(xml, tag + 2);
  return readTag(xml, tag, sink);
}

function readTag(xml: string, tag: number, sink: XmlSink): number {
  const end = endOfTag(xml, tag + 1);
  const closing = xml[tag + 1] === '/';
  const inside = xml.slice(
    closing ? tag + 2 : tag + 1,
    Math.min(end - 1, tag + TAG_CHARACTERS_MAX),
  );
  const nameEnd = inside.search(/[\s/]/);
  const full = (nameEnd < 0 ? inside : inside.slice(0, nameEnd)).toLowerCase();
  const colon = full.indexOf(':');
  const name = full.slice(colon + 1);
  if (closing) sink.close(name);
  else {
    sink.open(name, full.slice(0, Math.max(0, colon)), nameEnd < 0 ? '' : inside.slice(nameEnd));
    if (xml[end - 2] === '/') sink.close(name);
  }
  return end;
}

/** After the `>` of a tag; one within a quoted value does not end it. */
function endOfTag(xml: string, start: number): number {
  let quote = '';
  for (let at = start; at < xml.length; at++) {
    const character = xml[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') return at + 1;
    else if (character === '"' || character === "'") quote = character;
  }
  return xml.length + 1;
}

/** A doctype may hold declarations in square brackets, with `>` in them. */
function endOfDoctype(xml: string, start: number): number {
  let depth = 0;
  for (let at = start; at < xml.length; at++) {
    const character = xml[at]!;
    if (character === '[') depth++;
    else if (character === ']') depth--;
    else if (character === '>' && depth <= 0) return at + 1;
  }
  return xml.length;
}

function after(xml: string, mark: string, start: number): number {
  const found = xml.indexOf(mark, start);
  return found < 0 ? xml.length : found + mark.length;
}

/**
 * Decodes the entities of XML text. Known names (those of XML and, since feeds use them, of HTML) and numbers are replaced; an unknown
 * name with its semicolon is dropped, as an unresolved entity; a bare `&` stays. Never throws; linear.
 */
export function decodeXml(text: string): string {
  if (!text.includes('&')) return text;
  let decoded = '';
  let at = 0;
  for (let found = text.indexOf('&'); found >= 0; found = text.indexOf('&', at)) {
    decoded += text.slice(at, found);
    const semicolon = text.slice(found + 1, found + 34).indexOf(';');
    const name = semicolon < 0 ? '' : text.slice(found + 1, found + 1 + semicolon);
    const number = name.startsWith('#') ? numericReference(text, found + 2) : undefined;
    if (number !== undefined) {
      decoded += number.text;
      at = number.end;
    } else if (/^[A-Za-z_][\w.-]*$/.test(name)) {
      decoded += namedCharacter(name) ?? '';
      at = found + name.length + 2;
    } else {
      decoded += '&';
      at = found + 1;
    }
  }
  return decoded + text.slice(at);
}

/**
 * The value of one attribute of a tag, decoded.
 * @param attributes as `open` gave them
 * @param name lower case, without a prefix
 */
export function xmlAttribute(attributes: string, name: string): string | undefined {
  const pattern = /([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;
  for (const match of attributes.matchAll(pattern)) {
    if (match[1]!.toLowerCase().replace(/^.*:/, '') !== name) continue;
    return decodeXml(match[2] ?? match[3] ?? match[4] ?? '');
  }
  return undefined;
}
