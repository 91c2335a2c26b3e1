// Autonomous systems as one shard sees them (step 8): the table of addresses that the main thread sent last, and the error rates that all
// threads share. Without a table no address has a network, and nothing is slowed.

import type { NetworkBackoff } from '../actors/services.ts';
import { afterVoice, networkFactorOf } from '../domain/asn-backoff.ts';
import { type AsnLookup, type AsnTable, openAsnLookup } from '../net/asn-lookup.ts';
import { SharedWords } from '../runtime/shared-words.ts';

/** Rows of the shared table: more than there are numbers in use (some 120,000 below 402,000), so that none shares a row today. 2 MiB. */
export const NETWORK_ROWS = 2 ** 19;

export class ShardNetworks implements NetworkBackoff {
  readonly #rates: SharedWords;
  #lookup: AsnLookup = () => undefined;

  /** @param memory of NETWORK_ROWS words */
  constructor(memory: SharedArrayBuffer) {
    this.#rates = new SharedWords(memory);
  }

  /** Takes a table over, once its readers are ready. Until then the one before answers. */
  async adopt(table: AsnTable): Promise<void> {
    this.#lookup = await openAsnLookup(table);
  }

  networkOf(address: string): number | undefined {
    return this.#lookup(address);
  }

  factorOf(network: number): number {
    return networkFactorOf(this.#rates.read(network));
  }

  heard(network: number, voice: 'answered' | 'troubled'): void {
    this.#rates.update(network, (word) => afterVoice(word, voice));
  }
}
