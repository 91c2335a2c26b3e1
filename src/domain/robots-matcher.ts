// Whether a URL may be fetched under the rules of its origin: step 5 of a URL's life, and every redirect hop of step 9.
//
// The longest matching rule decides, allow wins a tie, no match allows (RFC 9309 §2.2.2). Rules are compiled on first
// use, in the order in which they win, so the first match ends the search; those that need a certain character after
// the first slash are looked up by it. Invariants: never throws; time linear in path × rules at worst; a verdict is a
// shared object, so asking allocates nothing for a URL in plain spelling. Rules are bound to one origin: the caller
// picks them (see `governs`); this file looks at the path alone.
import { type Glob, globMatches } from './robots-glob.ts';
import { normalizeOctets, queryForm, robotsPathOf } from './robots-path.ts';
import type { RobotsRules } from './robots-rules.ts';

/** The answer; `line` and `rule` name the deciding line, absent when no rule matched. */
export interface RobotsVerdict {
  readonly allowed: boolean;
  /** Line of the file, from 1; 0 when the rule stands in no file (unreachable robots.txt). */
  readonly line?: number;
  /** For people: `Disallow: /private/`. */
  readonly rule?: string;
}

/**
 * Decides about one URL.
 * @param rules the rules of the URL's own origin; compiled once for each object, so pass the same one again
 * @param url absolute, in the spelling that will be sent
 */
export function matchRobots(rules: RobotsRules, url: string): RobotsVerdict {
  let compiled = COMPILED.get(rules);
  if (compiled === undefined) {
    compiled = new CompiledRobots(rules);
    COMPILED.set(rules, compiled);
  }
  return compiled.match(url);
}

const COMPILED = new WeakMap<RobotsRules, CompiledRobots>();
const ALLOWED: RobotsVerdict = Object.freeze({ allowed: true });
/** Up to this many rules a plain walk is faster and smaller than a table. */
const WALKED_RULES_MAX = 8;

interface CompiledRule {
  readonly verdict: RobotsVerdict;
  readonly glob: Glob;
  /** The pattern in its second spelling, when that differs (see `queryForm`). */
  readonly queryGlob: Glob | undefined;
  /** Octets of the pattern: the more, the more specific. */
  readonly octets: number;
  /** 0 for the rule that wins over all others. */
  rank: number;
}

/** Rules ready for matching; immutable. Costs about 150 bytes a rule beyond the rules themselves. */
class CompiledRobots {
  /** Rules by the character after the first slash of the path, and rules for any; each list from the strongest rule down. */
  readonly #byCharacter = new Map<number, CompiledRule[]>();
  readonly #general: CompiledRule[] = [];

  constructor(rules: RobotsRules) {
    const compiled: CompiledRule[] = [];
    for (let index = 0; index < rules.patterns.length; index++) {
      const rule = compileRule(rules, index);
      if (rule !== undefined) compiled.push(rule);
    }
    compiled.sort(strongerFirst);
    for (const [rank, rule] of compiled.entries()) {
      rule.rank = rank;
      const isGeneral = compiled.length <= WALKED_RULES_MAX || rule.glob.head.length < 2;
      (isGeneral ? this.#general : this.#listFor(rule.glob.head.charCodeAt(1))).push(rule);
    }
  }

  match(url: string): RobotsVerdict {
    const path = robotsPathOf(url);
    // The file itself is implicitly allowed (RFC 9309 §2.2.2), or it could never be read again.
    if (path === '/robots.txt') return ALLOWED;
    const queryPath = queryForm(path, false);
    let winner: CompiledRule | undefined;
    const particular = this.#byCharacter.get(path.charCodeAt(1));
    if (particular !== undefined) {
      for (const rule of particular) {
        if (!ruleMatches(rule, path, queryPath)) continue;
        winner = rule;
        break;
      }
    }
    const rankEnd = winner?.rank ?? Number.POSITIVE_INFINITY;
    for (const rule of this.#general) {
      if (rule.rank > rankEnd) break;
      if (!ruleMatches(rule, path, queryPath)) continue;
      winner = rule;
      break;
    }
    return winner?.verdict ?? ALLOWED;
  }

  #listFor(code: number): CompiledRule[] {
    let list = this.#byCharacter.get(code);
    if (list === undefined) {
      list = [];
      this.#byCharacter.set(code, list);
    }
    return list;
  }
}

function ruleMatches(rule: CompiledRule, path: string, queryPath: string): boolean {
  if (globMatches(rule.glob, path)) return true;
  if (rule.queryGlob !== undefined) return globMatches(rule.queryGlob, queryPath);
  return queryPath !== path && globMatches(rule.glob, queryPath);
}

function strongerFirst(first: CompiledRule, second: CompiledRule): number {
  if (first.octets !== second.octets) return second.octets - first.octets;
  return Number(second.verdict.allowed) - Number(first.verdict.allowed);
}

/** Undefined for a pattern that no path can match, since every path begins with a slash. */
function compileRule(rules: RobotsRules, index: number): CompiledRule | undefined {
  const pattern = rules.patterns[index] ?? '';
  if (!pattern.startsWith('/') && !pattern.startsWith('*')) return undefined;
  const anchored = pattern.endsWith('$');
  const literals = (anchored ? pattern.slice(0, -1) : pattern).split('*').map(normalizeOctets);
  const queryLiterals: string[] = [];
  let inQuery = false;
  for (const literal of literals) {
    queryLiterals.push(queryForm(literal, inQuery));
    inQuery ||= literal.includes('?');
  }
  const differs = queryLiterals.some((literal, at) => literal !== literals[at]);
  const allowed = rules.allows[index] ?? false;
  return {
    verdict: Object.freeze({
      allowed,
      line: rules.lines[index] ?? 0,
      rule: `${allowed ? 'Allow' : 'Disallow'}: ${pattern}`,
    }),
    glob: globOf(literals, anchored),
    queryGlob: differs ? globOf(queryLiterals, anchored) : undefined,
    octets: literals.join('*').length + (anchored ? 1 : 0),
    rank: 0,
  };
}

/** Empty pieces match anywhere and are left out, but for the last one of an anchored pattern: `/a*$`. */
function globOf(literals: readonly string[], anchored: boolean): Glob {
  const pieces = literals.slice(1);
  const needed = pieces.filter(
    (piece, at) => piece !== '' || (anchored && at === pieces.length - 1),
  );
  return { head: literals[0] ?? '', pieces: needed, anchored };
}
