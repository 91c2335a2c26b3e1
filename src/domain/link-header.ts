// The Link header (step 11): links of a page that stand in its HTTP response, of use above all for files that are not HTML.

export interface HeaderLink {
  /** Between the angle brackets, unresolved. */
  readonly reference: string;
  /** The rel parameter in lower case; empty when there is none. */
  readonly rel: string;
}

/** Characters of one header that are read, and links kept of it. */
const HEADER_CHARACTERS_MAX = 16_384;
const LINKS_MAX = 100;

/**
 * Reads one Link header, which may hold several links. Never throws; linear; what is malformed is passed over.
 * @param header its value. Source: RFC 8288 §3 and appendix B.2; a link with an `anchor` speaks of another page and is left out
 */
export function parseLinkHeader(header: string): HeaderLink[] {
  const text = header.slice(0, HEADER_CHARACTERS_MAX);
  const links: HeaderLink[] = [];
  let at = text.indexOf('<');
  while (at >= 0 && links.length < LINKS_MAX) {
    const close = text.indexOf('>', at);
    if (close < 0) break;
    const parameters = readParameters(text, close + 1);
    if (!parameters.values.has('anchor')) {
      const rel = parameters.values.get('rel') ?? '';
      links.push({ reference: text.slice(at + 1, close).trim(), rel: rel.toLowerCase() });
    }
    at = text.indexOf('<', parameters.end);
  }
  return links;
}

/** Reads `; name=value; name="value"` up to the comma that ends the link; of two with one name, the first counts. */
function readParameters(text: string, start: number): { values: Map<string, string>; end: number } {
  const values = new Map<string, string>();
  let at = start;
  while (at < text.length && text[at] !== ',') {
    if (text[at] !== ';') {
      at++;
      continue;
    }
    const nameStart = at + 1;
    at = nameStart;
    while (at < text.length && !';,='.includes(text[at]!)) at++;
    const name = text.slice(nameStart, at).trim().toLowerCase();
    let value = '';
    if (text[at] === '=') {
      const read = readValue(text, at + 1);
      value = read.value;
      at = read.end;
    }
    if (name !== '' && !values.has(name)) values.set(name, value);
  }
  return { values, end: at };
}

function readValue(text: string, start: number): { value: string; end: number } {
  let at = start;
  while (text[at] === ' ' || text[at] === '\t') at++;
  if (text[at] !== '"') {
    const from = at;
    while (at < text.length && text[at] !== ';' && text[at] !== ',') at++;
    return { value: text.slice(from, at).trim(), end: at };
  }
  let value = '';
  for (at++; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === '\\' && at + 1 < text.length) at++;
    value += text[at];
  }
  return { value, end: at + 1 };
}
