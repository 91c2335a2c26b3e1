// One path pattern of a robots rule, compiled: literal pieces between `*`, and perhaps an end mark (RFC 9309 §2.2.3).
//
// Leftmost matching of piece after piece decides such a pattern without ever going back, so a match is linear in the
// path plus the pattern, whatever the pattern: each piece is looked for only behind the one before. Long pieces in long
// texts are searched by Knuth-Morris-Pratt, whose worst case is linear too; short ones by indexOf, faster in practice.

/** A compiled pattern. Plain fields; made once for each rule. */
export interface Glob {
  /** What the path must begin with. */
  readonly head: string;
  /** What must follow in this order, each after any characters. Empty for a plain prefix. */
  readonly pieces: readonly string[];
  /** True when the last literal must end the path. */
  readonly anchored: boolean;
}

/** Characters a question may still search through; shared by all rules asked for one URL. */
export interface SearchBudget {
  chars: number;
}

/** Most comparisons an indexOf may need before the linear search is taken; below that it is the faster one even at its worst. */
const INDEX_OF_STEPS_MAX = 65_536;

/**
 * True when the pattern matches a beginning of the path, or all of it when anchored. Never throws.
 * @param budget lessened by the characters searched; below zero the answer means nothing
 */
export function globMatches(glob: Glob, path: string, budget: SearchBudget): boolean {
  const { head, pieces, anchored } = glob;
  if (!path.startsWith(head)) return false;
  if (pieces.length === 0) return !anchored || path.length === head.length;
  let position = head.length;
  const searched = anchored ? pieces.length - 1 : pieces.length;
  for (let index = 0; index < searched; index++) {
    const piece = pieces[index]!;
    const found = budget.chars < 0 ? -1 : find(piece, path, position);
    budget.chars -= (found < 0 ? path.length : found) - position;
    if (found < 0) return false;
    position = found + piece.length;
  }
  if (!anchored) return true;
  const last = pieces[searched]!;
  return path.length - last.length >= position && path.endsWith(last);
}

function find(piece: string, text: string, from: number): number {
  if ((text.length - from) * piece.length <= INDEX_OF_STEPS_MAX) return text.indexOf(piece, from);
  const borders = bordersOf(piece);
  let matched = 0;
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    while (matched > 0 && piece.charCodeAt(matched) !== code) matched = borders[matched - 1]!;
    if (piece.charCodeAt(matched) === code) matched++;
    if (matched === piece.length) return index - matched + 1;
  }
  return -1;
}

/** For each beginning of the piece, the length of its longest proper border. */
function bordersOf(piece: string): Uint16Array {
  const borders = new Uint16Array(piece.length);
  let border = 0;
  for (let index = 1; index < piece.length; index++) {
    const code = piece.charCodeAt(index);
    while (border > 0 && piece.charCodeAt(border) !== code) border = borders[border - 1]!;
    if (piece.charCodeAt(border) === code) border++;
    borders[index] = border;
  }
  return borders;
}
