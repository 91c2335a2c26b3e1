// The answer to `why URL` as the debug socket gives it (DESIGN.md §10): the trace of explain-url.ts, told in the order of the twelve steps.

import type { Decision, FetchLine, UrlReport } from '../ops/reports.ts';
import type { WhyAnswer, WhyTrace } from './explain-url.ts';

export function urlReport({ url, answer, trace }: WhyAnswer): UrlReport {
  if (trace === undefined) {
    return { input: url, canonical: undefined, verdict: answer, decisions: [], fetches: [] };
  }
  return {
    input: url,
    canonical: trace.canonical,
    verdict: answer,
    decisions: decisionsOf(trace),
    fetches: fetchesOf(trace),
  };
}

function decisionsOf(trace: WhyTrace): Decision[] {
  const { scope, trap, robots, queue, hostState } = trace;
  const decisions: Decision[] = [
    step(1, 'canonical form', trace.canonical, trace.steps.join(', ')),
    step(2, 'owner', `partition ${trace.partition}, thread ${trace.thread}`, trace.host),
    step(4, 'seen before', trace.seen ? 'yes' : 'no', `key ${trace.urlKey}`),
    step(
      5,
      'scope',
      scope.outside === undefined ? 'inside' : `outside (${scope.outside})`,
      scope.mode,
    ),
    step(5, 'trap rules', trap === undefined ? 'no trap' : trap.rule, trap?.detail ?? ''),
  ];
  if (robots === undefined) decisions.push(step(5, 'robots.txt', 'not fetched yet', ''));
  else {
    const { verdict } = robots;
    const result =
      verdict === undefined ? 'unreachable' : verdict.allowed ? 'allowed' : 'disallowed';
    const rule = verdict?.rule === undefined ? '' : `line ${verdict.line}: ${verdict.rule}`;
    decisions.push(step(5, 'robots.txt', result, rule));
  }
  if (queue !== undefined) {
    decisions.push(
      step(
        7,
        'queue',
        `band ${queue.band + 1}, ${queue.ahead} of ${queue.bandLength} before it`,
        '',
      ),
    );
  }
  if (hostState !== undefined) {
    const parts = Object.entries(hostState.gapParts).map(([name, value]) => `${name} ${value}`);
    decisions.push(
      step(8, 'gap of its host', `${Math.round(hostState.gapMs)} ms`, parts.join(', ')),
    );
  }
  return decisions;
}

function step(number: number, what: string, result: string, because: string): Decision {
  return { step: number, what, result, because };
}

function fetchesOf({ attempts }: WhyTrace): FetchLine[] {
  return attempts.map(({ startedAt, endedAt, url, status, failure }) => ({
    at: startedAt,
    url,
    status,
    failure,
    bytes: 0,
    responseMs: endedAt - startedAt,
  }));
}
