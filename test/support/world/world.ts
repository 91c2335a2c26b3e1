// The shipped web as one object: pure functions of its options, shared by the socket server (test/support/server), the simulator, the
// judge and the benchmarks. It holds no state, opens nothing and reads no clock: the same question has the same answer in every process.
import {
  type HostHealth,
  hostAddress,
  hostIndex,
  hostName,
  hostOrigin,
  hostProfile,
} from './world-host.ts';
import {
  completeWorldOptions,
  type PartialWorldOptions,
  type WorldOptions,
} from './world-options.ts';
import { respond, type WorldRequest, type WorldResponse } from './world-respond.ts';
import {
  type ReachableOptions,
  type ReachablePage,
  reachablePages,
  type Truth,
  truthOf,
} from './world-truth.ts';

/** What the name service says about a host name. `none`: not of this web, or no such name. */
export type NameAnswer =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'servfail' }
  | { readonly kind: 'mute' };

/** A web that does not exist until it is asked. */
export interface World {
  readonly options: WorldOptions;
  /** The answer to one request; see `WorldResponse`. Never throws. */
  respond(request: WorldRequest): WorldResponse;
  /** Body of a host's robots.txt at a time, by its number; empty when it has none. */
  robotsTxt(host: number, atMs: number): string;
  /** 127.x.y.z of a host by its number, whether or not it can be resolved. */
  addressOf(host: number): string;
  /** The name service's answer for a name in any case, by the rules of the world's features. */
  resolve(name: string): NameAnswer;
  hostName(host: number): string;
  /** The number of a host by its name, −1 when unknown. */
  hostIndex(name: string): number;
  healthOf(host: number): HostHealth;
  /** The root URLs of the first `limit` hosts (default all), in order. */
  seeds(limit?: number): Iterable<string>;
  /** Canonical URLs of all allowed pages that a complete crawl stores. */
  reachable(walk: ReachableOptions): Iterable<string>;
  /** The same with depth and with what is optional. */
  reachablePages(walk: ReachableOptions): Iterable<ReachablePage>;
  /** What a URL is; `userAgent` default `hostler`, `atMs` default 0. */
  truth(url: string, viewer?: { userAgent?: string; atMs?: number }): Truth;
}

/**
 * Makes a web.
 * @throws RangeError when an option is out of bounds
 */
export function createWorld(partial: PartialWorldOptions): World {
  const options = completeWorldOptions(partial);
  return {
    options,
    respond: (request) => respond(options, request),
    robotsTxt: (host, atMs) => robotsTxt(options, host, atMs),
    addressOf: (host) => hostAddress(options, host),
    resolve: (name) => resolveName(options, name),
    hostName: (host) => hostName(options, host),
    hostIndex: (name) => hostIndex(options, name),
    healthOf: (host) => hostProfile(options, host).health,
    seeds: (limit) => seeds(options, limit ?? options.hosts),
    reachable: (walk) => urlsOf(reachablePages(options, walk)),
    reachablePages: (walk) => reachablePages(options, walk),
    truth: (url, viewer) => truthOf(options, url, { userAgent: 'hostler', atMs: 0, ...viewer }),
  };
}

function robotsTxt(options: WorldOptions, host: number, atMs: number): string {
  const request = { host: hostName(options, host), path: '/robots.txt', atMs, userAgent: '' };
  const { status, body } = respond(options, request);
  return status === 200 ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(body) : '';
}

function resolveName(options: WorldOptions, name: string): NameAnswer {
  const index = hostIndex(options, name);
  if (index < 0) return { kind: 'none' };
  switch (hostProfile(options, index).health) {
    case 'nxdomain':
      return { kind: 'none' };
    case 'servfail':
      return { kind: 'servfail' };
    case 'dns-mute':
      return { kind: 'mute' };
    default:
      return { kind: 'address', address: hostAddress(options, index) };
  }
}

function* seeds(options: WorldOptions, limit: number): Generator<string> {
  const end = Math.min(limit, options.hosts);
  for (let host = 0; host < end; host++) yield `${hostOrigin(options, host)}/`;
}

function* urlsOf(pages: Iterable<ReachablePage>): Generator<string> {
  for (const { url } of pages) yield url;
}
