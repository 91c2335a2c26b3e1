// Soft 404s of one host (step 5, DESIGN.md §4): one page that the host answers with whatever is asked, be it "not found" with status 200, its
// home page or a notice. A crawler could ask for a nonsense path to see it; that is a request more for every host, in the log of an owner
// who never had such a page. This table has the same evidence for nothing: pages that repeat an earlier one under addresses that have
// nothing to do with each other. Invariants: pure; at most ROWS_MAX rows of COLUMNS small integers, and none for a host without repeats; a
// verdict, once reached, is forgotten only when ROWS_MAX other pages are repeated more widely.

import { textHash, wordsHash } from './url-shape.ts';

/** Paths unlike each other that must have shown one page: three are a site's index, its print view and its home page. */
export const UNRELATED_PATHS = 4;
/** Pages that repeat something, of which a host's table remembers so many. */
const ROWS_MAX = 8;

/** Columns of a row: the page that is repeated, how many unrelated paths showed it, and the first three of these. Hashes are signed. */
const PAGE = 0;
const PATHS = 1;
const FIRST_PATH = 2;
/** Numbers in a row of `stored`. */
export const SOFT_404_COLUMNS = FIRST_PATH + UNRELATED_PATHS - 1;

export class Soft404 {
  readonly #numbers: number[];

  /** @param stored rows end on end, as `stored` gave them; undefined for none */
  constructor(stored: readonly number[] | undefined) {
    this.#numbers = stored?.slice() ?? [];
  }

  /** All rows end on end, the one that was repeated last at the end; a copy. */
  stored(): readonly number[] {
    return this.#numbers.slice();
  }

  /**
   * A page turned out to repeat another.
   * @param url of the page
   * @param repeated as `repeatedPage` or `repeatedText` gave it
   * @returns whether the page is a soft 404
   */
  seen(url: string, repeated: number): boolean {
    const row = this.#take(repeated);
    const paths = row[PATHS] as number;
    if (paths < UNRELATED_PATHS) {
      const path = wordsHash(url) | 0;
      if (!row.slice(FIRST_PATH, FIRST_PATH + paths).includes(path)) {
        if (FIRST_PATH + paths < SOFT_404_COLUMNS) row[FIRST_PATH + paths] = path;
        row[PATHS] = paths + 1;
      }
    }
    this.#numbers.push(...row);
    return row[PATHS] === UNRELATED_PATHS;
  }

  /** Whether pages that repeat this one are soft 404s. */
  has(repeated: number): boolean {
    const at = this.#find(repeated);
    return at >= 0 && this.#numbers[at + PATHS] === UNRELATED_PATHS;
  }

  /** Takes the row of a page out; a new one in a full table takes the place of the oldest among those with fewest paths. */
  #take(repeated: number): number[] {
    const at = this.#find(repeated);
    if (at >= 0) return this.#numbers.splice(at, SOFT_404_COLUMNS);
    if (this.#numbers.length === ROWS_MAX * SOFT_404_COLUMNS) {
      this.#numbers.splice(this.#leastRepeated(), SOFT_404_COLUMNS);
    }
    const row = new Array<number>(SOFT_404_COLUMNS).fill(0);
    row[PAGE] = repeated | 0;
    return row;
  }

  #find(repeated: number): number {
    const numbers = this.#numbers;
    const wanted = repeated | 0;
    for (let at = 0; at < numbers.length; at += SOFT_404_COLUMNS) {
      if (numbers[at + PAGE] === wanted) return at;
    }
    return -1;
  }

  #leastRepeated(): number {
    const numbers = this.#numbers;
    let least = 0;
    for (let at = SOFT_404_COLUMNS; at < numbers.length; at += SOFT_404_COLUMNS) {
      if ((numbers[at + PATHS] as number) < (numbers[least + PATHS] as number)) least = at;
    }
    return least;
  }
}

/** The number by which a page that is equal, or nearly equal, to an earlier one repeats it. @param url of the earlier page */
export function repeatedPage(url: string): number {
  return textHash(url);
}

/** The same of a page whose text is too short to be compared (FEATURES_MIN): pages of one form are taken as one. @param form as of simhash.ts */
export function repeatedText(form: number): number {
  return form | 0;
}
