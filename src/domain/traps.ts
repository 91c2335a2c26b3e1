// URLs that lead a crawler astray: part of step 5 (DESIGN.md §1, §4). Some shapes are certain traps and are never fetched: endless URLs, paths
// that repeat themselves because a relative link lacks its slash. Others are suspects: calendars, sort orders, facets and tag sets hold
// real pages among endless copies, so they are queued last and only within an allowance (url-budget.ts), never dropped unseen.
// What one URL cannot show (soft 404s, ever new session ids, link farms) is judged by yield and by domain in url-budget.ts.
// Invariants: pure; linear time; never throws; every bound is an option. Sources of the rules stand with their options.

import {
  CALENDAR_WORDS,
  DATE_NAME,
  FACET_NAMES,
  OFFSET_NAMES,
  PAGE_NAMES,
  SORT_NAMES,
  SORT_VALUES,
  TAXONOMY_WORDS,
} from './trap-vocabulary.ts';

export type TrapRule =
  | 'length'
  | 'depth'
  | 'repeating-segments'
  | 'host-in-path'
  | 'parameters'
  | 'calendar'
  | 'sort'
  | 'facets'
  | 'tags'
  | 'pagination';

/** Why a URL looks like a trap. */
export interface Trap {
  readonly rule: TrapRule;
  /** What matched, for `why URL` and the report; at most 80 characters. */
  readonly detail: string;
  /** True: never fetch. False: a suspect, to be fetched last and within an allowance. */
  readonly isCertain: boolean;
}

export interface TrapOptions {
  /** Longest URL in characters. 2,000 is what Heritrix (2,083) and the sitemap protocol (2,048) round to. */
  readonly urlCharsMax: number;
  /** Most path segments. 20: Heritrix `TooManyPathSegmentsDecideRule`. */
  readonly pathSegmentsMax: number;
  /** A segment, or a run of segments on end, seen this often is a trap. 3: StormCrawler `maxPathRepetition`, Nutch's URL filter. */
  readonly repetitionsMax: number;
  /** Most query parameters. */
  readonly parametersMax: number;
  /** Different facets in one query from which on it is a suspect. */
  readonly facetsMax: number;
  /** Tags joined in one segment from which on it is a suspect. */
  readonly tagsMax: number;
  /** Greatest page number of a list. */
  readonly pageNumberMax: number;
  /** First and last year of dates that a page may well have; the last is about next year, given by whoever has a clock. */
  readonly yearMin: number;
  readonly yearMax: number;
}

/**
 * The default bounds.
 * @param yearNow the calendar year; dates after the next one are a calendar that never ends
 */
export function trapOptions(yearNow: number): TrapOptions {
  return {
    urlCharsMax: 2000,
    pathSegmentsMax: 20,
    repetitionsMax: 3,
    parametersMax: 32,
    facetsMax: 2,
    tagsMax: 3,
    pageNumberMax: 1000,
    yearMin: 1970,
    yearMax: yearNow + 1,
  };
}

interface Parameter {
  readonly name: string;
  readonly value: string;
}

const DETAIL_CHARS_MAX = 80;
const certain = (rule: TrapRule, detail: string): Trap => ({
  rule,
  detail: detail.slice(0, DETAIL_CHARS_MAX),
  isCertain: true,
});
const suspect = (rule: TrapRule, detail: string): Trap => ({
  rule,
  detail: detail.slice(0, DETAIL_CHARS_MAX),
  isCertain: false,
});

/**
 * Judges one URL by its shape.
 *
 * @param url a canonical URL
 * @param options the bounds (`trapOptions`)
 * @returns the first rule that matches, certain ones first; undefined for an ordinary URL. Never throws.
 */
export function trapOf(url: string, options: TrapOptions): Trap | undefined {
  if (url.length > options.urlCharsMax) return certain('length', `${url.length} characters`);
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  const question = url.indexOf('?', pathStart);
  const path = url.slice(pathStart + 1, question === -1 ? url.length : question);
  const segments = path.length === 0 ? [] : path.split('/');
  if (segments.length > 1 && segments[segments.length - 1] === '') segments.pop();
  if (segments.length > options.pathSegmentsMax) {
    return certain('depth', `${segments.length} path segments`);
  }
  const found =
    repeatingSegments(segments, options) ??
    hostInPath(url, pathStart, segments) ??
    tags(segments, options);
  if (found !== undefined) return found;
  const parameters = question === -1 ? [] : parametersOf(url.slice(question + 1));
  if (parameters.length > options.parametersMax) {
    return certain('parameters', `${parameters.length} parameters`);
  }
  return (
    calendar(segments, parameters, options) ??
    facets(parameters, options) ??
    sort(parameters) ??
    pagination(parameters, options)
  );
}

/** Names lower-case, brackets of arrays opened; `&` and `;` part (mod_autoindex), as do `][` and `,,` of home-made filters. */
function parametersOf(query: string): Parameter[] {
  const parameters: Parameter[] = [];
  for (const part of query.toLowerCase().split(/[&;]|\]\[|,,/)) {
    if (part.length === 0) continue;
    const match = /^\[?([^=:,]*)[=:,]?(.*?)\]?$/.exec(part);
    const written = match?.[1] ?? part;
    // `filter[color]=red`, `filter%5Bcolor%5D=red`: the name inside tells more than the name before it.
    const inner = /^[^[%]+(?:\[|%5b)([^[\]%]+)(?:\]|%5d)?$/.exec(written)?.[1];
    parameters.push({ name: inner ?? written, value: match?.[2] ?? '' });
  }
  return parameters;
}

function repeatingSegments(segments: readonly string[], options: TrapOptions): Trap | undefined {
  if (segments.length < options.repetitionsMax) return undefined;
  // At most `pathSegmentsMax` of them: comparing each with all is faster than a table.
  for (const segment of segments) {
    let count = 0;
    for (const other of segments) if (other === segment) count += 1;
    // Short numbers repeat in dates and ids: /2011/11/11.
    if (count < options.repetitionsMax || /^\d{0,4}$/.test(segment)) continue;
    return certain('repeating-segments', `${segment} ${count} times`);
  }
  return repeatingRun(segments, options);
}

/** A run of segments on end, `1/2/1/2/1/2`: also of numbers and empty ones. Bounded by `pathSegmentsMax` squared. */
function repeatingRun(segments: readonly string[], options: TrapOptions): Trap | undefined {
  // Numbers alone need one more round before they are no date.
  const rounds = options.repetitionsMax + 1;
  for (let period = 1; period * rounds <= segments.length; period += 1) {
    let equal = 0;
    for (let at = period; at < segments.length; at += 1) {
      equal = segments[at] === segments[at - period] ? equal + 1 : 0;
      if (equal >= period * (rounds - 1)) {
        const run = segments.slice(at + 1 - period, at + 1).join('/');
        return certain('repeating-segments', `${run} ${rounds} times on end`);
      }
    }
  }
  return undefined;
}

/** A link that lacks its scheme: `href="www.example.com/a"` on www.example.com, followed again and again. */
function hostInPath(url: string, pathStart: number, segments: readonly string[]): Trap | undefined {
  const host = url.slice(url.indexOf('//') + 2, pathStart);
  // A name with a dot: `localhost/localhost` may be a page. The first segment may be one too (an archive, a proxy) …
  if (!host.includes('.')) return undefined;
  let seen = 0;
  for (const segment of segments) {
    if (segment === host) seen += 1;
  }
  // … and even a second one; a third repeats and is certain by its rule.
  return seen > 0 ? suspect('host-in-path', `${host} in its own path`) : undefined;
}

function tags(segments: readonly string[], options: TrapOptions): Trap | undefined {
  for (let at = 1; at < segments.length; at += 1) {
    const segment = segments[at] as string;
    if (!/[+,%]/.test(segment)) continue;
    if (!TAXONOMY_WORDS.has((segments[at - 1] as string).toLowerCase())) continue;
    const joined = segment.split(/[+,]|%2b|%2c|%20/i).length;
    if (joined >= options.tagsMax) return suspect('tags', `${joined} tags: ${segment}`);
  }
  return undefined;
}

function calendar(
  segments: readonly string[],
  parameters: readonly Parameter[],
  options: TrapOptions,
): Trap | undefined {
  // Most URLs show no date, and this runs for every new link.
  const hasDate = segments.some(isDate) || parameters.some(({ value }) => isDate(value));
  if (!hasDate) return undefined;
  const words = segments.map((segment) => segment.toLowerCase());
  let isCalendar = words.some((word) => CALENDAR_WORDS.has(word));
  let date: number | undefined;
  for (const { name, value } of parameters) {
    if (CALENDAR_WORDS.has(value)) isCalendar = true;
    if (!DATE_NAME.test(name)) continue;
    const year = yearOf(value);
    if (year === undefined) continue;
    if (CALENDAR_WORDS.has(name) || name.startsWith('tribe')) isCalendar = true;
    if (isOutside(year, options)) return suspect('calendar', `${name}=${value}`);
    date = year;
  }
  for (const [at, word] of words.entries()) {
    const year = yearOf(word);
    if (year === undefined) continue;
    // A bare number is a year only when a month follows or the path speaks of time; else it may be any id.
    const isYear = word.length > 4 || isCalendar || /^(?:0[1-9]|1[0-2])$/.test(words[at + 1] ?? '');
    if (!isYear) continue;
    if (isOutside(year, options)) return suspect('calendar', words.slice(at, at + 3).join('/'));
    // A dated article has a name behind its date; a calendar page ends with it.
    if (words.slice(at + 1).every((rest) => /^\d{1,2}$/.test(rest))) date = year;
  }
  return isCalendar && date !== undefined ? suspect('calendar', `a view of ${date}`) : undefined;
}

const DATE = /^\d{4}(?:[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?)?(?:t.*)?$/i;

/** True for `2031`, `2031-07`, `2031-07-01`, `20310701` and their like. */
function isDate(text: string): boolean {
  return DATE.test(text);
}

/** The year of a date; undefined for anything else. */
function yearOf(text: string): number | undefined {
  return isDate(text) ? Number(text.slice(0, 4)) : undefined;
}

function isOutside(year: number, options: TrapOptions): boolean {
  return year < options.yearMin || year > options.yearMax;
}

function facets(parameters: readonly Parameter[], options: TrapOptions): Trap | undefined {
  const names = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of parameters) {
    if (!FACET_NAMES.has(name)) continue;
    if (names.has(name)) repeated.add(name);
    names.add(name);
  }
  if (names.size >= options.facetsMax) return suspect('facets', [...names].join(' × '));
  // The same facet twice: values are collected, and their subsets are endless.
  return repeated.size > 0 ? suspect('facets', `${[...repeated][0]} repeated`) : undefined;
}

function sort(parameters: readonly Parameter[]): Trap | undefined {
  let column = false;
  let order = false;
  for (const { name, value } of parameters) {
    if (SORT_NAMES.has(name) || SORT_VALUES.get(name)?.test(value) === true) {
      return suspect('sort', `${name}=${value}`);
    }
    // Apache mod_autoindex: ?C=N;O=D (column Name, Modified, Size, Description; order Ascending, Descending).
    if (name === 'c' && /^[nmsd]$/.test(value)) column = true;
    if (name === 'o' && /^[ad]$/.test(value)) order = true;
  }
  return column && order ? suspect('sort', 'mod_autoindex') : undefined;
}

function pagination(parameters: readonly Parameter[], options: TrapOptions): Trap | undefined {
  for (const { name, value } of parameters) {
    if (!/^\d{1,15}$/.test(value)) continue;
    const limit = PAGE_NAMES.has(name)
      ? options.pageNumberMax
      : OFFSET_NAMES.has(name)
        ? options.pageNumberMax * 100
        : undefined;
    if (limit !== undefined && Number(value) > limit)
      return suspect('pagination', `${name}=${value}`);
  }
  return undefined;
}
