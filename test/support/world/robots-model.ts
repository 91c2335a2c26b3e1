// The robots rules of the shipped web as a structure, from which robots.txt is written and by which the truth is told. Since the truth
// comes from the structure and never from the text, no parser stands between a crawler and its judge.
// Matching is RFC 9309 §2.2.2 in its plainest form: the longest pattern that matches wins, allow wins a tie, `*` and a final `$` are
// special, percent-escapes are compared after normalisation. It knows nothing of src/domain, on purpose.
import { choose, fraction, mix, SALT } from './hash.ts';
import { canAnswer, type HostProfile, hostName, hostOrigin, hostProfile } from './world-host.ts';
import type { WorldOptions } from './world-options.ts';
import { normalizeEscapes } from './world-path.ts';

/** One Allow or Disallow line. */
export interface RobotsLine {
  readonly allow: boolean;
  /** As written in the file; may hold `*` and end in `$`. */
  readonly pattern: string;
}

/** One group of a file: the agents it is for and its lines. */
export interface RobotsGroup {
  /** Product tokens in lower case, or `*`. */
  readonly agents: readonly string[];
  readonly lines: readonly RobotsLine[];
  readonly crawlDelaySeconds: number | null;
}

/** How a host answers for its robots.txt. */
export type RobotsPlan =
  | { readonly kind: 'rules'; readonly groups: readonly RobotsGroup[] }
  | { readonly kind: 'late'; readonly groups: readonly RobotsGroup[] }
  | {
      readonly kind: 'redirect';
      readonly groups: readonly RobotsGroup[];
      readonly host: number;
      readonly path: string;
    }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'mute' };

const ALL = '*';

/** The plan of a host at a time of the world (only hosts with changing rules depend on the time). */
export function robotsPlan(options: WorldOptions, host: HostProfile, atMs: number): RobotsPlan {
  const hash = mix(options.seed, SALT.robots, host.source);
  const { robots, robotsTrouble } = options.features;
  const kind = choose(
    fraction(hash),
    [
      [robotsTrouble, 'trouble'],
      [robots, 'rules'],
    ],
    'none',
  );
  if (kind === 'none') {
    return hash % 2 === 0 ? { kind: 'status', status: 404 } : { kind: 'rules', groups: [] };
  }
  const groups = robotsGroups(options, host, atMs);
  if (kind === 'rules') return { kind, groups };
  switch (hash % 8) {
    case 0:
      return { kind: 'status', status: 403 };
    case 1:
      return { kind: 'status', status: 500 };
    case 2:
      return { kind: 'mute' };
    case 3:
    case 4:
      return { kind: 'late', groups };
    default:
      return { kind: 'redirect', groups, ...redirectTarget(options, host, hash) };
  }
}

/**
 * Where a redirected robots.txt stands: a path of the same host, or of the host two further when that one answers.
 * Two, since the next one may be the mirror that shares the plan.
 */
function redirectTarget(options: WorldOptions, host: HostProfile, hash: number) {
  const other = (host.source + 2) % options.hosts;
  const crosses = hash % 8 === 7 && canAnswer(hostProfile(options, other).health);
  return crosses
    ? { host: other, path: `/robots-for-${hostName(options, host.source)}.txt` }
    : { host: host.index, path: '/robots-rules.txt' };
}

function robotsGroups(options: WorldOptions, host: HostProfile, atMs: number): RobotsGroup[] {
  const { seed, features, robotsPeriodMs, crawlDelaySeconds } = options;
  const hash = mix(seed, SALT.robotsForm, host.source);
  const changes = fraction(mix(seed, SALT.robotsVersion, host.source)) < features.robotsChanges;
  const version = changes ? Math.floor(atMs / robotsPeriodMs) : 0;
  const form = ((hash >>> 4) + version) % FORMS.length;
  const delay = mix(seed, SALT.crawlDelay, host.source);
  const [low, high] = crawlDelaySeconds;
  const seconds = Math.round((low + (high - low) * fraction(mix(seed, delay, 1))) * 10) / 10;
  const crawlDelay = fraction(delay) < features.crawlDelays ? seconds : null;
  return (FORMS[form] ?? FORMS[0])(crawlDelay);
}

const disallow = (...patterns: string[]): RobotsLine[] =>
  patterns.map((pattern) => ({ allow: false, pattern }));
const allow = (...patterns: string[]): RobotsLine[] =>
  patterns.map((pattern) => ({ allow: true, pattern }));
const group = (
  agents: readonly string[],
  lines: readonly RobotsLine[],
  crawlDelaySeconds: number | null = null,
): RobotsGroup => ({ agents, lines, crawlDelaySeconds });

type Form = (crawlDelaySeconds: number | null) => RobotsGroup[];
const FORMS: readonly [Form, ...Form[]] = [
  (delay) => [group([ALL], disallow('/private/', '/docs/drafts/'), delay)],
  // Longest match, an Allow inside a Disallow, a wildcard in the middle and at the end.
  (delay) => [
    group(
      [ALL],
      [
        ...disallow('/private/', '/docs/*-*3.html', '/*?*view=r'),
        ...allow('/private/a', '/docs/drafts/'),
      ],
      delay,
    ),
  ],
  // Our own group replaces the one for everybody; the same agent in two groups has both.
  (delay) => [
    group(['hostler'], disallow('/news/a', '/private/'), delay),
    group([ALL], disallow('/')),
    group(['otherbot', 'hostler'], disallow('/wiki/', '/*9$')),
  ],
  // Everything closed but what is opened; an anchored pattern.
  (delay) => [
    group(
      [ALL],
      [...disallow('/'), ...allow('/$', '/docs/', '/news/', '/list', '/go/', '/item/*5$')],
      delay,
    ),
  ],
  // Others are shut out, we are not; an empty Disallow means nothing is disallowed.
  (delay) => [
    group(['otherbot', 'slowbot'], disallow('/')),
    group([ALL], [...disallow('', '/caf%c3%a9/a', '/~'), ...allow('/%7Efern/')], delay),
  ],
  // A spelling with a tracking parameter or a session is closed, the plain spelling is open.
  (delay) => [
    group([ALL], disallow('/*utm_', '/cart', '/calendar/', '/deep/', '/out/', '/private/'), delay),
  ],
];

/** The groups that speak to a product token: its own ones, else those for `*` (RFC 9309 §2.2.1). */
export function groupsFor(groups: readonly RobotsGroup[], token: string): RobotsGroup[] {
  const own = groups.filter((one) => one.agents.includes(token));
  return own.length > 0 ? own : groups.filter((one) => one.agents.includes(ALL));
}

/** `hostler` out of `hostler/0.1 (+mailto:…)`: letters, `-` and `_` up to the first other character, in lower case. */
export function productToken(userAgent: string): string {
  return (/^[a-z_-]+/i.exec(userAgent)?.[0] ?? '').toLowerCase();
}

/** True when the groups allow the path with query as it would be sent. */
export function groupsAllow(
  groups: readonly RobotsGroup[],
  userAgent: string,
  sentPath: string,
): boolean {
  const path = normalizeEscapes(sentPath);
  let best = { length: 0, allow: true };
  for (const { lines } of groupsFor(groups, productToken(userAgent))) {
    for (const line of lines) {
      const pattern = normalizeEscapes(line.pattern);
      const better = pattern.length > best.length || (pattern.length === best.length && line.allow);
      if (pattern !== '' && better && patternMatches(pattern, path)) {
        best = { length: pattern.length, allow: line.allow };
      }
    }
  }
  return best.allow;
}

/** The Crawl-delay for an agent in seconds, the longest when several groups speak to it; null without one. */
export function groupsCrawlDelay(groups: readonly RobotsGroup[], userAgent: string): number | null {
  const delays = groupsFor(groups, productToken(userAgent))
    .map((one) => one.crawlDelaySeconds)
    .filter((delay) => delay !== null);
  return delays.length === 0 ? null : Math.max(...delays);
}

function patternMatches(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith('$');
  const pieces = (anchored ? pattern.slice(0, -1) : pattern).split('*');
  const first = pieces.shift() ?? '';
  if (!path.startsWith(first)) return false;
  let from = first.length;
  const last = pieces.pop();
  for (const piece of pieces) {
    const found = path.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  if (last === undefined) return !anchored || from === path.length;
  if (!anchored) return path.indexOf(last, from) >= 0;
  return path.length - last.length >= from && path.endsWith(last);
}

/**
 * Writes the groups as a robots.txt with the variety of real files: byte order mark, CRLF, comments, lines of unknown meaning, odd case.
 * The variety depends on the host alone and never changes the meaning.
 */
export function robotsText(
  options: WorldOptions,
  host: HostProfile,
  groups: readonly RobotsGroup[],
): string {
  const hash = mix(options.seed, SALT.robotsForm, host.source, 1);
  const end = hash & 1 ? '\r\n' : '\n';
  const title = (name: string) => (hash & 2 ? name : name.toLowerCase());
  const space = hash & 4 ? '' : ' ';
  const lines: string[] = hash & 8 ? ['# rules of this host', ''] : [];
  for (const one of groups) {
    for (const agent of one.agents) lines.push(`${title('User-Agent')}:${space}${agent}`);
    if (one.crawlDelaySeconds !== null) {
      lines.push(`${title('Crawl-Delay')}:${space}${one.crawlDelaySeconds}`);
    }
    if (hash & 16) lines.push('Clean-param: sid /cart', 'nonsense without a colon');
    for (const line of one.lines) {
      const name = title(line.allow ? 'Allow' : 'Disallow');
      lines.push(`${name}:${space}${line.pattern}${hash & 32 ? ' # why' : ''}`);
    }
    if (one.lines.length === 0) lines.push(`${title('Disallow')}:`);
    lines.push('');
  }
  if (hash & 64) lines.push(`Host: ${hostOrigin(options, host.source)}`);
  return (hash & 128 ? '\ufeff' : '') + lines.join(end);
}
