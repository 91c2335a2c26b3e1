// One question to one robots.txt, answered with its reasons: what `robots test` prints (DESIGN.md §9), step 5 in small.
//
// It runs the very parser, selection and matcher the crawl uses, so that its answer is the crawl's answer.
import { matchRobots } from './robots-matcher.ts';
import { parseRobots, type RequestRate } from './robots-parser.ts';
import { absoluteSitemaps, selectRules } from './robots-rules.ts';
import { ROBOTS_BYTES_LEAST } from './robots-text.ts';
import { governs } from './robots-url.ts';

/** The answer. Absent fields do not apply. */
export interface RobotsTestResult {
  /** Null when no URL was given, or when the file has no say over it. */
  readonly allowed: boolean | null;
  /** False when `robotsUrl` is of another origin than `url`. */
  readonly governed: boolean;
  /** The deciding line, from 1, and its text; absent when no rule matched. */
  readonly line?: number;
  readonly rule?: string;
  /** Seconds; null when none is set. */
  readonly crawlDelay: number | null;
  readonly requestRate?: RequestRate;
  /** The group that binds the agent; `''` when none does. */
  readonly group: string;
  /** Absolute URLs, in order. */
  readonly sitemaps: readonly string[];
}

/**
 * Asks a file about a URL. Never throws.
 * @param question.robotsTxt bytes of the file
 * @param question.userAgent product token or whole User-Agent
 * @param question.url absolute URL; when absent only group, delay and sitemaps are answered
 * @param question.robotsUrl where the file came from; the origin of `url` when absent
 */
export function testRobots(question: {
  readonly robotsTxt: Uint8Array;
  readonly userAgent: string;
  readonly url?: string;
  readonly robotsUrl?: string;
}): RobotsTestResult {
  const { robotsTxt, userAgent, url, robotsUrl } = question;
  const rules = selectRules(parseRobots(robotsTxt, { bytesMax: ROBOTS_BYTES_LEAST }), userAgent);
  const governed = url === undefined || robotsUrl === undefined || governs(robotsUrl, url);
  const verdict = url !== undefined && governed ? matchRobots(rules, url) : undefined;
  return {
    allowed: verdict?.allowed ?? null,
    governed,
    ...(verdict?.line === undefined ? {} : { line: verdict.line }),
    ...(verdict?.rule === undefined ? {} : { rule: verdict.rule }),
    crawlDelay: rules.crawlDelaySeconds ?? null,
    ...(rules.requestRate === undefined ? {} : { requestRate: rules.requestRate }),
    group: rules.group,
    sitemaps: absoluteSitemaps(rules.sitemaps, robotsUrl ?? url),
  };
}
