// What the operator has set for single hosts and domains, as one shard asks for it (steps 5, 8 and 9): pace, budget of URLs, and what is sent
// beside the ordinary request. Replaced as a whole when the configuration is read anew while the crawl runs. Policies are made once for each
// setting, so that a host's is the same object until something changes, and asking costs a look-up.

import { type HostOverride, HostOverrides } from '../config/host-override.ts';
import type { CrawlConfig } from '../config/options.ts';
import { parsePermittedHours } from '../domain/permitted-hours.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import type { HostRequestSettings } from '../net/host-fields.ts';

/** The options that make up the settings of hosts. */
export type HostSettingOptions = Pick<
  CrawlConfig,
  'hostOverrides' | 'minGapMs' | 'maxCrawlDelayMs' | 'latencyFactor' | 'hostUrls'
>;

/** The same, as it is sent to the shards when it changes. */
export function hostSettingOptions(config: HostSettingOptions): HostSettingOptions {
  const { hostOverrides, minGapMs, maxCrawlDelayMs, latencyFactor, hostUrls } = config;
  return { hostOverrides, minGapMs, maxCrawlDelayMs, latencyFactor, hostUrls };
}

/** See the head of this file. */
export class HostSettings {
  #options: HostSettingOptions;
  #overrides: HostOverrides;
  #everywhere: GapPolicy;
  #policies = new Map<HostOverride, GapPolicy>();
  #hasRequestSettings = false;

  constructor(options: HostSettingOptions) {
    this.#options = options;
    this.#overrides = new HostOverrides(options.hostOverrides);
    this.#everywhere = gapPolicyOf(options, undefined);
    this.replace(options);
  }

  /** Other settings hold from now on. */
  replace(options: HostSettingOptions): void {
    this.#options = options;
    this.#overrides = new HostOverrides(options.hostOverrides);
    this.#everywhere = gapPolicyOf(options, undefined);
    this.#policies = new Map();
    this.#hasRequestSettings = options.hostOverrides.some(
      ({ headers, login, cookies, proxy }) => (headers ?? login ?? cookies ?? proxy) !== undefined,
    );
  }

  /** The pace of a host; the same object as long as nothing changes. */
  gapPolicyOf(host: string): GapPolicy {
    const override = this.#overrides.of(host);
    if (override === undefined) return this.#everywhere;
    let policy = this.#policies.get(override);
    if (policy === undefined) {
      policy = gapPolicyOf(this.#options, override);
      this.#policies.set(override, policy);
    }
    return policy;
  }

  /** URLs of a host to begin with. */
  urlsOf(host: string): number {
    return this.#overrides.of(host)?.urls ?? this.#options.hostUrls;
  }

  /** What is sent to a host beside the ordinary request; undefined: nothing. */
  requestOf(host: string): HostRequestSettings | undefined {
    return this.#hasRequestSettings ? this.#overrides.of(host) : undefined;
  }
}

/** The pace of a host, where `override` says something of it, and of any other. */
function gapPolicyOf(options: HostSettingOptions, override: HostOverride | undefined): GapPolicy {
  return {
    minGapMs: override?.minGapMs ?? options.minGapMs,
    maxCrawlDelayMs: override?.maxCrawlDelayMs ?? options.maxCrawlDelayMs,
    latencyFactor: override?.latencyFactor ?? options.latencyFactor,
    hours: override?.hours === undefined ? undefined : parsePermittedHours(override.hours),
  };
}
