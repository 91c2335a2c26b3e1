// A quick no for wildcard rules: which short strings occur in a path at all (step 5 of a URL's life).
//
// A rule can only match when each of its literal pieces occurs in the path, and a piece can only occur when its first
// and last three characters do. A table of all runs of one to three characters of a path, made once for each question,
// refuses nearly every rule of a large file by looking at a few bytes, where a search would read the whole path.
// Invariant: never refuses a rule that matches (hash collisions only let some through that do not).

/** Entries of the table: a path of 2,000 characters fills at most a third of it. */
const TABLE_SIZE = 16_384;
const GRAM_CHARS = 3;
/** More pieces than this refuse hardly more. */
const PIECES_MAX = 4;

/** Positions in the table that must be set for the pieces to occur. */
export function pieceGrams(pieces: readonly string[]): number[] {
  const grams = new Set<number>();
  for (const piece of pieces.filter((one) => one !== '').slice(0, PIECES_MAX)) {
    const width = Math.min(GRAM_CHARS, piece.length);
    grams.add(gramAt(piece, 0, width));
    grams.add(gramAt(piece, piece.length - width, width));
  }
  return [...grams];
}

/** The table of all grams of some paths; linear in their length. */
export function gramTable(paths: readonly string[]): Uint8Array {
  const table = new Uint8Array(TABLE_SIZE);
  for (const path of paths) {
    for (let index = 0; index < path.length; index++) {
      for (let width = 1; width <= GRAM_CHARS && index + width <= path.length; width++) {
        table[gramAt(path, index, width)] = 1;
      }
    }
  }
  return table;
}

/** False when the pieces cannot all occur in the paths of the table. */
export function mayOccur(grams: readonly number[], table: Uint8Array): boolean {
  for (const gram of grams) if (table[gram] === 0) return false;
  return true;
}

function gramAt(text: string, start: number, width: number): number {
  let hash = width;
  for (let index = start; index < start + width; index++) {
    hash = Math.imul(hash, 127) + text.charCodeAt(index);
  }
  return (hash ^ (hash >>> 14)) & (TABLE_SIZE - 1);
}
