// The domains that asked to be left alone, as one shard asks for them (step 5): those of the configuration, and those of the opt-out file as the
// main thread sent them last.

import { DomainSet } from '../config/host-override.ts';

export class ShardOptOut {
  readonly #configured: readonly string[];
  #domains: DomainSet;

  constructor(configured: readonly string[], fromFile: readonly string[]) {
    this.#configured = configured;
    this.#domains = new DomainSet([...configured, ...fromFile]);
  }

  /** The file has changed. */
  replace(fromFile: readonly string[]): void {
    this.#domains = new DomainSet([...this.#configured, ...fromFile]);
  }

  /** @param host lower-case host name without port */
  has(host: string): boolean {
    return this.#domains.has(host);
  }
}
