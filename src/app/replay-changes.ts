// What a replay changed against an earlier one (step 11, DESIGN.md §9): `replay --out FILE`, mend the parser, `replay --against FILE`. The earlier
// output is read once for where each page's line lies; lines are read again one by one, so memory is some hundred bytes a page.

import { closeSync, existsSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { CrawlError } from '../base/errors.ts';
import { readFully } from '../storage/files.ts';
import { LineFile } from '../storage/line-file.ts';
import type { ReplayedPage } from './replay-pages.ts';

/** How one page differs; absent fields do not. */
export interface PageChanges {
  readonly linksAdded?: readonly string[];
  readonly linksRemoved?: readonly string[];
  /** Other facts, before and after: outcome, title, canonical, noindex, nofollow, charset, simhash. */
  readonly facts?: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/** Facts of a page that are compared besides its links. */
const FACTS = [
  'title',
  'canonical',
  'noindex',
  'nofollow',
  'charset',
  'refresh',
  'simhash',
] as const;

type FactName = (typeof FACTS)[number];

/** A line of `--out`, of this version or an earlier one. */
interface EarlierPage {
  readonly url?: string;
  readonly rendered?: boolean;
  readonly outcome?: string;
  readonly page?: Partial<Record<FactName, unknown>> & { readonly links?: readonly EarlierLink[] };
}

interface EarlierLink {
  readonly url: string;
  readonly nofollow?: boolean;
}

/** The output of an earlier replay. The caller closes it. */
export class EarlierReplay {
  readonly #path: string;
  readonly #fd: number;
  /** Where each page's line lies, in bytes. */
  readonly #lines = new Map<string, { readonly at: number; readonly bytes: number }>();

  /** @throws CrawlError usage when the file is not there or is no output of `replay` */
  constructor(path: string) {
    if (!existsSync(path)) throw notOutput(path, 'is not there');
    this.#path = path;
    let at = 0;
    for (const line of LineFile.linesFrom(path, '')) {
      const { url, rendered } = this.#parse(Buffer.from(line, 'latin1'));
      if (url === undefined) throw notOutput(path, 'is no output of replay');
      this.#lines.set(lineName(url, rendered), { at, bytes: line.length });
      at += line.length + 1;
    }
    this.#fd = openSync(path, 'r');
  }

  /** @returns undefined when nothing changed, or the earlier replay did not have the page */
  changesOf(page: ReplayedPage): PageChanges | undefined {
    const line = this.#lines.get(lineName(page.url, page.rendered));
    if (line === undefined) return undefined;
    const bytes = Buffer.alloc(line.bytes);
    readFully(this.#fd, bytes, line.at);
    return changesBetween(this.#parse(bytes), JSON.parse(JSON.stringify(page)) as EarlierPage);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #parse(line: Buffer): EarlierPage {
    try {
      return (JSON.parse(line.toString('utf8')) ?? {}) as EarlierPage;
    } catch {
      throw notOutput(this.#path, 'is no output of replay');
    }
  }
}

/** A page and the document that a browser made of it have one URL. */
function lineName(url: string, rendered: boolean | undefined): string {
  return rendered === true ? `${url} rendered` : url;
}

function changesBetween(before: EarlierPage, after: EarlierPage): PageChanges | undefined {
  const facts: Record<string, readonly [unknown, unknown]> = {};
  if (before.outcome !== after.outcome) facts.outcome = [before.outcome, after.outcome];
  for (const name of FACTS) {
    const [was, is] = [before.page?.[name], after.page?.[name]];
    if (!isDeepStrictEqual(was, is)) facts[name] = [was ?? null, is ?? null];
  }
  const [had, has] = [linksOf(before), linksOf(after)];
  const linksAdded = [...has].filter((link) => !had.has(link));
  const linksRemoved = [...had].filter((link) => !has.has(link));
  const changes = {
    ...(linksAdded.length === 0 ? {} : { linksAdded }),
    ...(linksRemoved.length === 0 ? {} : { linksRemoved }),
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Links that are followed; one that turned nofollow is one less. */
function linksOf({ page }: EarlierPage): Set<string> {
  const links = page?.links ?? [];
  return new Set(links.filter(({ nofollow }) => nofollow !== true).map(({ url }) => url));
}

function notOutput(path: string, what: string): CrawlError {
  return new CrawlError('usage', `replay: --against ${path} ${what}`, {
    remedy: 'Name a file that node cluster.js replay --out has written.',
  });
}
