// Reads the entries of RSS (0.9 to 2.0, with or without RDF) and Atom feeds (step 11) from readXml's events: an item's link and date.
// An item without a link is taken by its guid when that is a URL. The feed's own links, enclosures and images are not entries.
import type { RawEntry } from './sitemap.ts';
import { feedTimestamp } from './timestamps.ts';
import { type XmlSink, xmlAttribute } from './xml-text.ts';

const ENTRIES = new Set(['item', 'entry']);
/** Fields read as text, and what they mean. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'link',
  'guid',
  'pubdate',
  'date',
  'updated',
  'published',
  'modified',
  'issued',
]);
const FIELD_CHARACTERS_MAX = 8_193;
const DEPTH_MAX = 64;

export class FeedReader implements XmlSink {
  readonly entries: RawEntry[] = [];
  readonly #entriesMax: number;
  readonly #open: string[] = [];
  #link: string | undefined;
  #guid: string | undefined;
  #updated: string | undefined;
  #published: string | undefined;
  #field: string | undefined;
  #text = '';

  /** @param entriesMax further entries are not kept */
  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** True when no further entry would be kept. */
  get done(): boolean {
    return this.entries.length >= this.#entriesMax;
  }

  /** True while text is part of a field. */
  get wanted(): boolean {
    return this.#field !== undefined;
  }

  open(name: string, _prefix: string, attributes: string): void {
    this.#endField();
    if (ENTRIES.has(name)) this.#endEntry();
    else if (ENTRIES.has(this.#open.at(-1) ?? '')) {
      if (name === 'link' && this.#takeAtomLink(attributes)) this.#field = undefined;
      else if (TEXT_FIELDS.has(name)) this.#field = name;
      this.#text = '';
    }
    if (this.#open.length < DEPTH_MAX) this.#open.push(name);
  }

  close(name: string): void {
    this.#endField();
    const index = this.#open.lastIndexOf(name);
    if (index >= 0) this.#open.length = index;
    if (ENTRIES.has(name)) this.#endEntry();
  }

  text(text: string): void {
    if (this.#text.length < FIELD_CHARACTERS_MAX) this.#text += text.slice(0, FIELD_CHARACTERS_MAX);
  }

  /** Ends what the document left open. */
  finish(): void {
    this.#endField();
    this.#endEntry();
  }

  /** True for `<link href=…>`, which has no text; only the alternate form is the entry's page. RFC 4287 §4.2.7. */
  #takeAtomLink(attributes: string): boolean {
    const href = xmlAttribute(attributes, 'href');
    if (href === undefined) return false;
    const rel = xmlAttribute(attributes, 'rel')?.trim().toLowerCase() ?? 'alternate';
    if (rel === 'alternate') this.#link ??= href;
    return true;
  }

  #endField(): void {
    const field = this.#field;
    if (field === undefined) return;
    this.#field = undefined;
    const text = this.#text.trim();
    if (text === '') return;
    if (field === 'link') this.#link ??= text;
    else if (field === 'guid') this.#guid ??= /^https?:\/\//i.test(text) ? text : undefined;
    else if (field === 'updated' || field === 'modified') this.#updated ??= feedTimestamp(text);
    else this.#published ??= feedTimestamp(text);
  }

  #endEntry(): void {
    const loc = this.#link ?? this.#guid;
    const lastmod = this.#updated ?? this.#published;
    if (loc !== undefined && this.entries.length < this.#entriesMax) {
      this.entries.push(lastmod === undefined ? { loc } : { loc, lastmod });
    }
    this.#link = this.#guid = this.#updated = this.#published = undefined;
  }
}
