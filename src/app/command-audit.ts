// `node cluster.js audit`: proves from the crawl's own log that it was polite, or prints the requests that show it was not (DESIGN.md §9).
// Works on a running crawl as well: it proves what is committed. What is printed is bounded; everything is counted.

import type { AuditEntry } from '../actors/ports.ts';
import { CrawlError } from '../base/errors.ts';
import { AUDIT_RULES } from '../domain/audit-proof.ts';
import type { CommandInput } from './command.ts';
import { AUDIT_RULE_TEXTS, type PolitenessProof, provePoliteness } from './prove-politeness.ts';
import { readingCrawl } from './read-crawl.ts';

/** Offences that are printed with their lines. */
const OFFENCES_MAX = 50;
const STATUS_BROKEN = 1;
/** The greatest gap that can be configured, an hour. */
const MIN_GAP_MAX_MS = 3_600_000;

/** @returns 0 when everything is proven, 1 when something was broken or could not be judged */
export async function commandAudit({ options, config }: CommandInput): Promise<number> {
  const minGapMs = minGapOf(options.minGap);
  const proof = await readingCrawl(config, (reading) =>
    provePoliteness(reading, { minGapMs, offencesMax: OFFENCES_MAX }),
  );
  const text = config.json ? `${JSON.stringify(proof)}\n` : proofText(proof, minGapMs);
  process.stdout.write(text);
  return proof.proven ? 0 : STATUS_BROKEN;
}

function minGapOf(text: string | true | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (typeof text === 'string' && /^\d+$/.test(text) && value <= MIN_GAP_MAX_MS) return value;
  throw new CrawlError('usage', `audit: --min-gap ${text}: must be a whole number of ms`, {
    remedy: `Give 0 to ${MIN_GAP_MAX_MS}.`,
  });
}

/** The proof as a person reads it. */
export function proofText(proof: PolitenessProof, minGapMs: number | undefined): string {
  const { requests, broken } = proof;
  const total = requests.page + requests.robots + requests.sitemap + requests.resource;
  const resources = requests.resource === 0 ? '' : `, ${requests.resource} for rendered pages`;
  const lines = [
    `${total} requests (${requests.page} pages, ${requests.robots} robots.txt, ` +
      `${requests.sitemap} sitemaps${resources}) to ${proof.hosts} hosts in ${proof.runs} runs` +
      (total === 0 ? '' : `, ${time(proof.firstAt)} to ${time(proof.lastAt)}`),
  ];
  for (const rule of AUDIT_RULES) {
    if (rule === 'min-gap' && minGapMs === undefined) continue;
    const count = broken[rule];
    lines.push(`  ${count === 0 ? 'kept  ' : 'BROKEN'}  ${AUDIT_RULE_TEXTS[rule]}${times(count)}`);
  }
  if (proof.tightest !== undefined) {
    lines.push(
      `tightest gap ${proof.tightest.gapMs.toFixed(1)} ms (${proof.tightest.host}); ` +
        `least surplus over the gap in force ${proof.leastSurplusMs?.toFixed(1)} ms; ` +
        `at most ${proof.addressMostOpen} in flight to one address`,
    );
  }
  lines.push(
    `${proof.robotsMatched} URLs held against the stored robots.txt rules` +
      (proof.robotsOlder === 0 ? '' : `; ${proof.robotsOlder} rest on versions since replaced`),
  );
  if (proof.clockSteps > 0) {
    lines.push(
      `the clock was set back before ${proof.clockSteps} runs: gaps across it are unknown`,
    );
  }
  if (proof.addressUnordered > 0) {
    lines.push(`${proof.addressUnordered} lines are out of order: their addresses are unproven`);
  }
  for (const { rule, detail, request, other } of proof.offences) {
    lines.push(`${rule}: ${detail}`, ...(other === undefined ? [] : [lineText(other)]));
    lines.push(lineText(request));
  }
  const all = AUDIT_RULES.reduce((sum, rule) => sum + broken[rule], 0);
  if (all > proof.offences.length) lines.push(`… and ${all - proof.offences.length} more`);
  const share = `${(proof.cleanShare * 100).toFixed(proof.cleanShare === 1 ? 0 : 3)} %`;
  lines.push(proof.proven ? `proven: ${share} of the requests` : `NOT proven: ${share} are clean`);
  return `${lines.join('\n')}\n`;
}

function lineText(entry: AuditEntry): string {
  const result = entry.failure ?? entry.status;
  return (
    `    ${time(entry.startedAt)} to ${time(entry.endedAt)} ${entry.purpose} ${entry.url} ` +
    `(${entry.address}, ${result}, gap ${entry.gapMs.toFixed(0)} ms)`
  );
}

function times(count: number): string {
  return count === 0 ? '' : `: ${count} times`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
