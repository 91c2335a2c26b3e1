// What a page says about itself: robots meta elements and X-Robots-Tag headers (step 11 of a URL's life).
//
// No standard exists; the rules are those of Google's documentation, on which the others model theirs: directives for
// everybody and those for this crawler add up, and of two that conflict the stricter holds. Names are compared without
// regard to case. Invariants: never throws, linear, unknown directives are ignored, other crawlers' never apply.

/** One meta element (`agent` is its name) or one part of a header. */
export interface RobotsDirectiveSource {
  /** `robots` or absent: for everybody; else the product token of one crawler. */
  readonly agent?: string;
  readonly content: string;
}

/** All that applies to this crawler. */
export interface RobotsDirectives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
  readonly noarchive: boolean;
  readonly nosnippet: boolean;
  readonly noimageindex: boolean;
  /** Date as written after `unavailable_after:`; nothing is concluded from it. The last one counts. */
  readonly unavailableAfter?: string;
}

/**
 * Adds up what applies to a crawler.
 * @param sources meta elements and header parts of one page, in any order
 * @param productToken `hostler`
 */
export function parseRobotsDirectives(
  sources: readonly RobotsDirectiveSource[],
  productToken: string,
): RobotsDirectives {
  const words = new Set<string>();
  let unavailableAfter: string | undefined;
  const own = productToken.toLowerCase();
  for (const { agent, content } of sources) {
    const name = (agent ?? EVERYBODY).trim().toLowerCase();
    if (name !== EVERYBODY && name !== own) continue;
    const date = UNAVAILABLE_AFTER.exec(content)?.[1]?.trim();
    if (date !== undefined && date !== '') unavailableAfter = date;
    for (const word of content.toLowerCase().split(/[\s,;]+/)) words.add(word);
  }
  const has = (word: string): boolean => words.has(word);
  return {
    noindex: has('noindex') || has('none'),
    nofollow: has('nofollow') || has('none'),
    noarchive: has('noarchive'),
    nosnippet: has('nosnippet'),
    noimageindex: has('noimageindex'),
    ...(unavailableAfter === undefined ? {} : { unavailableAfter }),
  };
}

/**
 * The parts of X-Robots-Tag values. An agent named before a colon owns the directives up to the next agent, also when
 * several header lines arrive joined by commas: `a: noindex, nofollow, b: none`.
 * @param values header values in order, one for each line
 */
export function robotsHeaderSources(values: readonly string[]): RobotsDirectiveSource[] {
  const sources: RobotsDirectiveSource[] = [];
  for (const value of values) {
    let agent: string | undefined;
    let content: string[] = [];
    for (const part of value.split(',')) {
      const match = AGENT_PREFIX.exec(part);
      const name = match?.[1]?.toLowerCase();
      if (match === null || name === undefined || VALUED_DIRECTIVES.has(name)) {
        content.push(part);
        continue;
      }
      push(sources, agent, content);
      agent = name;
      content = [part.slice(match[0].length)];
    }
    push(sources, agent, content);
  }
  return sources;
}

const EVERYBODY = 'robots';
const AGENT_PREFIX = /^\s*([A-Za-z0-9_-]+)\s*:/;
/** Directives that themselves take a value after a colon, hence no agents. */
const VALUED_DIRECTIVES: ReadonlySet<string> = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);
/** A date may hold one comma, after a day's name: `Wednesday, 03-Sep-07 14:00 GMT`. */
const UNAVAILABLE_AFTER = /\bunavailable_after\s*:\s*((?:[A-Za-z]{3,9},)?[^,]*)/i;

function push(
  sources: RobotsDirectiveSource[],
  agent: string | undefined,
  content: readonly string[],
): void {
  const text = content.map((part) => part.trim()).filter((part) => part !== '');
  if (text.length === 0) return;
  const joined = text.join(', ');
  sources.push(agent === undefined ? { content: joined } : { agent, content: joined });
}
