// The Content-Type header (steps 9 to 11): its essence, which chooses the parser, and its charset parameter. Tolerant: a malformed
// header answers what can be read. Also the sniffing of HTML for answers that name no type at all.

export interface MediaType {
  /** `type/subtype`, lower case, without parameters; empty when the header has none. */
  readonly essence: string;
  /** The charset parameter as written, without its quotes. */
  readonly charset?: string;
}

/** Longer headers are cut: servers have no use for more, and every pass over it stays bounded. */
const HEADER_CHARACTERS_MAX = 1_024;

/**
 * Reads a Content-Type header. The first of several charset parameters counts. Never throws.
 * @param header its value. Source: MIME Sniffing standard §4.4 "parse a MIME type"
 */
export function parseMediaType(header: string): MediaType {
  const text = header.slice(0, HEADER_CHARACTERS_MAX);
  const semicolon = text.indexOf(';');
  const essence = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  let at = semicolon;
  while (at >= 0 && at < text.length) {
    const start = at + 1;
    let end = start;
    while (end < text.length && text[end] !== '=' && text[end] !== ';') end++;
    const name = text.slice(start, end).trim().toLowerCase();
    at = end;
    if (text[end] !== '=') continue;
    const value = readValue(text, end + 1);
    at = value.end;
    if (name === 'charset') return { essence, charset: value.text };
  }
  return { essence };
}

function readValue(text: string, start: number): { text: string; end: number } {
  let at = start;
  if (text[at] !== '"') {
    const semicolon = text.indexOf(';', at);
    const end = semicolon < 0 ? text.length : semicolon;
    return {
      text: text
        .slice(at, end)
        .trim()
        .replace(/^'(.*)'$/, '$1'),
      end,
    };
  }
  let value = '';
  for (at++; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === '\\' && at + 1 < text.length) at++;
    value += text[at];
  }
  const semicolon = text.indexOf(';', at);
  return { text: value, end: semicolon < 0 ? text.length : semicolon };
}

/** First tags that mark HTML, each to be followed by a blank or `>`. Source: MIME Sniffing standard §7.1. */
const HTML_START =
  /^[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[ >]/i;

/** How many bytes the sniffer looks at. Source: MIME Sniffing standard §5.2 "resource header". */
const SNIFF_BYTES_MAX = 1_445;

/**
 * True when a body without a Content-Type begins like HTML. Never throws.
 * @param body decoded body; only its first 1,445 bytes are read
 */
export function looksLikeHtml(body: Uint8Array): boolean {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  return HTML_START.test(String.fromCharCode(...body.subarray(start, SNIFF_BYTES_MAX)));
}
