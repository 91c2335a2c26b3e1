// The one sentence that answers `why URL`: the first thing in a URL's life (DESIGN.md §1) that settles what became of it. Pure.

import type { WhyOptOut } from './explain-opt-out.ts';
import { parkingText, type WhyParking } from './explain-parking.ts';
import type { WhyTrace } from './explain-url.ts';

/** What the trace comes to. @param context the wall clock, and the depth beyond which links are not followed */
export function sentenceOf(
  trace: WhyTrace,
  context: { readonly nowMs: number; readonly maxDepth: number | undefined },
): string {
  if (trace.page !== undefined) return pageSentence(trace.page, trace.repeats);
  if (trace.optOut !== undefined) return optOutSentence(trace.optOut);
  if (trace.parking !== undefined) return parkedSentence(trace.parking, trace.repeats);
  if (trace.queue !== undefined) return queueSentence(trace, context.nowMs);
  if (trace.isDenied) {
    return `Not fetched: robots.txt disallows it${ruleText(trace)}; it is looked at again when the rules change.`;
  }
  if (trace.seen) {
    return 'Accepted, and neither waiting nor done in the last commit: it is being fetched now, or was respelled by a redirect.';
  }
  return unseenSentence(trace, context.maxDepth);
}

function pageSentence(page: NonNullable<WhyTrace['page']>, repeats: WhyTrace['repeats']): string {
  const at = new Date(page.fetchedAt).toISOString();
  if (page.failure !== undefined) return `Given up at ${at}: ${page.failure}.`;
  if (page.redirectTo !== undefined) {
    return `Fetched at ${at}: a redirect (${page.status}) to ${page.redirectTo}.`;
  }
  const cut = page.truncated === undefined ? '' : `, cut short (${page.truncated})`;
  const twin = page.duplicateOf ?? page.sameBodyAs;
  const near =
    page.nearDuplicateOf === undefined ? '' : `; nearly the text of ${page.nearDuplicateOf}`;
  const duplicate = twin === undefined ? near : `; the same body as ${twin}`;
  const soft404 =
    repeats?.isSoft404 === true ? '; a soft 404: its host shows it under unrelated paths' : '';
  const parsing = page.awaitsParsing ? '; its links are not followed yet' : '';
  return `Fetched at ${at}: status ${page.status}${cut}${duplicate}${soft404}${parsing}.`;
}

function optOutSentence({ domain, listedIn }: WhyOptOut): string {
  return `Not crawled: the owner of ${domain} asked to be left alone (${listedIn}).`;
}

function parkedSentence(parking: WhyParking, repeats: WhyTrace['repeats']): string {
  const { reviewAt, parked } = parking;
  const review = reviewAt === 0 ? 'later' : `at ${new Date(reviewAt).toISOString()}`;
  const twin = repeats?.twin;
  const why =
    parking.reason === undefined && twin !== undefined
      ? `${twin} is known, and the two origins show the same`
      : parkingText(parking);
  return `Parked, one of ${parked} of its host: ${why}; looked at again ${review}, or when the host has earned more.`;
}

function queueSentence(trace: WhyTrace, nowMs: number): string {
  const { queue, hostState, robots } = trace;
  if (queue === undefined) return '';
  const place = `Waits in band Q${queue.band + 1} of its host, ${queue.ahead} of ${queue.bandLength} before it`;
  if (robots !== undefined && robots.decision === 'disallow-all') {
    const until = new Date(robots.expiresAt).toISOString();
    return `${place}; nothing is fetched from ${robots.origin} while its robots.txt is unreachable (asked again at ${until}).`;
  }
  if (hostState === undefined) return `${place}.`;
  const { nextAllowedAt, pausedUntil } = hostState;
  const waits = nextAllowedAt > nowMs ? new Date(nextAllowedAt).toISOString() : 'now';
  const why = pausedUntil >= nextAllowedAt && pausedUntil > nowMs ? ', after its pause' : '';
  return `${place}; the host may be asked from ${waits} on${why}.`;
}

function unseenSentence(trace: WhyTrace, maxDepth: number | undefined): string {
  const { scope, trap, robots } = trace;
  if (scope.outside === 'scope') {
    return `Not crawled: outside the scope (${scope.mode}, ${scope.seeds} seeds).`;
  }
  if (scope.outside !== undefined) return `Not crawled: kept out by --${scope.outside}.`;
  if (trap?.isCertain === true) return `Not crawled: a trap (${trap.rule}: ${trap.detail}).`;
  if (robots?.verdict?.allowed === false) {
    return `Not crawled: robots.txt disallows it${ruleText(trace)}, so links to it are not taken up.`;
  }
  const depth = maxDepth === undefined ? '' : `, or only more than ${maxDepth} links from a seed`;
  return `Not discovered: no page crawled so far links to it, or only with nofollow${depth}.`;
}

function ruleText({ robots }: WhyTrace): string {
  const verdict = robots?.verdict;
  if (verdict?.rule === undefined) return '';
  return ` (line ${verdict.line}: ${verdict.rule})`;
}
