// "Did you mean …": the known name nearest to one that is not known, for keys of the config file and seldom-typed words.

/** Names longer than this are not compared: nobody mistypes that much. */
const LENGTH_MAX = 64;

/**
 * The nearest of the known names.
 * @returns undefined when none is near: at most a third of the letters, and at least two, may differ
 */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Upper case, hyphens and underscores are matters of spelling: min-gap-ms is minGapMs. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Levenshtein distance, in the product of the lengths. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[right.length] as number;
}
