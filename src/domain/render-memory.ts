// What rendering has been worth on a host (between steps 11 and 9, docs/RENDERING.md): how many of its pages were rendered, and how many of
// those showed links or text that the plain page had not. A host whose pages gain nothing is rendered no more, but for one page in
// SAMPLE_EVERY, which notices when that changes. Plain data, kept in the host's row by its owner; pure.

/** Counts of one host. */
export interface RenderMemory {
  /** Pages rendered and compared; halved with `gained` at MEMORY_MAX, so that what was long ago fades. */
  readonly tried: number;
  readonly gained: number;
  /** Pages passed over since the last one that was rendered. */
  readonly passed: number;
}

export const NO_RENDERS: RenderMemory = { tried: 0, gained: 0, passed: 0 };

/** Pages that are rendered before a host is judged. */
export const TRIES_MIN = 6;
/** Percent of the pages that have to gain something. */
export const GAIN_PERCENT_MIN = 20;
/** Of a host whose pages gain nothing, one page in so many is rendered all the same. */
export const SAMPLE_EVERY = 25;
const MEMORY_MAX = 64;

/** What a page had and what its rendering shows; words of visible text, links as different references. */
export interface RenderGain {
  readonly plainWords: number;
  readonly words: number;
  /** References that the plain page did not have. */
  readonly newLinks: number;
}

/** Text counts as gained from this many words on, and half as many again as before. */
const NEW_WORDS_MIN = 20;

/** True when rendering has shown something. */
export function isGain({ plainWords, words, newLinks }: RenderGain): boolean {
  return newLinks > 0 || words >= Math.max(plainWords * 1.5, plainWords + NEW_WORDS_MIN);
}

/** True when the next page of the host that seems to need a browser gets one. */
export function isWorthRendering({ tried, gained, passed }: RenderMemory): boolean {
  if (tried < TRIES_MIN) return true;
  if (gained * 100 >= tried * GAIN_PERCENT_MIN) return true;
  return passed + 1 >= SAMPLE_EVERY;
}

/** A page was rendered. */
export function afterRender(memory: RenderMemory, hasGained: boolean): RenderMemory {
  const tried = memory.tried + 1;
  const gained = memory.gained + (hasGained ? 1 : 0);
  if (tried < MEMORY_MAX) return { tried, gained, passed: 0 };
  return { tried: tried >> 1, gained: gained >> 1, passed: 0 };
}

/** A page that seemed to need a browser was passed over. */
export function afterPassing(memory: RenderMemory): RenderMemory {
  return { ...memory, passed: memory.passed + 1 };
}
