// What replay makes of the pages it parses again (DESIGN.md §9): totals, and which links today's parser finds that the crawl never took up.
// The crawl does not store what it found on each page; but a link that is allowed, in scope and no trap and is not in the seen set was
// not found when the page was parsed (or the rules were others then), which is what a mended parser is replayed for.

import type { UrlKey } from '../base/units.ts';
import type { GuardedPage } from '../parsers/guarded-entry.ts';
import type { SeenView } from '../storage/seen-view.ts';
import { LinkJudge } from './link-judgement.ts';
import type { StoredPageResult } from './parse-stored.ts';
import type { CrawlReading } from './read-crawl.ts';
import type { EarlierReplay, PageChanges } from './replay-changes.ts';
import { StoredRobots } from './stored-robots.ts';

/** Changed pages that are shown with the totals. */
const EXAMPLES_MAX = 10;

/** Totals of a replay. */
export interface ReplaySummary {
  readonly pages: number;
  readonly ok: number;
  /** Pages that failed alone, by how. */
  readonly failed: Readonly<Record<'timeout' | 'out-of-memory' | 'failed' | 'no-body', number>>;
  readonly links: number;
  readonly nofollow: number;
  readonly noindex: number;
  /** Links that the crawl would follow and never took up; a link on two pages counts twice. */
  readonly newLinks: number;
  /** Pages with such links. */
  readonly pagesWithNewLinks: number;
  /** With `--against`: what differs from the earlier replay. */
  readonly changed?: {
    readonly pages: number;
    readonly linksAdded: number;
    readonly linksRemoved: number;
    /** The first of the changed pages. */
    readonly examples: readonly ({ readonly url: string } & PageChanges)[];
  };
}

/** One page as `--out` has it. */
export type ReplayedPage = {
  readonly changes?: PageChanges;
  /** True for the document that a browser made of the page. */
  readonly rendered?: true;
} & (
  | ({ readonly url: string; readonly outcome: 'ok'; readonly newLinks: readonly string[] } & {
      readonly page: GuardedPage;
    })
  | { readonly url: string; readonly outcome: string; readonly error?: string }
);

/** Adds results up. */
export class ReplayTally {
  readonly #judge: LinkJudge;
  readonly #robots: StoredRobots;
  readonly #seen: SeenView;
  readonly #keyOf: (canonical: string) => UrlKey;
  readonly #maxDepth: number;
  readonly #earlier: EarlierReplay | undefined;
  readonly #changed = { pages: 0, linksAdded: 0, linksRemoved: 0 };
  readonly #examples: ({ readonly url: string } & PageChanges)[] = [];
  /** Pages whose links are on their way yet. */
  readonly #unparsed: ReadonlySet<UrlKey>;
  readonly #failed = { timeout: 0, 'out-of-memory': 0, failed: 0, 'no-body': 0 };
  readonly #sums = { ok: 0, links: 0, nofollow: 0, noindex: 0, newLinks: 0, pagesWithNewLinks: 0 };

  /** @param seen stays the caller's to close */
  constructor(reading: CrawlReading, seen: SeenView, year: number, earlier?: EarlierReplay) {
    this.#earlier = earlier;
    this.#judge = new LinkJudge(reading, year);
    this.#robots = new StoredRobots(reading);
    this.#seen = seen;
    this.#keyOf = (canonical) => reading.hasher.urlKey(canonical);
    this.#unparsed = reading.store.unparsedKeys();
    this.#maxDepth = reading.config.maxDepth ?? Number.POSITIVE_INFINITY;
  }

  /** Takes one result in. @returns it as `--out` has it */
  add(result: StoredPageResult): ReplayedPage {
    const counted = this.#count(result);
    const isRendered = result.page.row.render !== undefined;
    const replayed: ReplayedPage = isRendered ? { ...counted, rendered: true } : counted;
    const changes = this.#earlier?.changesOf(replayed);
    if (changes === undefined) return replayed;
    this.#changed.pages += 1;
    this.#changed.linksAdded += changes.linksAdded?.length ?? 0;
    this.#changed.linksRemoved += changes.linksRemoved?.length ?? 0;
    if (this.#examples.length < EXAMPLES_MAX)
      this.#examples.push({ url: replayed.url, ...changes });
    return { ...replayed, changes };
  }

  #count({ page, outcome }: StoredPageResult): ReplayedPage {
    const { url, depth } = page.row;
    if (outcome.kind !== 'ok') {
      this.#failed[outcome.kind] += 1;
      const error = outcome.kind === 'failed' ? { error: outcome.error } : {};
      return { url, outcome: outcome.kind, ...error };
    }
    const parsed = outcome.value;
    const followed = parsed.links.filter(({ nofollow }) => nofollow !== true);
    const isSettled = depth < this.#maxDepth && !this.#unparsed.has(page.urlKey);
    const newLinks = !isSettled ? [] : followed.map((link) => link.url).filter(this.#isNew);
    this.#sums.ok += 1;
    this.#sums.links += parsed.links.length;
    this.#sums.nofollow += parsed.links.length - followed.length;
    this.#sums.noindex += parsed.noindex ? 1 : 0;
    this.#sums.newLinks += newLinks.length;
    this.#sums.pagesWithNewLinks += newLinks.length > 0 ? 1 : 0;
    return { url, outcome: 'ok', newLinks, page: parsed };
  }

  summary(): ReplaySummary {
    const failed = { ...this.#failed };
    const failures = failed.timeout + failed['out-of-memory'] + failed.failed + failed['no-body'];
    const changed = { ...this.#changed, examples: this.#examples };
    return {
      ...{ pages: this.#sums.ok + failures, failed, ...this.#sums },
      ...(this.#earlier === undefined ? {} : { changed }),
    };
  }

  readonly #isNew = (url: string): boolean => {
    const judged = this.#judge.judge(url);
    if (judged.kind === 'rejected' || judged.outside !== undefined) return false;
    if (judged.trap?.isCertain === true) return false;
    if (this.#seen.has(this.#keyOf(judged.canonical))) return false;
    return this.#robots.verdict(judged.request)?.allowed !== false;
  };
}
