// Decides which IP addresses may be contacted (I13). Asked twice: when a name was resolved, and when connecting, about the very address of
// the connection, so that a name which changes its mind in between (DNS rebinding) gains nothing. Step 9 of a URL's life.
// Only globally reachable unicast addresses are admitted, by the IANA special-purpose registries (RFC 6890 and successors), and whatever
// the operator names with --allow-net. IPv6 addresses that carry an IPv4 address are judged by it too, since a gateway delivers there.

import {
  type AddressBlock,
  blockContains,
  embedded,
  isMapped,
  type NumericAddress,
  parseAddress,
  parseBlock,
} from './address-block.ts';

/** IANA IPv4 Special-Purpose Address Registry; 240/4 includes the limited broadcast address. */
const FORBIDDEN_V4 = [
  '0.0.0.0/8', // this network, RFC 791 §3.2
  '10.0.0.0/8', // private use, RFC 1918
  '100.64.0.0/10', // shared address space of carriers, RFC 6598
  '127.0.0.0/8', // loopback, RFC 1122 §3.2.1.3
  '169.254.0.0/16', // link-local and cloud metadata (169.254.169.254), RFC 3927
  '172.16.0.0/12', // private use, RFC 1918
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890 §2.1
  '192.0.2.0/24', // documentation, RFC 5737
  '192.88.99.0/24', // 6to4 relay anycast, RFC 7526
  '192.168.0.0/16', // private use, RFC 1918
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112 §4, and broadcast, RFC 919
].map(parseBlock);

/** All that is global unicast (RFC 4291 §2.4); loopback, ULA (fd00:ec2::254 too), link-local and multicast lie outside. */
const GLOBAL_V6 = parseBlock('2000::/3');

/** What is not for us within 2000::/3: IANA IPv6 Special-Purpose Address Registry. Teredo (2001::/32) and 6to4 are judged apart. */
const FORBIDDEN_V6 = [
  '2001::/23', // IETF protocol assignments, RFC 2928: benchmarking, ORCHID, anycast of protocols
  '2001:db8::/32', // documentation, RFC 3849
  '3fff::/20', // documentation, RFC 9637
].map(parseBlock);

const NAT64 = parseBlock('64:ff9b::/96'); // RFC 6052 §2.1
const SIX_TO_FOUR = parseBlock('2002::/16'); // RFC 3056
const TEREDO = parseBlock('2001::/32'); // RFC 4380
const COMPATIBLE = parseBlock('::/96'); // deprecated IPv4-compatible, RFC 4291 §2.5.5.1

/** Longest textual IPv6 address: eight groups, or six and a dotted tail. */
const TEXT_LENGTH_MAX = 45;

/** Verdicts kept by address; emptied when full, so that memory is bounded (I10). About 100 bytes each. */
const VERDICTS_MAX = 10_000;

/** Which addresses may be contacted. Immutable but for its memory of verdicts. */
export class AddressGuard {
  readonly #allowed: readonly AddressBlock[];
  readonly #verdicts = new Map<string, boolean>();

  /**
   * @param allowNets networks in CIDR notation that may be contacted although they are private or reserved (--allow-net)
   * @throws CrawlError config when one cannot be read
   */
  constructor(allowNets: readonly string[]) {
    this.#allowed = allowNets.map(parseBlock);
  }

  /**
   * Whether a connection to this address may be made.
   * @param address textual IPv4 or IPv6 address, without brackets; anything else is refused
   * @returns never throws; about 50 ns for an address asked about before
   */
  admits(address: string): boolean {
    if (address.length > TEXT_LENGTH_MAX) return false;
    const known = this.#verdicts.get(address);
    if (known !== undefined) return known;
    const numeric = parseAddress(address);
    const verdict = numeric !== undefined && this.#judge(numeric);
    if (this.#verdicts.size >= VERDICTS_MAX) this.#verdicts.clear();
    this.#verdicts.set(address, verdict);
    return verdict;
  }

  /**
   * Whether an address was admitted only because the operator named its network: such hosts may be asked at a shorter gap.
   * @param address textual IPv4 or IPv6 address
   */
  isAllowed(address: string): boolean {
    const numeric = parseAddress(address);
    return numeric !== undefined && this.#isAllowed(unmapped(numeric));
  }

  #judge(address: NumericAddress): boolean {
    const plain = unmapped(address);
    // The unspecified address never names a peer, whatever is allowed: systems take it for themselves.
    if (isUnspecified(plain)) return false;
    if (this.#isAllowed(plain)) return true;
    return plain.family === 4
      ? !FORBIDDEN_V4.some((block) => blockContains(block, plain))
      : this.#judgeV6(plain, plain.groups);
  }

  #judgeV6(address: NumericAddress, groups: readonly number[]): boolean {
    if (blockContains(NAT64, address)) return this.#judgeV4(embedded(groups, 6));
    if (blockContains(COMPATIBLE, address)) {
      // ::1 and its like carry no address anybody could mean.
      return groups[6] !== 0 && this.#judgeV4(embedded(groups, 6));
    }
    if (blockContains(SIX_TO_FOUR, address)) return this.#judgeV4(embedded(groups, 1));
    if (blockContains(TEREDO, address)) {
      // Server in the clear, client inverted (RFC 4380 §4).
      const client = (embedded(groups, 6) ^ 0xffff_ffff) >>> 0;
      return this.#judgeV4(embedded(groups, 2)) && this.#judgeV4(client);
    }
    // 64:ff9b:1::/48, the NAT64 prefix for local use (RFC 8215), is outside 2000::/3 and thereby refused whole.
    if (!blockContains(GLOBAL_V6, address)) return false;
    return !FORBIDDEN_V6.some((block) => blockContains(block, address));
  }

  #judgeV4(value: number): boolean {
    return this.#judge({ family: 4, value });
  }

  #isAllowed(address: NumericAddress): boolean {
    return this.#allowed.some((block) => blockContains(block, address));
  }
}

/** An IPv4-mapped address as the IPv4 address it is. */
function unmapped(address: NumericAddress): NumericAddress {
  if (address.family === 6 && isMapped(address.groups)) {
    return { family: 4, value: embedded(address.groups, 6) };
  }
  return address;
}

function isUnspecified(address: NumericAddress): boolean {
  if (address.family === 4) return address.value === 0;
  return address.groups.every((group) => group === 0);
}
