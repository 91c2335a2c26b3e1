// The answer to `why URL` as the debug socket gives it (DESIGN.md §10): the trace of explain-url.ts, told in the order of the twelve steps.

import { PARKED } from '../actors/rows.ts';
import type { VisitState } from '../domain/recrawl.ts';
import type { Decision, UrlReport } from '../ops/reports.ts';
import { parkingText } from './explain-parking.ts';
import { renderingRows } from './explain-rendering.ts';
import type { WhyAnswer, WhyPage, WhyTrace } from './explain-url.ts';
import { fetchLine, type LiveHost, waitsOf } from './host-report.ts';

/** @param live what the host's own thread says of it; undefined when the host is unknown there or its thread does not answer */
export function urlReport(
  { url, answer, trace }: WhyAnswer,
  live: LiveHost | undefined,
): UrlReport {
  if (trace === undefined) {
    return { input: url, canonical: undefined, verdict: answer, decisions: [], fetches: [] };
  }
  return {
    input: url,
    canonical: trace.canonical,
    verdict: answer,
    decisions: [...decisionsOf(trace), ...liveDecisions(live)].sort((a, b) => a.step - b.step),
    fetches: trace.attempts.map(fetchLine).reverse(),
  };
}

function decisionsOf(trace: WhyTrace): Decision[] {
  return [
    step(1, 'canonical form', trace.canonical, trace.steps.join(', ')),
    step(2, 'owner', `partition ${trace.partition}, thread ${trace.thread}`, trace.host),
    step(4, 'seen before', trace.seen ? 'yes' : 'no', `key ${trace.urlKey}, exact`),
    ...ruleDecisions(trace),
    ...queueDecisions(trace),
    ...(trace.page === undefined ? [] : pageDecisions(trace.page)),
    ...renderingRows(trace.rendering, undefined).map(([what, result]) =>
      step(11, what, result, ''),
    ),
  ];
}

/** What only memory knows: addresses, what is in flight, what the host waits for. */
function liveDecisions(live: LiveHost | undefined): Decision[] {
  const state = live?.state;
  if (live === undefined || state === undefined) return [];
  const { addresses, addressesExpireMs, queued } = state;
  const holds = `held for ${Math.round(Math.max(addressesExpireMs - live.nowMs, 0) / 1_000)} s`;
  const known = addresses.length === 0 ? ['none known', ''] : [addresses.join(', '), holds];
  const nextInMs = Math.max(state.nextFetchMs - live.nowMs, 0);
  const waits = waitsOf(live, queued, nextInMs).join('; ') || 'nothing';
  return [
    step(8, 'addresses of its host', known[0] ?? '', known[1] ?? ''),
    step(8, 'host waits for', waits, ''),
    step(9, 'in flight at its host', state.inFlight ?? 'nothing', ''),
  ];
}

function ruleDecisions({ scope, optOut, trap, robots, isDenied }: WhyTrace): Decision[] {
  const inside = scope.outside === undefined ? 'inside' : `outside (${scope.outside})`;
  const decisions = [
    step(5, 'scope', inside, `${scope.mode}, ${scope.seeds} seeds`),
    step(5, 'trap rules', trap === undefined ? 'no trap' : trap.rule, trap?.detail ?? ''),
  ];
  if (optOut !== undefined) {
    decisions.push(step(5, 'opt-out', `${optOut.domain} is left alone`, optOut.listedIn));
  }
  if (robots === undefined) return [...decisions, step(5, 'robots.txt', 'not fetched yet', '')];
  const { verdict } = robots;
  const result = verdict === undefined ? 'unreachable' : verdict.allowed ? 'allowed' : 'disallowed';
  const rule = verdict?.rule === undefined ? 'no line' : `line ${verdict.line}: ${verdict.rule}`;
  const read = `read ${time(robots.fetchedAt)}, status ${robots.status}`;
  decisions.push(step(5, 'robots.txt', result, `${rule}; ${read}`));
  if (isDenied) decisions.push(step(5, 'denied', 'lies aside', 'until the robots rules change'));
  return decisions;
}

function queueDecisions({ queue, parking, hostState }: WhyTrace): Decision[] {
  const decisions: Decision[] = [];
  if (parking !== undefined) decisions.push(step(5, 'budget', 'parked', parkingText(parking)));
  if (queue !== undefined) {
    const { depth, attempts } = queue.entry;
    const place = `${queue.ahead} of ${queue.bandLength} before it`;
    const lane = queue.band === PARKED ? 'parked' : `Q${queue.band + 1}`;
    decisions.push(step(6, 'band', lane, `depth ${depth}, ${attempts} failed attempts`));
    decisions.push(step(7, 'place in its queue', place, ''));
  }
  if (hostState === undefined) return decisions;
  const { minGapMs, crawlDelayMs, latencyFactor, responseMs, penalty } = hostState.gapParts;
  const parts =
    `max(${minGapMs} ms, Crawl-delay ${crawlDelayMs} ms, ${latencyFactor} × ` +
    `${Math.round(responseMs)} ms) × ${penalty.toFixed(2)}`;
  const next = hostState.lastEndedAt === 0 ? 'never asked' : time(hostState.nextAllowedAt);
  const failures = `${hostState.failuresInRow} failures in a row`;
  decisions.push(step(8, 'gap of its host', `${Math.round(hostState.gapMs)} ms`, parts));
  decisions.push(step(8, 'host may be asked from', next, failures));
  return decisions;
}

function pageDecisions(page: WhyPage): Decision[] {
  const result = page.failure ?? `status ${page.status}`;
  const decisions = [step(9, 'last outcome', result, time(page.fetchedAt))];
  if (page.redirectTo !== undefined) decisions.push(step(9, 'redirect', page.redirectTo, ''));
  if (page.record !== undefined) {
    const { name, offset } = page.record;
    decisions.push(step(10, 'stored', `${page.bodyBytes} bytes`, `${name} at byte ${offset}`));
  }
  if (page.contentDigest !== '') decisions.push(step(10, 'digest', page.contentDigest, 'sha1'));
  const twin = page.duplicateOf ?? page.sameBodyAs;
  if (twin !== undefined) decisions.push(step(10, 'duplicate of', twin, 'the same body'));
  if (page.nearDuplicateOf !== undefined) {
    const because = `simhash ${page.simhash ?? ''}`;
    decisions.push(step(11, 'nearly the text of', page.nearDuplicateOf, because));
  }
  const followed = page.awaitsParsing ? 'not yet' : 'yes';
  decisions.push(step(12, 'links followed', followed, ''));
  return page.visit === undefined ? decisions : [...decisions, ...visitDecisions(page.visit)];
}

function step(number: number, what: string, result: string, because: string): Decision {
  return { step: number, what, result, because };
}

function visitDecisions({ dueAt, intervalMs, changed, unchanged, missed }: VisitState): Decision[] {
  const due = dueAt === 0 ? 'never again' : time(dueAt);
  const hours = (intervalMs / 3_600_000).toFixed(1);
  const because = `every ${hours} h; since that was set ${changed} visits found a change, ${unchanged} none; ${missed} in a row found nothing`;
  return [step(12, 'next visit', due, because)];
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
