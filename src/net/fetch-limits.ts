// The bounds of every fetch (step 9 of a URL's life, I10) with their defaults: nothing a server does lasts longer or takes more than these.
// They are plain numbers so that the table of options can set each.

import type { FetchPurpose } from '../actors/ports.ts';
import type { BodyBounds } from './exchange.ts';

/** Times in milliseconds, sizes in bytes. */
export interface FetchLimits {
  /** Longest time from start to last byte, whatever dribbles in meanwhile (field bug N4). */
  readonly deadlineMs: number;
  /** Longest time to connect to one address, TLS included. */
  readonly connectTimeoutMs: number;
  /** Longest silence between request and the end of the response's head. */
  readonly headersTimeoutMs: number;
  /** Longest silence within a body. */
  readonly idleTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMaxMs: number;
  /** Longest response head. */
  readonly headerBytesMax: number;
  /**
   * Idle clients kept (2 KB each, 12 KB connected). A new connection costs ten times a request on an old one (PERFORMANCE.md), so there
   * should be one for each host that is asked within `keepAliveMaxMs`; 4,000 in each thread are 48 MB.
   */
  readonly clientsMax: number;
  readonly bodies: Readonly<Record<FetchPurpose, BodyBounds>>;
}

const MIB = 1_048_576;

/** Defaults. A minute at most for one URL; 16 MiB hold every page worth parsing. */
export const FETCH_LIMITS: FetchLimits = {
  deadlineMs: 50_000,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  idleTimeoutMs: 15_000,
  keepAliveMaxMs: 60_000,
  headerBytesMax: 65_536,
  clientsMax: 4_000,
  bodies: {
    page: { payloadBytesMax: 16 * MIB, decodedBytesMax: 32 * MIB },
    // RFC 9309 §2.5 asks for at least 500 KiB of robots.txt.
    robots: { payloadBytesMax: MIB, decodedBytesMax: MIB },
    // sitemaps.org: 50 MB uncompressed.
    sitemap: { payloadBytesMax: 50 * MIB, decodedBytesMax: 50 * MIB },
    // What a page in the browser asks for: the bundle of a large application is some 3 MB, and answers cross threads in one piece.
    resource: { payloadBytesMax: 4 * MIB, decodedBytesMax: 8 * MIB },
  },
};
