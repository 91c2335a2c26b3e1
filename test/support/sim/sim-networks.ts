// Autonomous systems simulated: every sixteen neighbouring addresses are one network, so that hosts of several shards share one, and a small
// shared table, so that networks collide.
import type { NetworkBackoff } from '../../../src/actors/services.ts';
import { afterVoice, networkFactorOf } from '../../../src/domain/asn-backoff.ts';
import { SharedWords } from '../../../src/runtime/shared-words.ts';

export class SimNetworks implements NetworkBackoff {
  readonly #rates: SharedWords;

  constructor(memory: SharedArrayBuffer) {
    this.#rates = new SharedWords(memory);
  }

  networkOf(address: string): number | undefined {
    const [, second, third, last] = address.split('.').map(Number);
    if (second === undefined || third === undefined || last === undefined) return undefined;
    return (second * 65_536 + third * 256 + last) >> 4;
  }

  factorOf(network: number): number {
    return networkFactorOf(this.#rates.read(network));
  }

  heard(network: number, voice: 'answered' | 'troubled'): void {
    this.#rates.update(network, (word) => afterVoice(word, voice));
  }
}
