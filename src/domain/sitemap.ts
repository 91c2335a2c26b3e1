// Sitemaps (steps 11 and 12): which URLs a site lists of itself, as XML (urlset or index), plain text, RSS or Atom. What counts is the
// content, not its type or name, since both are often wrong. The reader is tolerant: namespaces are ignored, unclosed elements end
// where the next begins, a bad date or priority loses nothing but itself. Linear; bounded by LOCATIONS_MAX and SITEMAP_BYTES_MAX.
// Unpacking is the caller's part (parsers/sitemap-bytes.ts), as this layer does no I/O.
import { parseUrl } from '../base/parse-url.ts';
import { detectCharset } from './charset.ts';
import { decodeSlice } from './charset-codec.ts';
import { FeedReader } from './feed-reader.ts';
import { parseMediaType } from './media-type.ts';
import { resolveReference } from './resolve-reference.ts';
import { UrlsetReader } from './urlset-reader.ts';
import { readXml, type XmlSink } from './xml-text.ts';

/** Locations read of one sitemap. Source: sitemaps.org, "no more than 50,000 URLs". */
export const LOCATIONS_MAX = 50_000;
/** Bytes read of one sitemap, unpacked. Source: sitemaps.org, "no larger than 50 MB (52,428,800 bytes)". */
export const SITEMAP_BYTES_MAX = 52_428_800;

export interface SitemapEntry {
  /** Absolute http or https URL, fragment dropped, not canonicalised. */
  readonly loc: string;
  /** W3C date as written, or a feed's date in that form; absent when missing or malformed. */
  readonly lastmod?: string;
  readonly changefreq?: string;
  /** 0 … 1. */
  readonly priority?: number;
}

export type SitemapKind = 'urlset' | 'index' | 'text' | 'rss' | 'atom' | 'invalid';

export interface Sitemap {
  /** `index` entries are further sitemaps; the others are pages; `invalid` has none. */
  readonly kind: SitemapKind;
  readonly entries: readonly SitemapEntry[];
  /** True when a bound cut the sitemap. */
  readonly truncated: boolean;
}

/** What a reader of one XML form answers. Locations are unresolved. */
export interface RawEntry {
  loc: string;
  lastmod?: string;
  changefreq?: string;
  priority?: number;
}

/**
 * Reads a sitemap of any form. Never throws.
 * @param bytes unpacked; beyond SITEMAP_BYTES_MAX they are not read
 * @param options.url where it was found; relative locations resolve against it
 * @param options.contentType the header, for its charset only
 */
export function parseSitemap(
  bytes: Uint8Array,
  options: { readonly url: string; readonly contentType?: string | undefined },
): Sitemap {
  const cut = bytes.length > SITEMAP_BYTES_MAX ? bytes.subarray(0, SITEMAP_BYTES_MAX) : bytes;
  const header = parseMediaType(options.contentType ?? '').charset;
  const { encoding, bomBytes } = detectCharset(cut, { header, xml: true });
  const text = decodeSlice(cut, bomBytes, cut.length, encoding);
  const { kind, entries } = /^[\s\ufeff]*</.test(text) ? readMarkup(text) : readLines(text);
  return resolveEntries(kind, entries, options.url, cut.length < bytes.length);
}

/** Bytes within which the root element of a sitemap must begin. */
const ROOT_BYTES_MAX = 8_192;

/**
 * Whether a body is an XML sitemap or feed, by its root element. Never throws; looks at the first 8 KiB only.
 * @param bytes unpacked body
 * @param charset the charset parameter of Content-Type
 */
export function isXmlSitemap(bytes: Uint8Array, charset?: string): boolean {
  const head = bytes.subarray(0, ROOT_BYTES_MAX);
  const { encoding, bomBytes } = detectCharset(head, { header: charset, xml: true });
  const text = decodeSlice(head, bomBytes, head.length, encoding);
  if (!/^[\s\ufeff]*</.test(text)) return false;
  const root = new RootChooser(true);
  readXml(text, root, () => false);
  return root.kind !== 'invalid';
}

function resolveEntries(
  kind: SitemapKind,
  raw: readonly RawEntry[],
  url: string,
  cut: boolean,
): Sitemap {
  const entries: SitemapEntry[] = [];
  for (const entry of raw) {
    if (entries.length >= LOCATIONS_MAX) break;
    const loc = resolveLocation(entry.loc, url);
    if (loc !== undefined) entries.push({ ...entry, loc });
  }
  const none = kind === 'text' && entries.length === 0;
  return {
    kind: none ? 'invalid' : kind,
    entries,
    truncated: cut || raw.length > LOCATIONS_MAX,
  };
}

/** Characters of one location. As REFERENCE_BYTES_MAX for links. */
const LOCATION_CHARACTERS_MAX = 8_192;

/** Locations must be absolute; a host without its scheme and a path from the root are common mistakes whose meaning is clear. */
function resolveLocation(location: string, url: string): string | undefined {
  const trimmed = location.trim();
  if (trimmed === '' || trimmed.length > LOCATION_CHARACTERS_MAX) return undefined;
  if (/^[a-z][a-z0-9+-]*:/i.test(trimmed) || trimmed.startsWith('/')) {
    return resolveReference(trimmed, url);
  }
  const host = parseUrl(url)?.host ?? '';
  const named = /^www\./i.test(trimmed) || (host !== '' && trimmed.startsWith(`${host}/`));
  return resolveReference(named ? `http://${trimmed}` : trimmed, url);
}

function readLines(text: string): { kind: SitemapKind; entries: RawEntry[] } {
  const entries: RawEntry[] = [];
  for (const line of linesOf(text)) {
    if (!/^[\s\ufeff]*https?:\/\/\S/i.test(line)) continue;
    entries.push({ loc: line.replace('\ufeff', '') });
    if (entries.length > LOCATIONS_MAX) break;
  }
  return { kind: 'text', entries };
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed;
    yield text.slice(at, Math.min(end, at + LOCATION_CHARACTERS_MAX + 1));
    at = end + 1;
  }
}

function readMarkup(text: string): { kind: SitemapKind; entries: RawEntry[] } {
  const root = new RootChooser(false);
  readXml(text, root, () => root.wanted);
  return { kind: root.kind, entries: root.entries };
}

interface EntryReader extends XmlSink {
  readonly wanted: boolean;
  readonly entries: RawEntry[];
  finish(): void;
}

/** Chooses the reader by the root element and hands everything on to it. */
class RootChooser implements XmlSink {
  kind: SitemapKind = 'invalid';
  #reader: EntryReader | undefined;
  readonly #rootOnly: boolean;
  #rooted = false;

  /** @param rootOnly true when nothing but the root is asked for */
  constructor(rootOnly: boolean) {
    this.#rootOnly = rootOnly;
  }

  get done(): boolean {
    return this.#rooted && (this.#rootOnly || this.#reader?.done !== false);
  }

  get wanted(): boolean {
    return this.#reader?.wanted === true;
  }

  get entries(): RawEntry[] {
    this.#reader?.finish();
    return this.#reader?.entries ?? [];
  }

  open(name: string, prefix: string, attributes: string): void {
    if (!this.#rooted) this.#choose(name);
    else this.#reader?.open(name, prefix, attributes);
  }

  close(name: string): void {
    this.#reader?.close(name);
  }

  text(text: string): void {
    this.#reader?.text(text);
  }

  #choose(root: string): void {
    this.#rooted = true;
    const kinds: Readonly<Record<string, SitemapKind>> = {
      urlset: 'urlset',
      sitemapindex: 'index',
      rss: 'rss',
      rdf: 'rss',
      feed: 'atom',
    };
    this.kind = Object.hasOwn(kinds, root) ? kinds[root]! : 'invalid';
    if (this.kind === 'invalid') return;
    const feed = this.kind === 'rss' || this.kind === 'atom';
    this.#reader = feed ? new FeedReader(LOCATIONS_MAX + 1) : new UrlsetReader(LOCATIONS_MAX + 1);
  }
}
