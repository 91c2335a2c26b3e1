// The ResolvePort on real DNS servers (before step 9 of a URL's life): host name → addresses that may be contacted, with a time to live.
// No cache here: a host's answers belong to its HostActor, which asks again when they expire. The guard takes forbidden addresses out
// (I13); it is asked again when connecting. Both families are asked at once; the preferred one does not wait long for the other, since some
// servers never answer for AAAA. SERVFAIL, timeouts and the like are tried on the next server and in further rounds (dns-servers.ts).

import { getServers, type RecordWithTtl } from 'node:dns';
import { isIP } from 'node:net';
import type { ResolveOutcome, ResolvePort } from '../actors/ports.ts';
import { CrawlError } from '../base/errors.ts';
import type { AddressGuard } from './address-guard.ts';
import { type DnsAnswer, DnsServers } from './dns-servers.ts';

/** Which families are asked for, and whose addresses come first. */
export type FamilyPreference = 'ipv4-first' | 'ipv6-first' | 'ipv4-only' | 'ipv6-only';

/** How a resolver is made; times in milliseconds. */
export interface DnsResolverOptions {
  readonly guard: AddressGuard;
  /** Servers as `address`, `address:port` or `[address]:port` (--dns). Default: those of the system. */
  readonly servers?: readonly string[];
  readonly families?: FamilyPreference;
  /** Bounds of a record's time to live. Default one minute to one day. */
  readonly ttlMsMin?: number;
  readonly ttlMsMax?: number;
  /** How long an absent name stays absent. Default five minutes (RFC 2308 §5 allows up to three hours). */
  readonly negativeTtlMs?: number;
  /** Longest wait for one server in each round. Default 2, 4 and 8 s. */
  readonly timeoutsMs?: readonly number[];
  /** Questions outstanding at one server. Default 64. */
  readonly concurrencyMax?: number;
  /** Questions waiting. Default 20,000. */
  readonly queueMax?: number;
  /** How long a usable answer waits for the other family. Default 200 (RFC 8305 §3 has 50 between families). */
  readonly otherFamilyWaitMs?: number;
}

const SECOND = 1_000;
const DEFAULTS = {
  families: 'ipv4-first',
  ttlMsMin: 60 * SECOND,
  ttlMsMax: 86_400 * SECOND,
  negativeTtlMs: 300 * SECOND,
  timeoutsMs: [2 * SECOND, 4 * SECOND, 8 * SECOND],
  concurrencyMax: 64,
  queueMax: 20_000,
  otherFamilyWaitMs: 200,
} as const;

/** Addresses kept of one answer; some zones list hundreds. */
const ADDRESSES_MAX = 16;
/** RFC 6761 §6.3: these names are never asked for. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

/** The ResolvePort of production. */
export class DnsResolver implements ResolvePort {
  readonly #guard: AddressGuard;
  readonly #options: Required<Omit<DnsResolverOptions, 'guard' | 'servers'>>;
  readonly #families: readonly (4 | 6)[];
  readonly #servers: DnsServers;

  /** @throws CrawlError config when a server's address cannot be read or there is no server */
  constructor(options: DnsResolverOptions) {
    this.#guard = options.guard;
    this.#options = { ...DEFAULTS, ...options };
    this.#families = familiesOf(this.#options.families);
    const { timeoutsMs, concurrencyMax, queueMax } = this.#options;
    const servers = checkedServers(options.servers ?? getServers());
    this.#servers = new DnsServers({ servers, timeoutsMs, concurrencyMax, queueMax });
  }

  resolve(host: string, answered: (outcome: ResolveOutcome) => void): void {
    const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
    const fixed = isIP(bare) !== 0 ? [bare] : LOCALHOST.test(host) ? this.#loopback() : undefined;
    if (fixed !== undefined) {
      const outcome = this.#judge(fixed, this.#options.ttlMsMax);
      queueMicrotask(() => answered(outcome));
      return;
    }
    new Resolution(this.#families, this.#options.otherFamilyWaitMs, {
      ask: (family, done) => this.#servers.ask(host, family, done),
      isUsable: (records) => records.some((record) => this.#guard.admits(record.address)),
      done: (answers) => answered(this.#conclude(answers)),
    }).start();
  }

  /** Ends all open questions as failed; later ones fail at once. */
  close(): void {
    this.#servers.close();
  }

  #loopback(): readonly string[] {
    return this.#families.map((family) => (family === 4 ? '127.0.0.1' : '::1'));
  }

  /** Answers, in order of preference, as one outcome. */
  #conclude(answers: readonly DnsAnswer[]): ResolveOutcome {
    const records: RecordWithTtl[] = [];
    for (const answer of answers) if (answer.kind === 'records') records.push(...answer.records);
    if (records.length > 0) {
      const shortest = records.reduce((least, { ttl }) => Math.min(least, ttl), Infinity) * SECOND;
      const addresses = [...new Set(records.map(({ address }) => address))];
      return this.#judge(addresses, this.#clampTtl(shortest));
    }
    const failed = answers.find((answer) => answer.kind === 'failed');
    // NXDOMAIN is about the name, whatever its type (RFC 8020): it outweighs a failure for the other family.
    if (failed !== undefined && !answers.some((answer) => answer.kind === 'no-name')) {
      return { kind: 'failed', detail: failed.detail };
    }
    return { kind: 'no-such-host', ttlMs: this.#options.negativeTtlMs };
  }

  #judge(addresses: readonly string[], ttlMs: number): ResolveOutcome {
    const admitted = addresses.filter((address) => this.#guard.admits(address));
    if (admitted.length === 0) {
      return { kind: 'forbidden', addresses: addresses.slice(0, ADDRESSES_MAX), ttlMs };
    }
    return { kind: 'resolved', addresses: admitted.slice(0, ADDRESSES_MAX), ttlMs };
  }

  #clampTtl(ttlMs: number): number {
    return Math.min(Math.max(ttlMs, this.#options.ttlMsMin), this.#options.ttlMsMax);
  }
}

/** One name being resolved: both families, and the patience between them. */
class Resolution {
  readonly #families: readonly (4 | 6)[];
  readonly #answers: (DnsAnswer | undefined)[];
  readonly #waitMs: number;
  readonly #ports: {
    readonly ask: (family: 4 | 6, done: (answer: DnsAnswer) => void) => void;
    readonly isUsable: (records: readonly RecordWithTtl[]) => boolean;
    readonly done: (answers: readonly DnsAnswer[]) => void;
  };
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    families: readonly (4 | 6)[],
    waitMs: number,
    ports: {
      readonly ask: (family: 4 | 6, done: (answer: DnsAnswer) => void) => void;
      readonly isUsable: (records: readonly RecordWithTtl[]) => boolean;
      readonly done: (answers: readonly DnsAnswer[]) => void;
    },
  ) {
    this.#families = families;
    this.#answers = families.map(() => undefined);
    this.#waitMs = waitMs;
    this.#ports = ports;
  }

  start(): void {
    for (const [index, family] of this.#families.entries()) {
      this.#ports.ask(family, (answer) => this.#answered(index, answer));
    }
  }

  #answered(index: number, answer: DnsAnswer): void {
    this.#answers[index] = answer;
    if (this.#isOver) return;
    // Not at once for NXDOMAIN: some servers say so about AAAA of names that have A (RFC 4074 §4.2).
    if (!this.#answers.includes(undefined)) {
      this.#end();
    } else if (answer.kind === 'records' && this.#ports.isUsable(answer.records)) {
      this.#timer = setTimeout(() => this.#end(), this.#waitMs);
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ports.done(this.#answers.filter((answer) => answer !== undefined));
  }
}

function familiesOf(preference: FamilyPreference): readonly (4 | 6)[] {
  if (preference === 'ipv4-only') return [4];
  if (preference === 'ipv6-only') return [6];
  return preference === 'ipv4-first' ? [4, 6] : [6, 4];
}

const SERVER = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::(\d{1,5}))?$/i;

function checkedServers(servers: readonly string[]): readonly string[] {
  for (const server of servers) {
    const parts = SERVER.exec(server);
    const isFine = parts !== null && isIP(parts[1] ?? parts[2] ?? '') !== 0;
    const port = Number(parts?.[3] ?? 53);
    if ((isFine && port > 0 && port < 65_536) || isIP(server) !== 0) continue;
    throw new CrawlError('config', `not a DNS server: "${server.slice(0, 80)}"`, {
      remedy: 'Write ADDRESS, ADDRESS:PORT or [IPV6]:PORT, not a name.',
    });
  }
  if (servers.length > 0) return servers;
  throw new CrawlError('config', 'no DNS server is known', {
    remedy: 'Name one with --dns, or in /etc/resolv.conf.',
  });
}
