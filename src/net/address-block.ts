// IP addresses and blocks of them as numbers, for the address guard (step 9 of a URL's life, I13). An IPv4 address is one unsigned
// 32-bit number, an IPv6 address eight 16-bit groups: both compare without allocation. Text is read strictly: forms such as 0177.0.0.1
// or 127.1, which some libraries take for addresses, are none here; a URL parser has written them out before they arrive.

import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { CrawlError } from '../base/errors.ts';

/** Unsigned 32-bit number, or eight 16-bit groups. */
export type NumericAddress =
  | { readonly family: 4; readonly value: number }
  | { readonly family: 6; readonly groups: readonly number[] };

/** A CIDR block: the first `bits` bits of `address`. */
export interface AddressBlock {
  readonly address: NumericAddress;
  /** 0 … 32 or 0 … 128. */
  readonly bits: number;
}

const DOTTED = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const PREFIX = /^\d{1,3}$/;

/**
 * Reads a textual IP address.
 * @returns undefined for anything else, for octets over 255 or with leading zeros, and for IPv6 zones (fe80::1%eth0); never throws
 */
export function parseAddress(text: string): NumericAddress | undefined {
  const dotted = DOTTED.exec(text);
  if (dotted !== null) {
    let value = 0;
    for (let index = 1; index <= 4; index += 1) {
      const octet = dotted[index] as string;
      const number = Number(octet);
      if (number > 255 || (octet.length > 1 && octet.startsWith('0'))) return undefined;
      value = value * 256 + number;
    }
    return { family: 4, value };
  }
  if (text.length > 45 || text.includes('%') || !isIPv6(text)) return undefined;
  return { family: 6, groups: ipaddr.IPv6.parse(text).parts };
}

/**
 * Reads a block in CIDR notation, or one address as a block of itself. Bits beyond the prefix are ignored, so 127.0.0.1/8 is 127.0.0.0/8.
 * An IPv4-mapped IPv6 block (::ffff:10.0.0.0/104) is the IPv4 block it stands for.
 * @throws CrawlError config
 */
export function parseBlock(cidr: string): AddressBlock {
  const slash = cidr.indexOf('/');
  const address = parseAddress(slash < 0 ? cidr : cidr.slice(0, slash));
  const width = address?.family === 4 ? 32 : 128;
  const prefix = slash < 0 ? String(width) : cidr.slice(slash + 1);
  if (address === undefined || !PREFIX.test(prefix) || Number(prefix) > width) {
    throw new CrawlError('config', `not a network in CIDR notation: "${cidr.slice(0, 80)}"`, {
      remedy: 'Write it like 10.0.0.0/8, 192.168.1.7/32 or fd00::/8.',
    });
  }
  const bits = Number(prefix);
  if (address.family === 6 && bits >= 96 && isMapped(address.groups)) {
    return { address: { family: 4, value: embedded(address.groups, 6) }, bits: bits - 96 };
  }
  return { address, bits };
}

/** True when the address lies in the block; addresses of the other family never do. */
export function blockContains(block: AddressBlock, address: NumericAddress): boolean {
  if (block.address.family === 4) {
    if (address.family !== 4) return false;
    // A shift by 32 is a shift by 0 in JavaScript: /0 needs its own word.
    return block.bits === 0 || (block.address.value ^ address.value) >>> (32 - block.bits) === 0;
  }
  if (address.family !== 6) return false;
  let bits = block.bits;
  for (let index = 0; bits > 0; index += 1, bits -= 16) {
    const difference = (block.address.groups[index] as number) ^ (address.groups[index] as number);
    if (difference >>> Math.max(16 - bits, 0) !== 0) return false;
  }
  return true;
}

/** True for ::ffff:a.b.c.d (RFC 4291 §2.5.5.2). */
export function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}

/** The IPv4 address in two groups from `index` on. */
export function embedded(groups: readonly number[], index: number): number {
  return (groups[index] as number) * 65_536 + (groups[index + 1] as number);
}
