// The answer of the shipped web to one request, as a pure function of the request and the time: status, headers, body and how it
// travels (late, slowly, cut short, never). Both the socket server and the simulator carry out what is said here; neither adds chance
// of its own. The order of the checks is the order in which a real host would fail: machine, robots, overload, resource, transfer.
import { gzipSync } from 'node:zlib';
import { fraction, mix, SALT } from './hash.ts';
import { type RobotsPlan, robotsPlan, robotsText } from './robots-model.ts';
import { canAnswer, type HostProfile, hostIndex, hostOrigin, hostProfile } from './world-host.ts';
import { contentPage } from './world-link.ts';
import type { WorldOptions } from './world-options.ts';
import { pageHtml, pageVersion } from './world-page.ts';
import { canonicalPath, OUTSIDE, type Redirect, resourceAt } from './world-path.ts';

/** One request as the wire shows it. */
export interface WorldRequest {
  /** Host name without port. */
  readonly host: string;
  /** Path and query as sent. */
  readonly path: string;
  /** Time of the world, ms ≥ 0. */
  readonly atMs: number;
  readonly userAgent: string;
  /** Which try of this URL it is, from 0; only flaky answers depend on it. Default 0. */
  readonly attempt?: number;
  readonly ifNoneMatch?: string;
  /** True when the client accepts gzip. */
  readonly acceptsGzip?: boolean;
}

/**
 * How an answer travels.
 * `normal`: after `delayMs` all at once. `slow-body`: head after `delayMs`, body evenly over `bodyMs`. `reset`: connection reset before
 * any byte. `reset-in-body`: head and half of the body, then a reset. `short-body`: Content-Length of the whole, half of the body, then
 * an orderly end. `mute`: nothing, ever. `endless-body`: head without length, then the body again and again as long as somebody reads.
 */
export type Behaviour =
  | 'normal'
  | 'slow-body'
  | 'reset'
  | 'reset-in-body'
  | 'short-body'
  | 'mute'
  | 'endless-body';

/** One answer. `headers` lack Content-Length, Connection and Date, which belong to the transport. */
export interface WorldResponse {
  /** 0 when no head is sent. */
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly behaviour: Behaviour;
  /** From the request's last byte to the head, ms. */
  readonly delayMs: number;
  /** From the head to the last byte, ms; 0 unless `slow-body`. */
  readonly bodyMs: number;
  /** The server closes the connection after this answer and says so. */
  readonly closes: boolean;
}

const ENDLESS = `<p>${'and so on '.repeat(6000)}\n`;
const NOTHING = new Uint8Array(0);
const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;

/** The answer to a request. Never throws, whatever the request holds. */
export function respond(options: WorldOptions, request: WorldRequest): WorldResponse {
  const index = hostIndex(options, request.host);
  if (index < 0) return say(421, [], 'no such host\n');
  const host = hostProfile(options, index);
  const { health } = host;
  if (health === 'broken') return silence('reset');
  if (!canAnswer(health)) return silence('mute');
  const answer = healthyAnswer(options, host, request);
  return answer.behaviour === 'mute' ? answer : timed(options, host, request, answer);
}

/** What Retry-After says. */
export interface RetryAfter {
  /** Whole seconds, in ms; 0 when there is no such header. */
  readonly waitMs: number;
  /** Written as a date, which loses up to a second. */
  readonly asDate: boolean;
}

/** The wait a host asks for at a time of the world; null outside its error windows. */
export function retryAfter(
  options: WorldOptions,
  host: HostProfile,
  atMs: number,
): RetryAfter | null {
  if (options.features.errorsByTime === 0) return null;
  const window = Math.floor(atMs / options.errorWindowMs);
  const hash = mix(options.seed, SALT.errorWindow, host.index, window);
  if (fraction(hash) >= options.features.errorsByTime) return null;
  if (hash % 4 === 0) return { waitMs: 0, asDate: false };
  const remainingMs = (window + 1) * options.errorWindowMs - atMs;
  return { waitMs: Math.ceil(remainingMs / 1000) * 1000, asDate: hash % 4 === 1 };
}

function healthyAnswer(
  options: WorldOptions,
  host: HostProfile,
  request: WorldRequest,
): WorldResponse {
  const robots = robotsAnswer(options, host, request);
  if (robots !== null) return robots;
  const overloaded = overload(options, host, request.atMs);
  if (overloaded !== null) return overloaded;
  const canonical = canonicalPath(request.path);
  const resource = resourceAt(options, host, canonical);
  switch (resource.kind) {
    case 'page':
      return pageAnswer(options, host, resource.page, request);
    case 'redirect':
      return redirectAnswer(options, resource.redirect);
    case 'gone':
      return say(resource.status, [HTML], `<h1>${resource.status}</h1>\n`);
    case 'trap': {
      if (resource.endless) return { ...say(200, [HTML], ENDLESS), behaviour: 'endless-body' };
      const links = resource.links.map((path) => `<a href="${path}">on</a>`).join('\n');
      return say(200, [HTML], `<title>${canonical}</title><p>Of ${canonical}:\n${links}\n`);
    }
  }
}

/** The answer for robots.txt and the places its redirects lead to; null for any other path. */
function robotsAnswer(
  options: WorldOptions,
  host: HostProfile,
  { path, atMs }: WorldRequest,
): WorldResponse | null {
  if (!path.startsWith('/robots')) return null;
  const plan = robotsPlan(options, host, atMs);
  if (path === '/robots.txt') {
    if (plan.kind === 'redirect') {
      const location = `${hostOrigin(options, plan.host)}${plan.path}`;
      return say(301, [['Location', location]], '');
    }
    return planAnswer(options, host, plan, atMs);
  }
  const served = robotsServedAt(options, host, path, atMs);
  if (served === null) return null;
  return robotsFile(options, served, robotsPlan(options, served, atMs));
}

/**
 * Whose rules a host serves at a path other than /robots.txt: its own when it redirects there, or those of a host that redirects here.
 * @returns null when the path is no such place
 */
export function robotsServedAt(
  options: WorldOptions,
  host: HostProfile,
  path: string,
  atMs: number,
): HostProfile | null {
  const named = /^\/robots-for-(.+)\.txt$/.exec(path)?.[1];
  if (named === undefined && path !== '/robots-rules.txt') return null;
  const index = named === undefined ? host.index : hostIndex(options, named);
  if (index < 0) return null;
  const owner = hostProfile(options, index);
  const plan = robotsPlan(options, owner, atMs);
  const leadsHere = plan.kind === 'redirect' && plan.host === host.index && plan.path === path;
  return leadsHere ? owner : null;
}

function planAnswer(
  options: WorldOptions,
  host: HostProfile,
  plan: RobotsPlan,
  atMs: number,
): WorldResponse {
  switch (plan.kind) {
    case 'mute':
      return silence('mute');
    case 'status':
      return say(plan.status, [['Content-Type', 'text/plain']], 'not here\n');
    case 'late':
      if (atMs < options.robotsLateMs) return say(503, [], 'starting\n');
      return robotsFile(options, host, plan);
    default:
      return robotsFile(options, host, plan);
  }
}

function robotsFile(options: WorldOptions, host: HostProfile, plan: RobotsPlan): WorldResponse {
  const groups = 'groups' in plan ? plan.groups : [];
  return say(200, [['Content-Type', 'text/plain']], robotsText(options, host, groups));
}

function overload(options: WorldOptions, host: HostProfile, atMs: number): WorldResponse | null {
  const asked = retryAfter(options, host, atMs);
  if (asked === null) return null;
  const { waitMs, asDate } = asked;
  const date = new Date(options.epochMs + atMs + waitMs).toUTCString();
  const value = asDate ? date : String(waitMs / 1000);
  const status = mix(options.seed, SALT.errorWindow, host.index, -1) & 1 ? 429 : 503;
  return say(status, waitMs > 0 ? [['Retry-After', value]] : [], 'later\n');
}

function redirectAnswer(options: WorldOptions, redirect: Redirect): WorldResponse {
  const origin = redirect.host < 0 ? OUTSIDE : hostOrigin(options, redirect.host);
  const location = redirect.absolute ? origin + redirect.path : redirect.path;
  return say(redirect.status, [['Location', location], HTML], 'moved\n');
}

function pageAnswer(
  options: WorldOptions,
  host: HostProfile,
  page: number,
  request: WorldRequest,
): WorldResponse {
  const { seed, epochMs, features } = options;
  const { version, sinceMs } = pageVersion(options, host, page, request.atMs);
  const content = contentPage(options, host, page);
  const etag = `"${mix(seed, SALT.text, host.source, content).toString(16)}-${version}"`;
  const headers: [string, string][] = [
    [...HTML],
    ['ETag', etag],
    ['Last-Modified', new Date(epochMs + sinceMs).toUTCString()],
  ];
  if (request.ifNoneMatch === etag) return say(304, headers, '');
  const html = pageHtml(options, host, page, version);
  const compresses = fraction(mix(seed, SALT.compress, host.source)) < features.compressed;
  if (!compresses || request.acceptsGzip !== true) return sayBytes(200, headers, html);
  headers.push(['Content-Encoding', 'gzip'], ['Vary', 'Accept-Encoding']);
  return sayBytes(200, headers, gzipSync(html, { level: 1 }));
}

/** Adds the host's latency and, for flaky answers, the accident. */
function timed(
  options: WorldOptions,
  host: HostProfile,
  request: WorldRequest,
  answer: WorldResponse,
): WorldResponse {
  const { seed, features, latencyMs, slowMs, errorWindowMs } = options;
  const window = Math.floor(request.atMs / errorWindowMs);
  const path = hashText(request.path);
  const draw = mix(seed, SALT.latency, host.index, path);
  const slow = host.health === 'slow';
  const [low, high] = slow ? slowMs : latencyMs;
  const delayMs = low + (high - low) * fraction(draw);
  const accident = mix(mix(seed, SALT.flaky, path, window), host.index, request.attempt ?? 0);
  if (answer.status === 200 && fraction(accident) < features.flaky) {
    const kinds = ['reset', 'reset-in-body', 'short-body'] as const;
    const behaviour = kinds[accident % 3] ?? 'reset';
    if (behaviour === 'reset') return { ...silence('reset'), delayMs };
    return { ...answer, behaviour, delayMs };
  }
  if (slow && answer.body.length > 0) {
    return { ...answer, behaviour: 'slow-body', delayMs, bodyMs: delayMs };
  }
  const closes = fraction(mix(draw, SALT.closing, window)) < features.closing;
  return delayMs === 0 && !closes ? answer : { ...answer, delayMs, closes };
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

function say(status: number, headers: WorldResponse['headers'], text: string): WorldResponse {
  return sayBytes(status, headers, text === '' ? NOTHING : Buffer.from(text));
}

function sayBytes(
  status: number,
  headers: WorldResponse['headers'],
  body: Uint8Array,
): WorldResponse {
  return { status, headers, body, behaviour: 'normal', delayMs: 0, bodyMs: 0, closes: false };
}

function silence(behaviour: 'reset' | 'mute'): WorldResponse {
  return { status: 0, headers: [], body: NOTHING, behaviour, delayMs: 0, bodyMs: 0, closes: false };
}
