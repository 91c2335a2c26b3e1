// The shapes of URLs that are remembered of one host (url-budget.ts), a bounded table: step 5 looks in it for every new URL, and the host's
// row takes it along with every commit, so it is one flat array of small integers, which is searched and copied without an object for each
// shape (bench: a table of objects cost 0.1 ms of a page of 0.8). Invariants: pure; at most `shapesMax` rows; a new shape in a full table
// takes the place and inherits the weight of the lightest: a shape with many URLs cannot hide behind many small ones (Metwally et al.,
// "Efficient computation of frequent and top-k elements", ICDT 2005).

/** What a row holds, by its offset: each a 32-bit integer, counts from 0 to 2³¹ - 1, hashes signed. */
export const SHAPE = 0;
/** URLs admitted and not withdrawn. */
export const URLS = 1;
/** At least as many as its URLs. */
export const WEIGHT = 2;
/** Pages looked at: read, found to be a copy, or answered 4xx. */
export const PAGES = 3;
/** Of these, pages whose content was new. */
export const FRESH_PAGES = 4;
/** Of these, pages that were no copies and yet nothing new: they read like others. */
export const ALIKE_PAGES = 5;
/** Forms of its last two pages (simhash.ts, `form`); 0 for none. A page of the same form differs from them in numbers and ids at most. */
export const FORM = 6;
export const OTHER_FORM = 7;
/** Numbers in a row. */
export const SHAPE_COLUMNS = 8;

/** A column that counts. */
export type ShapeCount = typeof URLS | typeof PAGES | typeof FRESH_PAGES | typeof ALIKE_PAGES;

/** Where a row begins. */
export type ShapeRow = number;

/** No row: the shape is not remembered. */
export const NO_SHAPE: ShapeRow = -1;

export class ShapeTable {
  readonly #numbers: number[];
  readonly #lengthMax: number;

  /**
   * @param stored rows end on end, as `stored` gave them
   * @param shapesMax rows kept, at least 1
   */
  constructor(stored: readonly number[], shapesMax: number) {
    this.#numbers = stored.slice();
    this.#lengthMax = shapesMax * SHAPE_COLUMNS;
  }

  /** All rows end on end; a copy. */
  stored(): readonly number[] {
    return this.#numbers.slice();
  }

  /** @param shape as of url-shape.ts @returns its row, or NO_SHAPE */
  find(shape: number): ShapeRow {
    const numbers = this.#numbers;
    const wanted = shape | 0;
    for (let row = 0; row < numbers.length; row += SHAPE_COLUMNS) {
      if (numbers[row] === wanted) return row;
    }
    return NO_SHAPE;
  }

  /** The row of a shape, a new one when it has none. */
  take(shape: number): ShapeRow {
    const known = this.find(shape);
    if (known !== NO_SHAPE) return known;
    const numbers = this.#numbers;
    if (numbers.length < this.#lengthMax) {
      return numbers.push(shape | 0, 0, 0, 0, 0, 0, 0, 0) - SHAPE_COLUMNS;
    }
    const row = this.#lightest();
    const weight = this.get(row, WEIGHT);
    numbers.fill(0, row, row + SHAPE_COLUMNS);
    numbers[row + SHAPE] = shape | 0;
    numbers[row + WEIGHT] = weight;
    return row;
  }

  get(row: ShapeRow, column: number): number {
    return this.#numbers[row + column] as number;
  }

  set(row: ShapeRow, column: number, value: number): void {
    this.#numbers[row + column] = value | 0;
  }

  /** @param by may be negative; a count stops at 0 */
  add(row: ShapeRow, column: ShapeCount | typeof WEIGHT, by: number): void {
    this.set(row, column, Math.max(this.get(row, column) + by, 0));
  }

  /** What is known is half forgotten; the new content of a shape that had one page of it is kept. */
  halve(): void {
    for (let row = 0; row < this.#numbers.length; row += SHAPE_COLUMNS) {
      for (const column of [URLS, PAGES, ALIKE_PAGES])
        this.set(row, column, this.get(row, column) >> 1);
      this.set(row, FRESH_PAGES, (this.get(row, FRESH_PAGES) + 1) >> 1);
    }
  }

  #lightest(): ShapeRow {
    const numbers = this.#numbers;
    let lightest = 0;
    for (let row = SHAPE_COLUMNS; row < numbers.length; row += SHAPE_COLUMNS) {
      if ((numbers[row + WEIGHT] as number) < (numbers[lightest + WEIGHT] as number))
        lightest = row;
    }
    return lightest;
  }
}
