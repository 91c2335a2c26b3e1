// Back-off of a whole autonomous system (step 8 of a URL's life; DESIGN.md §4: rising error rates in one ASN slow that ASN). When a network
// or its filter is in trouble, each of its hosts looks healthy on its own until it fails; asked together they are one customer that is
// complaining. So the share of troubled hosts among those asked lately is kept for each ASN, and once it is high, every further failure
// multiplies the waits of all hosts of the ASN; answers lower the factor slowly.
//
// A host speaks once until it has recovered: of failures in a row only the first counts. Hence one dead host, asked again and again, says
// no more than one host can, and a large network with some dead hosts is not slowed.
//
// The state of one ASN is one 32-bit word, so that threads can share it by compare-and-set: the share in the upper half as a fraction of
// 65,535, the factor above 1 in the lower half in 256ths. The word 0 is a network of which nothing is known. Pure functions.

import { FAILURE_TABLE, type FailureKind } from './failure.ts';

/** Weight of the newest answer in the share: about the last 16 hosts heard. */
const SMOOTHING = 16;
/** Share of troubled hosts above which a failure slows the network; ordinary webs have under 20 % dead hosts. */
export const TROUBLED_SHARE = 0.4;
/** Growth of the factor with each further failure: a network that is wholly down is at the cap after some 25 hosts. */
const GROWTH = 1.25;
/** How much of the factor above 1 an answer leaves: about 35 answers halve it. */
const DECAY = 0.98;
/** Cap: hosts with a gap of 1 s are then asked every 16 s. */
export const NETWORK_FACTOR_MAX = 16;

const SHARE_ONE = 0xffff;
const FACTOR_UNIT = 256;

/** What the end of a request says about the network of its host. */
export type NetworkVoice = 'answered' | 'troubled' | 'silent';

/**
 * What one request says.
 * @param failure its failure, undefined for an answer
 * @param failuresInRow of the host, this one included
 * @returns `silent` for failures that are no sign of overload (a broken page, a name that does not resolve) and for those of a host that
 *   has said so already
 */
export function networkVoice(
  failure: FailureKind | undefined,
  failuresInRow: number,
): NetworkVoice {
  if (failure === undefined) return 'answered';
  return FAILURE_TABLE[failure].gapFactor > 1 && failuresInRow === 1 ? 'troubled' : 'silent';
}

/** The word after one more host was heard. @param word any 32-bit integer @returns a 32-bit integer as `Int32Array` holds it */
export function afterVoice(word: number, voice: 'answered' | 'troubled'): number {
  const share = word >>> 16;
  const excess = word & 0xffff;
  if (voice === 'answered') {
    return packed(share - Math.ceil(share / SMOOTHING), Math.floor(excess * DECAY));
  }
  const raised = share + Math.ceil((SHARE_ONE - share) / SMOOTHING);
  if (raised <= TROUBLED_SHARE * SHARE_ONE) return packed(raised, excess);
  const factor = Math.min((FACTOR_UNIT + excess) * GROWTH, NETWORK_FACTOR_MAX * FACTOR_UNIT);
  return packed(raised, Math.round(factor) - FACTOR_UNIT);
}

/** By what the waits of the network's hosts are multiplied; 1 … NETWORK_FACTOR_MAX for words that `afterVoice` made. */
export function networkFactorOf(word: number): number {
  return 1 + (word & 0xffff) / FACTOR_UNIT;
}

/** Share of troubled hosts among those heard lately, 0 … 1. */
export function troubledShareOf(word: number): number {
  return (word >>> 16) / SHARE_ONE;
}

function packed(share: number, excess: number): number {
  return (share << 16) | excess;
}
