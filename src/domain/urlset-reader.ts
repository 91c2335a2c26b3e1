// Reads the entries of an XML sitemap or sitemap index (step 11) from readXml's events. A location counts when it stands directly in a
// url or sitemap element: those of images and videos inside it are other things. An element that is never closed ends where its
// sibling begins, and several locations in one entry are several entries, since sitemaps in the wild have both.
import type { RawEntry } from './sitemap.ts';
import { w3cTimestamp } from './timestamps.ts';
import type { XmlSink } from './xml-text.ts';

const ENTRIES = new Set(['url', 'sitemap']);
const FIELDS = new Set(['loc', 'lastmod', 'changefreq', 'priority']);
const FREQUENCIES = new Set(['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never']);
/** Characters of one field. */
const FIELD_CHARACTERS_MAX = 8_193;
/** Open elements remembered; deeper ones are counted as their parents. */
const DEPTH_MAX = 64;

export class UrlsetReader implements XmlSink {
  readonly entries: RawEntry[] = [];
  readonly #entriesMax: number;
  readonly #open: string[] = [];
  #entry: Partial<RawEntry> = {};
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

  open(name: string): void {
    this.#endField();
    if (ENTRIES.has(name) && !this.#open.some((open) => !ENTRIES.has(open))) {
      this.#endEntry();
      this.#open.length = 0;
    } else if (FIELDS.has(name) && this.#open.length === 1 && ENTRIES.has(this.#open[0]!)) {
      this.#field = name;
      this.#text = '';
    }
    if (this.#open.length < DEPTH_MAX) this.#open.push(name);
  }

  close(name: string): void {
    this.#endField();
    const index = this.#open.lastIndexOf(name);
    if (index < 0) return;
    this.#open.length = index;
    if (index === 0 && ENTRIES.has(name)) this.#endEntry();
  }

  text(text: string): void {
    if (this.#text.length < FIELD_CHARACTERS_MAX) this.#text += text.slice(0, FIELD_CHARACTERS_MAX);
  }

  /** Ends what the document left open. */
  finish(): void {
    this.#endField();
    this.#endEntry();
  }

  #endField(): void {
    const field = this.#field;
    if (field === undefined) return;
    this.#field = undefined;
    if (this.#open.at(-1) === field) this.#open.pop();
    const text = this.#text.trim();
    if (field === 'loc') {
      if (text === '') return;
      if (this.#entry.loc !== undefined) this.#endEntry();
      this.#entry.loc = text;
    } else if (field === 'lastmod') {
      const lastmod = w3cTimestamp(text);
      if (lastmod !== undefined) this.#entry.lastmod = lastmod;
    } else if (field === 'changefreq') {
      if (FREQUENCIES.has(text.toLowerCase())) this.#entry.changefreq = text.toLowerCase();
    } else if (/^(?:0(?:\.\d*)?|1(?:\.0*)?|\.\d+)$/.test(text)) this.#entry.priority = Number(text);
  }

  #endEntry(): void {
    const { loc } = this.#entry;
    if (loc !== undefined && this.entries.length < this.#entriesMax) {
      this.entries.push({ ...this.#entry, loc });
    }
    this.#entry = {};
  }
}
