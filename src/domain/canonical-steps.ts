// Which rules of step 1 made a canonical URL out of what somebody typed or linked, in words, for `why URL`. Derived from the two ends by
// comparing their parts, so that the fast path of canonicalising keeps no notes. Pure, linear, never throws.

import type { IdentityRules } from './canonical-query.ts';
import { normalizeEscapes } from './url-escapes.ts';

/**
 * The rules that changed something, in the order in which they apply; empty when the URL was canonical.
 * @param input as it was given
 * @param request the same, resolved: what is sent
 * @param canonical its identity
 * @param host its host, for rules of one host
 */
export function canonicalSteps(
  input: string,
  { request, canonical, host }: { request: string; canonical: string; host: string },
  rules: IdentityRules,
): string[] {
  const steps: string[] = [];
  const hash = input.indexOf('#');
  if (hash !== -1) steps.push('fragment dropped');
  const plain = hash === -1 ? input : input.slice(0, hash);
  if (plain !== request) steps.push('resolved as a browser does');
  const [requestPath, requestQuery] = parted(request);
  const [canonicalPath, canonicalQuery] = parted(canonical);
  const escaped = normalizeEscapes(requestPath);
  if (escaped !== requestPath) steps.push('percent escapes of the path normalised');
  if (canonicalPath !== escaped) steps.push('session identifier dropped from the path');
  return [...steps, ...querySteps(requestQuery, canonicalQuery, host, rules)];
}

function parted(url: string): [path: string, query: string | undefined] {
  const question = url.indexOf('?');
  return question === -1 ? [url, undefined] : [url.slice(0, question), url.slice(question + 1)];
}

function querySteps(
  before: string | undefined,
  after: string | undefined,
  host: string,
  rules: IdentityRules,
): string[] {
  if (before === undefined || before === after) return [];
  const normal = normalizeEscapes(before);
  const steps = normal === before ? [] : ['percent escapes of the query normalised'];
  const left = new Set(after === undefined ? [] : after.split('&'));
  const kept: string[] = [];
  for (const parameter of normal.split('&')) {
    if (left.has(parameter)) kept.push(parameter);
    else steps.push(droppedStep(parameter, host, rules));
  }
  if (after !== undefined && kept.join('&') !== after && left.size > 1) {
    steps.push('parameters sorted by name');
  }
  if (after === undefined && normal === '') return ['empty query dropped'];
  return [...new Set(steps)];
}

function droppedStep(parameter: string, host: string, rules: IdentityRules): string {
  if (parameter === '') return 'empty parameter dropped';
  const name = parameter.split('=', 1)[0] as string;
  if (rules.tracking.isTracking(name, host)) return `tracking parameter ${name} dropped`;
  return `session identifier dropped from ${name}`;
}
