// Steps 1 and 5 for one URL, asked by a command instead of a crawl thread: canonical form, scope by the seeds kept beside the data and
// today's configuration, traps, robots. The rules are the very functions that the crawl uses (shard-plan.ts builds them alike).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdentityRules } from '../domain/canonical-query.ts';
import { createIdentityRules } from '../domain/canonical-query.ts';
import { canonicalSteps } from '../domain/canonical-steps.ts';
import { canonicalize, type RejectionReason } from '../domain/canonical-url.ts';
import { resolveDocument } from '../domain/resolve-url.ts';
import { Scope, type ScopeRefusal } from '../domain/scope.ts';
import { type Trap, type TrapOptions, trapOf, trapOptions } from '../domain/traps.ts';
import type { CrawlReading } from './read-crawl.ts';

/** What the rules of the crawl make of a URL. */
export type Judgement =
  | { readonly kind: 'rejected'; readonly reason: RejectionReason }
  | {
      readonly kind: 'url';
      /** The URL's own spelling, as it would be sent. */
      readonly request: string;
      readonly canonical: string;
      readonly host: string;
      readonly origin: string;
      /** Rules of step 1 that changed the spelling. */
      readonly steps: readonly string[];
      /** The rule that keeps it out; undefined when it is inside. */
      readonly outside: ScopeRefusal | undefined;
      readonly trap: Trap | undefined;
    };

/** Judges URLs by the rules of one crawl. */
export class LinkJudge {
  readonly seeds: readonly string[];
  readonly #rules: IdentityRules;
  readonly #scope: Scope;
  readonly #traps: TrapOptions;

  /** @param year the calendar year, for the calendar trap */
  constructor({ config }: Pick<CrawlReading, 'config'>, year: number) {
    this.#rules = createIdentityRules({ stripSessions: config.stripSessions });
    this.seeds = storedSeeds(config.dataDir);
    const { scope: mode, include, exclude } = config;
    this.#scope = new Scope({ mode, seeds: this.seeds, include, exclude });
    this.#traps = trapOptions(year);
  }

  /** The identity of a URL; undefined when it has none. */
  canonicalOf(url: string): string | undefined {
    const found = canonicalize(url, this.#rules);
    return found.kind === 'rejected' ? undefined : found.canonical;
  }

  judge(url: string): Judgement {
    const found = canonicalize(url, this.#rules);
    if (found.kind === 'rejected') return found;
    const { canonical, host, origin } = found;
    const request = resolveDocument(url, undefined) ?? canonical;
    return {
      kind: 'url',
      request,
      canonical,
      host,
      origin,
      steps: canonicalSteps(url, { request, canonical, host }, this.#rules),
      outside: this.#scope.admits(canonical, host),
      trap: trapOf(canonical, this.#traps),
    };
  }
}

/** The canonical seeds of all runs (scope-seeds.ts writes them); none for a crawl of everything. */
function storedSeeds(dir: string): readonly string[] {
  const path = join(dir, 'seeds');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
