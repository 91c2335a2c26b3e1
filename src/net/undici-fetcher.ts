// Step 9 of a URL's life on real sockets: the FetchPort through undici 7, one Client per origin, by `dispatch` with a handler of our own
// (34 µs a 10 KB fetch against 48 for `request`, PERFORMANCE.md). Redirects are answers here, not instructions: each hop is scheduled,
// checked against robots.txt and paced like any other URL (I2, I3). Keeps I13 by dial.ts and I10 by fetch-limits.ts.
// Time is watched by one coarse tick over the exchanges under way, not by timers of their own: a deadline may be a tick late, never early.

import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { FetchOutcome, FetchPort, FetchRequest } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { parseProxy } from '../base/proxy-target.ts';
import type { MonotonicMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { AddressGuard } from './address-guard.ts';
import { ClientCache } from './client-cache.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import { FetchError } from './fetch-error.ts';
import { FETCH_LIMITS, type FetchLimits } from './fetch-limits.ts';
import { type HostFields, type HostRequestSettings, hostFieldsOf } from './host-fields.ts';
import { OriginClient, type OriginClientOptions } from './origin-client.ts';
import {
  type RequestTarget,
  requestFields,
  requestTarget,
  standingFields,
} from './request-head.ts';

/** How a fetcher is made. */
export interface UndiciFetcherOptions {
  readonly guard: AddressGuard;
  /** Monotonic clock. */
  readonly now: () => MonotonicMs;
  /**
   * How long before `now` this thread had last looked at its sockets (runtime/loop-watch.ts); taken off response times. Default: 0, for a
   * thread that does nothing else.
   */
  readonly blindMs?: (now: MonotonicMs) => number;
  /** Whole User-Agent field, `hostler/VERSION (+CONTACT)`. */
  readonly userAgent: string;
  /** Mail address for the From field; left out when undefined. */
  readonly from?: string | undefined;
  /** PEM texts of certificates trusted beside the built-in ones (--ca). */
  readonly trustedCertificates?: readonly string[];
  /**
   * Asked before connecting and once more before sending; false ends the request as `aborted`. A cluster node answers whether its lease
   * still stands (CLUSTER.md, ownership rule 1). Default: always.
   */
  readonly mayRequest?: (url: string) => boolean;
  /** What is sent to a host (as URL.hostname) beside the ordinary request; undefined: nothing. Default: nothing to any. */
  readonly settingsOf?: (hostname: string) => HostRequestSettings | undefined;
  /** Bounds that differ from FETCH_LIMITS. */
  readonly limits?: Partial<FetchLimits>;
}

/** A request in flight and the client it went to. */
interface UnderWay {
  readonly exchange: Exchange;
  readonly client: OriginClient;
}

/** How often the clock is looked at. */
const TICK_MS = 200;
/** Framing (chunk sizes, extensions) may weigh this many times the payload, and this much besides, before it is taken for an attack. */
const FRAMING_FACTOR_MAX = 16;
const FRAMING_BYTES_MAX = 1_048_576;

/** The FetchPort of production. */
export class UndiciFetcher implements FetchPort {
  readonly #options: UndiciFetcherOptions;
  readonly #limits: FetchLimits;
  readonly #clients: ClientCache;
  readonly #standing: readonly string[];
  readonly #clientOptions: OriginClientOptions;
  readonly #owner: ExchangeOwner;
  /** Exchanges under way in no order, each knowing its slot; an array, since a Map churned at every fetch is dear (client-cache.ts). */
  readonly #underWay: UnderWay[] = [];
  readonly #timer: NodeJS.Timeout;
  #secureContext: SecureContext | undefined;
  #isClosed = false;

  /** @throws CrawlError config when a trusted certificate or the identity cannot be used */
  constructor(options: UndiciFetcherOptions) {
    this.#options = options;
    this.#limits = { ...FETCH_LIMITS, ...options.limits };
    this.#owner = {
      now: options.now,
      blindMs: options.blindMs ?? (() => 0),
      mayRequest: options.mayRequest ?? (() => true),
      released: (exchange) => this.#released(exchange),
    };
    this.#clients = new ClientCache(this.#limits.clientsMax);
    this.#standing = checkedFields(options);
    const { trustedCertificates } = options;
    if (trustedCertificates !== undefined) this.#secureContext = trusting(trustedCertificates);
    this.#clientOptions = {
      guard: options.guard,
      now: options.now,
      connectTimeoutMs: this.#limits.connectTimeoutMs,
      headerBytesMax: this.#limits.headerBytesMax,
      keepAliveMaxMs: this.#limits.keepAliveMaxMs,
      secureContext: () => {
        this.#secureContext ??= createSecureContext();
        return this.#secureContext;
      },
      proxyOf: (hostname) => {
        const proxy = options.settingsOf?.(hostname)?.proxy;
        if (proxy === undefined) return undefined;
        const target = parseProxy(proxy);
        assert(
          target !== undefined,
          () => `the configuration let a wrong proxy through for ${hostname}`,
        );
        return target;
      },
    };
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Requests under way. */
  get size(): number {
    return this.#underWay.length;
  }

  /** Clients kept, busy ones included. */
  get clients(): number {
    return this.#clients.size;
  }

  start(request: FetchRequest, ended: (outcome: FetchOutcome) => void): void {
    const target = requestTarget(request.url);
    const refusal = this.#refusal(request, target);
    if (target === undefined || refusal !== undefined) {
      this.#refuse(refusal ?? 'protocol-error', request.url, ended);
      return;
    }
    const client = this.#clients.take(
      target.origin,
      request.addresses,
      () => new OriginClient(target, this.#clientOptions),
    );
    const own = request.isForeign === true ? undefined : this.#hostFields(target.hostname);
    const { etag, lastModified } = request;
    const fields = requestFields(own?.sent ?? this.#standing, etag, lastModified);
    const shown = own === undefined ? fields : requestFields(own.shown, etag, lastModified);
    const bounds = this.#limits.bodies[request.purpose];
    const subject = { request, target, fields, shown, bounds };
    const exchange = new Exchange(subject, client, this.#owner, ended);
    exchange.slot = this.#underWay.length;
    this.#underWay.push({ exchange, client });
    client.dispatch(exchange);
  }

  abort(fetchId: number): void {
    // Aborts are rare, exchanges under way few hundred.
    const pair = this.#underWay.find(
      ({ exchange }) => exchange.subject.request.fetchId === fetchId,
    );
    if (pair !== undefined) this.#stop(pair, 'aborted', 'aborted');
  }

  release(origin: string): void {
    this.#clients.release(origin);
  }

  /** Aborts what is under way, closes all connections; later requests end as `aborted`. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const pair of [...this.#underWay]) this.#stop(pair, 'aborted', 'fetcher closed');
    this.#clients.clear();
  }

  #hostFields(hostname: string): HostFields | undefined {
    const settings = this.#options.settingsOf?.(hostname);
    return settings === undefined ? undefined : hostFieldsOf(this.#standing, settings);
  }

  #refusal(request: FetchRequest, target: RequestTarget | undefined): FailureKind | undefined {
    if (target === undefined) return 'protocol-error';
    if (this.#isClosed || !this.#owner.mayRequest(request.url)) return 'aborted';
    return request.addresses.length === 0 ? 'dns-failed' : undefined;
  }

  #refuse(failure: FailureKind, url: string, ended: (outcome: FetchOutcome) => void): void {
    const startedMs = this.#options.now();
    const detail = `not sent: ${url}`.slice(0, 200);
    const address = undefined;
    const outcome: FetchOutcome = {
      kind: 'failed',
      failure,
      detail,
      address,
      startedMs,
      endedMs: startedMs,
    };
    queueMicrotask(() => ended(outcome));
  }

  #released(exchange: Exchange): void {
    const { slot } = exchange;
    const pair = this.#underWay[slot];
    assert(pair?.exchange === exchange, () => `exchange not in its slot ${slot}`);
    const last = this.#underWay.pop() as UnderWay;
    if (last !== pair) {
      this.#underWay[slot] = last;
      last.exchange.slot = slot;
    }
    pair.client.released(exchange);
  }

  #stop({ exchange, client }: UnderWay, kind: FailureKind, text: string): void {
    exchange.stop(kind, text);
    if (!exchange.isSent) client.cancelDial(new FetchError(kind, text));
  }

  #tick(): void {
    const now = this.#options.now();
    for (const pair of [...this.#underWay]) {
      pair.client.tick(now);
      if (pair.exchange.isOver) continue;
      const reason = this.#overdue(pair, now);
      if (reason !== undefined) this.#stop(pair, 'timeout', reason);
      else if (isFramingExcessive(pair)) this.#stop(pair, 'protocol-error', 'endless framing');
    }
  }

  #overdue({ exchange }: { exchange: Exchange }, now: MonotonicMs): string | undefined {
    const { deadlineMs, headersTimeoutMs, idleTimeoutMs } = this.#limits;
    if (now - exchange.startedMs >= deadlineMs) return `not done after ${deadlineMs} ms`;
    const silentMs = now - exchange.lastByteMs;
    if (exchange.hasHead) {
      return silentMs >= idleTimeoutMs ? `silent for ${idleTimeoutMs} ms` : undefined;
    }
    if (!exchange.isSent || silentMs < headersTimeoutMs) return undefined;
    return `no headers after ${headersTimeoutMs} ms`;
  }
}

function isFramingExcessive({ exchange, client }: UnderWay): boolean {
  if (!exchange.hasHead) return false;
  const bound = FRAMING_BYTES_MAX + FRAMING_FACTOR_MAX * exchange.payloadBytes;
  return client.bytesRead() > bound;
}

/** The standing fields, checked once: undici would refuse each request for a bad one. */
function checkedFields(options: UndiciFetcherOptions): readonly string[] {
  const fields = standingFields(options.userAgent, options.from);
  if (fields.some((field) => field === '' || !/^[\x20-\x7e]+$/.test(field))) {
    throw new CrawlError('config', 'the user agent or From holds characters a header may not', {
      remedy: 'Use printable ASCII in --user-agent and --contact.',
    });
  }
  return fields;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A TLS context that trusts these certificates beside the built-in ones; made once, since reading the built-in ones takes a while. */
function trusting(texts: readonly string[]): SecureContext {
  const certificates = texts.flatMap((text) => text.match(CERTIFICATE) ?? ['']);
  try {
    // createSecureContext passes over what it cannot read in silence.
    for (const certificate of certificates) new X509Certificate(certificate);
    return createSecureContext({ ca: [...rootCertificates, ...certificates] });
  } catch (cause) {
    throw new CrawlError('config', 'a trusted certificate cannot be read', {
      remedy: 'Give --ca a file with certificates in PEM form.',
      cause,
    });
  }
}
