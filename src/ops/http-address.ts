// Where the dashboard listens (`--http HOST:PORT`), and which Host headers it answers there. A page
// of some other site can make a browser reach a loopback server under that site's own name (DNS
// rebinding) and read its answers; a server bound to loopback therefore answers only to loopback
// names.

import { BlockList, isIP } from 'node:net';
import { CrawlError } from '../base/errors.ts';

/** Where a server listens. */
export interface HttpAddress {
  /** Name or address, IPv6 without brackets. */
  readonly host: string;
  /** 0 … 65535; 0 takes any free port. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`, `[IPv6]:PORT`, `:PORT` or `PORT`; without a host it is 127.0.0.1, so that nothing is public by accident.
 * @throws CrawlError config
 */
export function parseHttpAddress(text: string): HttpAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]:|([^:[\]]*):)?(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[3] ?? Number.NaN);
  if (match === null || port > 65_535) {
    throw new CrawlError('config', `--http takes HOST:PORT, not ${text}`, {
      remedy: 'Write for example --http 127.0.0.1:9090 or --http [::1]:9090.',
    });
  }
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

/** True when only this machine reaches the host. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/** True when a server bound to `bound` answers a request with this Host header (RFC 9110 §7.2). */
export function isHostAccepted(bound: string, header: string | undefined): boolean {
  if (!isLoopback(bound)) return true;
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const name = match?.[1] ?? match?.[2];
  return name !== undefined && isLoopback(name);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
