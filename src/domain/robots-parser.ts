// The parser of /robots.txt: bytes to groups of rules, as RFC 9309 §2.2 defines them (step 5 of a URL's life).
//
// Two kinds of group are read side by side. Rules belong to agents by the letter of the RFC: a list of user-agent lines
// ends at the first allow or disallow line and at nothing else (§2.2.4: other records must not interfere). Crawl-delay
// and Request-rate are no part of the RFC; each belongs to the agents named directly above it, since the authors of
// such files write them as if they were rules (crawler-commons and robots-parser read them so too).
// Invariants: never throws, linear in the bytes, every list bounded; what does not parse is skipped line by line.
import { unreachable } from '../base/assert.ts';
import { robotsText } from './robots-text.ts';

/** Agent name of the group for everybody else (RFC 9309 §2.2.1). */
export const ANY_AGENT = '*';

/** Most rules of a file. 500 KiB hold at most 46,545 of the shortest rule (`Allow:/a`), so the limit guards larger `bytesMax` only. */
export const RULES_MAX = 65_536;
/** Most user-agent lines of a file; chosen like `RULES_MAX`. */
export const AGENT_LINES_MAX = 65_536;
/** Most sitemaps of a file: more are not worth the memory; an index lists 50,000 more each (sitemaps.org). */
export const SITEMAPS_MAX = 1_000;
/** Longest path of a rule, in characters: 8 × 2,083, the longest line of google/robotstxt (2,083 was the longest URL of a browser). */
export const PATTERN_CHARS_MAX = 16_664;
/** Longest sitemap URL, in characters: sitemaps.org wants fewer than 2,048. */
export const SITEMAP_CHARS_MAX = 2_048;

/** One allow or disallow line. `pattern` is ASCII, as written but for escapes of other bytes and runs of `*` made one. */
export interface RobotsLine {
  readonly allow: boolean;
  readonly pattern: string;
  /** Line of the file, from 1. */
  readonly line: number;
}

/** Requests per time, from `Request-rate: 1/10m`. Both positive integers. */
export interface RequestRate {
  readonly requests: number;
  readonly seconds: number;
}

/** Rules and the agents they bind; agents are lower-case product tokens or `*`. */
export interface RobotsGroup {
  readonly agents: readonly string[];
  readonly rules: readonly RobotsLine[];
}

/** Speed limits and the agents they bind; without agents they stood before any user-agent line. */
export interface RobotsSpeed {
  readonly agents: readonly string[];
  readonly crawlDelaySeconds?: number;
  readonly requestRate?: RequestRate;
}

/** A parsed file. Plain data. */
export interface RobotsFile {
  readonly groups: readonly RobotsGroup[];
  readonly speeds: readonly RobotsSpeed[];
  /** As written, in order; may be relative although they should not be. */
  readonly sitemaps: readonly string[];
  /** False when the file has no user-agent line at all, hence binds nobody by name. */
  readonly hasAgents: boolean;
  /** True when only the beginning was read. */
  readonly truncated: boolean;
}

/**
 * Parses a file. Never throws; linear in the bytes.
 * @param bytes the decoded body of a 2xx answer
 * @param options.bytesMax bytes to parse, at least 500 KiB (RFC 9309 §2.5; a smaller value is raised)
 * @param options.truncated true when the body was already cut by the fetcher
 */
export function parseRobots(
  bytes: Uint8Array,
  options: { readonly bytesMax: number; readonly truncated?: boolean },
): RobotsFile {
  const { text, truncated } = robotsText(bytes, options);
  const reader = new RobotsReader();
  let line = 1;
  let start = 0;
  while (start < text.length) {
    let end = start;
    let code = 0;
    for (; end < text.length; end++) {
      code = text.charCodeAt(end);
      if (code === 10 || code === 13) break;
    }
    if (end > start) reader.readLine(text.slice(start, end), line);
    start = code === 13 && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
    line++;
  }
  return reader.finish(truncated);
}

/**
 * The product token a user-agent line names, in lower case; `''` when it names none.
 * Letters, `-` and `_` are the RFC's alphabet (§2.2.1); digits and escaped bytes belong to real names (`MJ12bot`, `UnicödeBöt`).
 * @param value text after `User-agent:`, or the name of a crawler
 */
export function agentToken(value: string): string {
  return AGENT_TOKEN.exec(value)?.[0].toLowerCase() ?? '';
}

const AGENT_TOKEN = /^(?:[A-Za-z0-9_-]|%[89A-F][0-9A-F])+/;
const AGENT_CHARS_MAX = 256;
const DELAY = /^(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})$/;
// Hours of the day may follow a rate; the rate is then kept at any hour, which asks less of the host.
const RATE = /^(\d{1,9})\s*\/\s*(\d{1,9})\s*([smhd]?)(?:\s|$)/i;
const RATE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

type Field = 'agent' | 'allow' | 'disallow' | 'crawl-delay' | 'request-rate' | 'sitemap';

// The usual misspellings are obeyed (google/robotstxt knows the same): their authors meant them.
const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['user-agent', 'agent'],
  ['useragent', 'agent'],
  ['user agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['crawl-delay', 'crawl-delay'],
  ['crawldelay', 'crawl-delay'],
  ['crawl delay', 'crawl-delay'],
  ['request-rate', 'request-rate'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]);
const FIELD_CHARS_MAX = 12;

interface OpenGroup {
  readonly agents: string[];
  readonly rules: RobotsLine[];
}

/** Collects lines into a file; one use. */
class RobotsReader {
  readonly #groups: OpenGroup[] = [];
  readonly #speeds: RobotsSpeed[] = [];
  readonly #sitemaps: string[] = [];
  #ruleCount = 0;
  #agentLineCount = 0;
  /** Agents that a speed line now binds. */
  #speedAgents: string[] = [];
  /** True while user-agent lines still join the newest group, or the newest list of speed agents. */
  #groupOpen = false;
  #speedOpen = false;

  readLine(source: string, line: number): void {
    const text = contentOf(source);
    const colon = text.indexOf(':');
    const keyEnd = colon >= 0 ? colon : wordEnd(text);
    const key = text.slice(0, keyEnd).trim();
    if (key.length > FIELD_CHARS_MAX) return;
    const field = FIELDS.get(key.toLowerCase());
    if (field === undefined) return;
    const value = text.slice(keyEnd + 1).trim();
    // Without a colon only "Disallow /x" is a line; prose that begins with such a word is not.
    if (colon < 0 && (value === '' || /\s/.test(value))) return;
    this.#take(field, value, line);
  }

  finish(truncated: boolean): RobotsFile {
    return {
      groups: this.#groups,
      speeds: this.#speeds,
      sitemaps: this.#sitemaps,
      hasAgents: this.#agentLineCount > 0,
      truncated,
    };
  }

  #take(field: Field, value: string, line: number): void {
    switch (field) {
      case 'agent':
        this.#takeAgent(value);
        break;
      case 'allow':
      case 'disallow':
        this.#takeRule(field === 'allow', value, line);
        break;
      case 'crawl-delay': {
        if (DELAY.test(value)) this.#addSpeed({ crawlDelaySeconds: Number(value) });
        this.#speedOpen = false;
        break;
      }
      case 'request-rate': {
        const requestRate = requestRateOf(value);
        if (requestRate !== undefined) this.#addSpeed({ requestRate });
        this.#speedOpen = false;
        break;
      }
      case 'sitemap': {
        const room = this.#sitemaps.length < SITEMAPS_MAX;
        if (room && value !== '' && value.length <= SITEMAP_CHARS_MAX) this.#sitemaps.push(value);
        break;
      }
      default:
        unreachable(field);
    }
  }

  #takeAgent(value: string): void {
    if (!this.#groupOpen) this.#groups.push({ agents: [], rules: [] });
    if (!this.#speedOpen) this.#speedAgents = [];
    this.#groupOpen = true;
    this.#speedOpen = true;
    this.#agentLineCount++;
    const token = isAnyAgent(value) ? ANY_AGENT : agentToken(value.slice(0, AGENT_CHARS_MAX));
    if (token === '' || this.#agentLineCount > AGENT_LINES_MAX) return;
    this.#groups.at(-1)?.agents.push(token);
    this.#speedAgents.push(token);
  }

  #takeRule(allow: boolean, value: string, line: number): void {
    this.#groupOpen = false;
    this.#speedOpen = false;
    const group = this.#groups.at(-1);
    const pattern = patternOf(allow, value);
    // A rule of no group binds nobody (RFC 9309 §2.2.2), and an empty path matches nothing.
    if (group === undefined || pattern === '' || this.#ruleCount >= RULES_MAX) return;
    this.#ruleCount++;
    group.rules.push({ allow, pattern, line });
  }

  #addSpeed(speed: Omit<RobotsSpeed, 'agents'>): void {
    if (this.#speeds.length < RULES_MAX) this.#speeds.push({ ...speed, agents: this.#speedAgents });
  }
}

/** A line without its comment. A NUL ends it as well, as it ends a string for the C parsers these files are tested with. */
function contentOf(source: string): string {
  const comment = source.indexOf('#');
  const text = comment >= 0 ? source.slice(0, comment) : source;
  const nul = text.indexOf('\0');
  return (nul >= 0 ? text.slice(0, nul) : text).trim();
}

function wordEnd(text: string): number {
  const end = text.search(/\s/);
  return end < 0 ? text.length : end;
}

/** `*`, alone or before a blank; `*bot` is a name no crawler has. */
function isAnyAgent(value: string): boolean {
  return value.startsWith('*') && (value.length === 1 || /\s/.test(value[1] ?? ''));
}

/** A too long path is cut where that forbids more, and dropped where that would allow more. */
function patternOf(allow: boolean, value: string): string {
  const pattern = value.includes('**') ? value.replace(/\*{2,}/g, '*') : value;
  if (pattern.length <= PATTERN_CHARS_MAX) return pattern;
  return allow ? '' : pattern.slice(0, PATTERN_CHARS_MAX).replace(/%[0-9A-Fa-f]?$/, '');
}

function requestRateOf(value: string): RequestRate | undefined {
  const match = RATE.exec(value);
  if (match === null) return undefined;
  const requests = Number(match[1]);
  const seconds = Number(match[2]) * (RATE_UNITS[(match[3] ?? '').toLowerCase()] ?? 1);
  return requests > 0 && seconds > 0 ? { requests, seconds } : undefined;
}
