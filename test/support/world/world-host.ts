// The hosts of the shipped web: name, address, size, health and who mirrors whom, each a hash of the host's number. A profile costs
// about a microsecond to make and is never stored, so a web of a million hosts needs no memory.
// Mirrors come in pairs (2m, 2m + 1): the odd one copies everything of the even one but its name, address and health.
import { choose, fraction, mix, SALT } from './hash.ts';
import type { WorldOptions } from './world-options.ts';

/** How a host behaves as a whole. `nxdomain`, `servfail` and `dns-mute` hosts have no address. */
export type HostHealth = 'ok' | 'slow' | 'broken' | 'mute' | 'nxdomain' | 'servfail' | 'dns-mute';

/** What a host is. */
export interface HostProfile {
  /** 0 … hosts − 1. */
  readonly index: number;
  readonly name: string;
  /** The host whose content this one shows: itself, or the even one of a mirrored pair. */
  readonly source: number;
  /** True for both hosts of a mirrored pair. */
  readonly mirrored: boolean;
  /** Pages 0 … pages − 1 exist. */
  readonly pages: number;
  readonly health: HostHealth;
}

/** `host-000042.test`. */
export function hostName(options: WorldOptions, index: number): string {
  return `host-${String(index).padStart(6, '0')}.${options.domain}`;
}

/** The number of a host by its name in any case, or −1 when this web has no such host. */
export function hostIndex(options: WorldOptions, name: string): number {
  const lower = name.toLowerCase();
  if (!lower.startsWith('host-')) return -1;
  const index = Number.parseInt(lower.slice(5), 10);
  if (!(index >= 0 && index < options.hosts)) return -1;
  return hostName(options, index) === lower ? index : -1;
}

/** The profile of host `index`, 0 … hosts − 1. */
export function hostProfile(options: WorldOptions, index: number): HostProfile {
  const even = index & ~1;
  const mirrored =
    even + 1 < options.hosts &&
    fraction(mix(options.seed, SALT.mirror, even)) < options.features.mirrors;
  const source = mirrored ? even : index;
  return {
    index,
    name: hostName(options, index),
    source,
    mirrored,
    pages: pageCount(options, source),
    health: healthOf(options, index),
  };
}

/** Scheme, host and port as every URL of the host begins, without the final slash. */
export function hostOrigin(options: WorldOptions, index: number): string {
  const port = options.port === 80 ? '' : `:${options.port}`;
  return `http://${hostName(options, index)}${port}`;
}

/** The 127.x.y.z of a host: 127.1.0.1 upward, `hostsPerAddress` hosts on each. */
export function hostAddress(options: WorldOptions, index: number): string {
  const value = 0x010001 + Math.floor(index / options.hostsPerAddress);
  return `127.${(value >> 16) & 255}.${(value >> 8) & 255}.${value & 255}`;
}

/** True when requests to the host can be answered at all. */
export function canAnswer(health: HostHealth): boolean {
  return health === 'ok' || health === 'slow';
}

function pageCount(options: WorldOptions, source: number): number {
  const x = fraction(mix(options.seed, SALT.pages, source));
  const mean = options.pagesPerHost;
  const pages = options.powerLaw
    ? Math.min((mean / 3) * (1 - x) ** (-1 / 1.5), 300 * mean)
    : mean * (0.5 + x);
  return Math.max(1, Math.round(pages));
}

function healthOf(options: WorldOptions, index: number): HostHealth {
  const { brokenHosts, muteHosts, slowHosts, dnsFailures } = options.features;
  const hash = mix(options.seed, SALT.health, index);
  // Every link to another host asks: the common answer comes first and makes nothing.
  if (fraction(hash) >= brokenHosts + muteHosts + slowHosts + dnsFailures) return 'ok';
  const silent = (['nxdomain', 'servfail', 'dns-mute'] as const)[hash % 3] ?? 'nxdomain';
  const weights = [
    [brokenHosts, 'broken'],
    [muteHosts, 'mute'],
    [slowHosts, 'slow'],
    [dnsFailures, silent],
  ] as const;
  return choose<HostHealth>(fraction(hash), weights, 'ok');
}
