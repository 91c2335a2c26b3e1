// The rules of one /robots.txt that bind this crawler: what a host keeps in memory and in its stored row (step 5).
//
// Invariants: plain encodable data (strings, numbers, booleans, arrays), in parallel arrays because a million hosts may
// hold one each; no string keeps the file it was cut from alive. Agent names are only ever compared, never used as
// property names, so that an agent called `constructor` is an agent like any other.
import { parseUrl } from '../base/parse-url.ts';
import {
  ANY_AGENT,
  agentToken,
  type RequestRate,
  type RobotsFile,
  type RobotsLine,
} from './robots-parser.ts';

/** The rules for one crawler at one origin. `patterns`, `allows` and `lines` have one entry for each rule, in file order. */
export interface RobotsRules {
  /** Product token of the group, lower-case; `*` for the group of all others; `''` when no group applies. */
  readonly group: string;
  /** Paths with `*` and `$`, ASCII, never empty, no run of `*`. */
  readonly patterns: readonly string[];
  readonly allows: readonly boolean[];
  /** Line of the file, from 1; 0 for a rule that stands in no file. */
  readonly lines: readonly number[];
  /** Seconds between requests, finite, ≥ 0; the largest that applies. */
  readonly crawlDelaySeconds?: number;
  /** The slowest that applies. */
  readonly requestRate?: RequestRate;
  /** Sitemap lines of the whole file as written (they belong to no group, RFC 9309 §2.2.4); see `absoluteSitemaps`. */
  readonly sitemaps: readonly string[];
}

/** Nothing is forbidden: no file (RFC 9309 §2.3.1.3) or none that binds anybody. */
export const ALLOW_ALL: RobotsRules = Object.freeze({
  group: '',
  patterns: [],
  allows: [],
  lines: [],
  sitemaps: [],
});

/** Everything is forbidden but /robots.txt: the file is unreachable (RFC 9309 §2.3.1.4). */
export const DISALLOW_ALL: RobotsRules = Object.freeze({
  group: ANY_AGENT,
  patterns: ['/'],
  allows: [false],
  lines: [0],
  sitemaps: [],
});

/**
 * The rules of a file for one crawler: those of all groups that name it, merged; else those of `*` (RFC 9309 §2.2.1).
 * A name must match in full, without regard to case. Linear in the file; never throws.
 * @param productToken `hostler`, or a whole User-Agent: of its names the longest that has a group is taken, since the
 *   RFC wants the token to be a part of that string
 */
export function selectRules(file: RobotsFile, productToken: string): RobotsRules {
  const group = groupFor(file, productToken);
  const lines = new Map<string, RobotsLine>();
  for (const { agents, rules } of file.groups) {
    if (!agents.includes(group)) continue;
    for (const rule of rules) {
      const key = (rule.allow ? '+' : '-') + rule.pattern;
      if (!lines.has(key)) lines.set(key, rule);
    }
  }
  const rules = [...lines.values()];
  return {
    group,
    patterns: rules.map((rule) => detached(rule.pattern)),
    allows: rules.map((rule) => rule.allow),
    lines: rules.map((rule) => rule.line),
    ...speedFor(file, group),
    sitemaps: file.sitemaps.map(detached),
  };
}

/**
 * Sitemaps of a file as absolute http(s) URLs, without repetition, in order; what is neither absolute nor resolvable is left out.
 * @param robotsUrl where the file came from, for those written relative although they must not be
 */
export function absoluteSitemaps(
  sitemaps: readonly string[],
  robotsUrl: string | undefined,
): string[] {
  const urls = new Set<string>();
  for (const sitemap of sitemaps) {
    const url = parseUrl(sitemap, robotsUrl);
    if (url?.protocol === 'http:' || url?.protocol === 'https:') urls.add(url.href);
  }
  return [...urls];
}

const USER_AGENT_CHARS_MAX = 1024;
/** Names that most browsers and crawlers carry: they count only when no other name has a group. */
const GENERIC_TOKENS: ReadonlySet<string> = new Set([
  'mozilla',
  'compatible',
  'applewebkit',
  'khtml',
  'like',
  'gecko',
  'chrome',
  'safari',
  'mobile',
]);

function groupFor(file: RobotsFile, productToken: string): string {
  const named = new Set<string>();
  for (const { agents } of file.groups) for (const agent of agents) named.add(agent);
  let best = '';
  let generic = '';
  for (const token of tokensOf(productToken)) {
    if (!named.has(token)) continue;
    if (GENERIC_TOKENS.has(token)) generic ||= token;
    else if (token.length > best.length) best = token;
  }
  if (best !== '' || generic !== '') return best || generic;
  return named.has(ANY_AGENT) ? ANY_AGENT : '';
}

/** The names in a User-Agent: a product token is one; versions, URLs and addresses are none. */
function tokensOf(userAgent: string): string[] {
  const escaped = encodeNonAscii(userAgent.slice(0, USER_AGENT_CHARS_MAX));
  const tokens: string[] = [];
  for (const word of escaped.split(/[\s();,+]+/)) {
    if (/:\/\/|@/.test(word)) continue;
    const token = agentToken(word);
    if (/[a-z_%]/.test(token) || token === escaped.toLowerCase()) tokens.push(token);
  }
  return tokens;
}

function encodeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]+/gu, (run) => encodeURIComponent(run.replace(/\p{Cs}/gu, '�')));
}

function speedFor(
  file: RobotsFile,
  group: string,
): Pick<RobotsRules, 'crawlDelaySeconds' | 'requestRate'> {
  let crawlDelaySeconds: number | undefined;
  let requestRate: RequestRate | undefined;
  for (const speed of file.speeds) {
    // A delay in a file that names no agent can only be meant for all; obeying it costs nothing but time.
    if (file.hasAgents ? !speed.agents.includes(group) : speed.agents.length > 0) continue;
    if (speed.crawlDelaySeconds !== undefined)
      crawlDelaySeconds = Math.max(crawlDelaySeconds ?? 0, speed.crawlDelaySeconds);
    if (speed.requestRate !== undefined) requestRate = slower(requestRate, speed.requestRate);
  }
  return {
    ...(crawlDelaySeconds === undefined ? {} : { crawlDelaySeconds }),
    ...(requestRate === undefined ? {} : { requestRate }),
  };
}

function slower(first: RequestRate | undefined, second: RequestRate): RequestRate {
  if (first === undefined) return second;
  return first.requests / first.seconds <= second.requests / second.seconds ? first : second;
}

/** A copy that does not keep the text it was sliced from: V8 slices longer than 12 characters point into their parent. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}
