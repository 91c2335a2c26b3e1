// Whether a URL may be fetched under the rules of its origin: step 5 of a URL's life, and every redirect hop of step 9.
//
// The longest matching rule decides, allow wins a tie, no match allows (RFC 9309 §2.2.2). Rules are compiled on first
// use, in the order in which they win, so the first match ends the search; those with a literal beginning are looked up
// by it. Invariants: never throws; time linear in path × rules at worst, and bounded whatever they are. Compiled rules
// are a cache of bounded size and change no answer. Rules are bound to one origin: the caller picks them (see
// `governs`); this file looks at the path alone.
import { type Glob, globMatches, type SearchBudget } from './robots-glob.ts';
import { gramTable, mayOccur, pieceGrams } from './robots-grams.ts';
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
  return compiledFor(rules).match(url);
}

/** Rules kept compiled by a thread, in two generations: at most twice this many, some 5 to 10 MB, however many hosts it owns. */
const COMPILED_RULES_MAX = 8_192;
let young = new Map<RobotsRules, CompiledRobots>();
let old = new Map<RobotsRules, CompiledRobots>();
let youngRuleCount = 0;

/** Compiled on first use and kept while in use: links come in runs for one host, and hosts without any cost nothing. */
function compiledFor(rules: RobotsRules): CompiledRobots {
  const known = young.get(rules);
  if (known !== undefined) return known;
  const compiled = old.get(rules) ?? new CompiledRobots(rules);
  youngRuleCount += rules.patterns.length + 1;
  if (youngRuleCount > COMPILED_RULES_MAX) {
    old = young;
    young = new Map();
    youngRuleCount = rules.patterns.length + 1;
  }
  young.set(rules, compiled);
  return compiled;
}

const ALLOWED: RobotsVerdict = Object.freeze({ allowed: true });
const NO_PIECES: readonly string[] = [];
const NO_GRAMS: readonly number[] = [];
/** Up to this many rules a plain walk is faster and smaller than tables. */
const WALKED_RULES_MAX = 8;
/** Lengths of the beginnings by which rules are looked up, longest first. */
const TABLE_CHARS: readonly number[] = [16, 8, 4, 2];
/** Up to this many rules a plain walk is faster than a table of grams. */
const WALKED_GLOBS_MAX = 64;
/**
 * Most characters searched for one question, at most 20 ns each (bench/robots.bench.ts), so no file holds a thread for
 * longer than 80 ms a URL. 2,000 wildcard rules on a URL of 2,000 characters stay within it, 20,000 usually too.
 */
const SEARCHED_CHARS_MAX = 4_000_000;
/** A file that costs more was written to cost: what cannot be decided is not fetched. */
const TOO_COSTLY: RobotsVerdict = Object.freeze({
  allowed: false,
  line: 0,
  rule: 'Disallow: (rules too costly to match)',
});

interface CompiledRule {
  /** Place in the parallel arrays of the rules. */
  readonly index: number;
  readonly allowed: boolean;
  readonly glob: Glob;
  /** The pattern in its second spelling, when that differs (see `queryForm`). */
  readonly queryGlob: Glob | undefined;
  /** What must occur in a path for the rule to match (see robots-grams.ts); empty when that is not known. */
  readonly grams: readonly number[];
  /** Octets of the pattern: the more, the more specific. */
  readonly octets: number;
  /** 0 for the rule that wins over all others. */
  rank: number;
}

/** Rules found by the first characters of a path; each list from the strongest rule down. */
interface HeadTable {
  readonly chars: number;
  readonly rules: Map<string, CompiledRule[]>;
}

/** Rules ready for matching; immutable. */
class CompiledRobots {
  readonly #rules: RobotsRules;
  readonly #tables: HeadTable[] = [];
  readonly #general: CompiledRule[] = [];

  constructor(rules: RobotsRules) {
    this.#rules = rules;
    const compiled: CompiledRule[] = [];
    for (let index = 0; index < rules.patterns.length; index++) {
      const rule = compileRule(rules, index);
      if (rule !== undefined) compiled.push(rule);
    }
    compiled.sort(strongerFirst);
    for (const [rank, rule] of compiled.entries()) {
      rule.rank = rank;
      const chars = compiled.length <= WALKED_RULES_MAX ? 0 : tableChars(rule.glob.head);
      (chars === 0 ? this.#general : this.#listFor(rule.glob.head.slice(0, chars))).push(rule);
    }
  }

  match(url: string): RobotsVerdict {
    const path = robotsPathOf(url);
    // The file itself is implicitly allowed (RFC 9309 §2.2.2), or it could never be read again.
    if (path === '/robots.txt') return ALLOWED;
    const question = new Question(path);
    for (const { chars, rules } of this.#tables) question.ask(rules.get(path.slice(0, chars)));
    question.ask(this.#general);
    if (question.tooCostly) return TOO_COSTLY;
    return question.winner === undefined ? ALLOWED : verdictOf(this.#rules, question.winner);
  }

  #listFor(head: string): CompiledRule[] {
    let table = this.#tables.find(({ chars }) => chars === head.length);
    if (table === undefined) {
      table = { chars: head.length, rules: new Map() };
      this.#tables.push(table);
    }
    let list = table.rules.get(head);
    if (list === undefined) {
      list = [];
      table.rules.set(head, list);
    }
    return list;
  }
}

/** How many first characters a rule is looked up by: the largest table its head fills before any query, whose spelling varies. */
function tableChars(head: string): number {
  const query = head.indexOf('?');
  const fixed = query < 0 ? head.length : query;
  return TABLE_CHARS.find((chars) => chars <= fixed) ?? 0;
}

/** One URL asked about: its path in both spellings, and what has been found out so far. */
class Question {
  readonly #budget: SearchBudget = { chars: SEARCHED_CHARS_MAX };
  readonly #path: string;
  readonly #queryPath: string;
  #grams: Uint8Array | undefined;
  #winner: CompiledRule | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#queryPath = queryForm(path, false);
  }

  /** Looks through a sorted list for a rule that matches and is stronger than the one found before. */
  ask(rules: readonly CompiledRule[] | undefined): void {
    if (rules === undefined) return;
    if (rules.length > WALKED_GLOBS_MAX) this.#grams ??= gramTable([this.#path, this.#queryPath]);
    const grams = this.#grams;
    const rankEnd = this.#winner?.rank ?? Number.POSITIVE_INFINITY;
    for (const rule of rules) {
      if (rule.rank > rankEnd) return;
      if (grams !== undefined && !mayOccur(rule.grams, grams)) continue;
      if (!this.#matches(rule)) continue;
      this.#winner = rule;
      return;
    }
  }

  get winner(): CompiledRule | undefined {
    return this.#winner;
  }

  get tooCostly(): boolean {
    return this.#budget.chars < 0;
  }

  #matches(rule: CompiledRule): boolean {
    if (globMatches(rule.glob, this.#path, this.#budget)) return true;
    if (rule.queryGlob === undefined && this.#queryPath === this.#path) return false;
    return globMatches(rule.queryGlob ?? rule.glob, this.#queryPath, this.#budget);
  }
}

function strongerFirst(first: CompiledRule, second: CompiledRule): number {
  if (first.octets !== second.octets) return second.octets - first.octets;
  return Number(second.allowed) - Number(first.allowed);
}

/** Undefined for a pattern that no path can match, since every path begins with a slash. */
function compileRule(rules: RobotsRules, index: number): CompiledRule | undefined {
  const pattern = rules.patterns[index] ?? '';
  if (!pattern.startsWith('/') && !pattern.startsWith('*')) return undefined;
  const anchored = pattern.endsWith('$');
  // A pattern without marks is its own literal: splitting it would copy the string.
  const isPlain = !anchored && !pattern.includes('*');
  const written = isPlain ? [pattern] : pattern.slice(0, anchored ? -1 : undefined).split('*');
  const literals = written.map(normalizeOctets);
  const queryLiterals: string[] = [];
  let inQuery = false;
  for (const literal of literals) {
    queryLiterals.push(queryForm(literal, inQuery));
    inQuery ||= literal.includes('?');
  }
  const differs = queryLiterals.some((literal, at) => literal !== literals[at]);
  const glob = globOf(literals, anchored);
  return {
    index,
    allowed: rules.allows[index] ?? false,
    glob,
    grams: differs || glob.pieces.length === 0 ? NO_GRAMS : pieceGrams(glob.pieces),
    queryGlob: differs ? globOf(queryLiterals, anchored) : undefined,
    octets: literals.join('*').length + (anchored ? 1 : 0),
    rank: 0,
  };
}

function verdictOf(rules: RobotsRules, { index, allowed }: CompiledRule): RobotsVerdict {
  const line = rules.lines[index] ?? 0;
  return { allowed, line, rule: `${allowed ? 'Allow' : 'Disallow'}: ${rules.patterns[index]}` };
}

/** Empty pieces match anywhere and are left out, but for the last one of an anchored pattern: `/a*$`. */
function globOf(literals: readonly string[], anchored: boolean): Glob {
  const head = literals[0] ?? '';
  if (literals.length === 1) return { head, pieces: NO_PIECES, anchored };
  const pieces = literals.slice(1);
  const needed = pieces.filter(
    (piece, at) => piece !== '' || (anchored && at === pieces.length - 1),
  );
  return { head, pieces: needed, anchored };
}
