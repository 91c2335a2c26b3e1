// Addresses as a hosts file has them: IPv4, IPv6 in brackets or bare, or a host name, each with a port where one is named. Pure; names are
// resolved by the system when a connection is made. Loopback is told by the address alone, since what a name means differs by machine.

import { isIP, isIPv6 } from 'node:net';

/** The last port that leaves room for the three after it (hosts-file.ts). */
const PORT_MAX = 65_532;
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Where a node is. */
export interface NodeAddress {
  /** Without brackets. */
  readonly address: string;
  readonly port: number | undefined;
}

/** Takes an address apart; undefined when it is none, or its port is not in 1 … 65,532. */
export function addressOf(text: string): NodeAddress | undefined {
  if (isIPv6(text)) return { address: text, port: undefined };
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const [, six, other, portText] = match;
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > PORT_MAX)) return undefined;
  if (six !== undefined) return isIPv6(six) ? { address: six, port } : undefined;
  const address = other as string;
  // 10.0.0.256 or 1.2.3 are slips, not names.
  const isNumeric = /^[\d.]+$/.test(address);
  if (isNumeric ? isIP(address) !== 4 : !HOST_NAME.test(address)) return undefined;
  return { address, port };
}

/** True for 127.0.0.0/8, ::1 and `localhost`. */
export function isLoopback(address: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(address) || address === '::1' || address === 'localhost';
}

/** As it stands in a URL. */
export function urlHost(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
