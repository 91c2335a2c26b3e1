// One node of a cluster, from the nodes file to the end of the crawl: starts the bus server if this machine runs one, agrees with the others on
// the crawl's identity, takes its seat, and ends when all do. Beside it the crawl process does what it does alone; only what may be fetched,
// and when the crawl is over, is no longer its own decision (DESIGN.md §8, CLUSTER.md).

import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import xxhash from 'xxhash-wasm';
import { CrawlError } from '../base/errors.ts';
import { partitionIndex, wallMs } from '../base/units.ts';
import { Bus, type BusOptions } from '../cluster/bus.ts';
import { busPorts } from '../cluster/bus-config.ts';
import { BusServer } from '../cluster/bus-server.ts';
import { ClusterNode } from '../cluster/cluster-node.ts';
import type { HostsFile, NodeLine } from '../cluster/hosts-file.ts';
import { leaseTimes } from '../cluster/lease-times.ts';
import { urlHost } from '../cluster/node-address.ts';
import type { CrawlConfig } from '../config/options.ts';
import { createHasher } from '../domain/url-key.ts';
import type { Log } from '../ops/log.ts';
import { RealClock } from '../runtime/real-clock.ts';
import type { CrawlIdentity } from '../storage/crawl-identity.ts';
import { ReadStore } from '../storage/read-store.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';
import { ClusterBridge } from './cluster-bridge.ts';
import type { ClusterSeats, CrawlProcess, ShardNews } from './crawl-process.ts';
import { shardRing } from './shard-plan.ts';

/** How long a node that leaves waits until its partitions have found their owners and what it has of them is there. */
const DRAIN_MS = 60_000;
const LOOK_MS = 100;
/** Looks in a row that must find nothing under way: a shard may hear of the last change of owner a little later. */
const QUIET_LOOKS = 8;
/** Key of the crawl's identity in the bucket. */
const CRAWL_KEY = 'crawl';

export interface ClusterPlace {
  readonly file: HostsFile;
  readonly node: NodeLine;
}

export class ClusterRun {
  readonly seats: ClusterSeats;
  readonly #config: CrawlConfig;
  readonly #place: ClusterPlace;
  readonly #bridge: ClusterBridge;
  readonly #server: BusServer | undefined;
  readonly #bus: Omit<BusOptions, 'reconnected'>;
  readonly #isSuspect: boolean;
  readonly #log: Log;
  #node: ClusterNode | undefined;

  private constructor(parts: {
    readonly config: CrawlConfig;
    readonly place: ClusterPlace;
    readonly bridge: ClusterBridge;
    readonly server: BusServer | undefined;
    readonly bus: Omit<BusOptions, 'reconnected'>;
    readonly identity: CrawlIdentity;
    readonly isSuspect: boolean;
    readonly log: Log;
  }) {
    this.#config = parts.config;
    this.#place = parts.place;
    this.#bridge = parts.bridge;
    this.#server = parts.server;
    this.#bus = parts.bus;
    this.#isSuspect = parts.isSuspect;
    this.#log = parts.log;
    const { bridge, identity } = parts;
    this.seats = { identity, seat: (shard) => bridge.seat(shard) };
  }

  /**
   * Starts the bus server where it is this machine's, and joins the crawl.
   * @throws CrawlError config for a secret, a port or a binary that is missing; bus when it cannot be reached
   */
  static async open(config: CrawlConfig, place: ClusterPlace, log: Log): Promise<ClusterRun> {
    const { file, node } = place;
    const secret = readSecret(file);
    const warn = (text: string): void => log.warn('bus', text);
    const own = file.bus.kind === 'own' ? file.bus.servers : [];
    const servers = file.nodes.filter(({ name }) => own.includes(name));
    const tlsDir = file.tlsDir;
    const server = servers.some(({ name }) => name === node.name)
      ? await BusServer.start({
          ...{ node, servers, secret, tlsDir, warn },
          dir: join(config.dataDir, 'bus'),
        })
      : undefined;
    const bus: Omit<BusOptions, 'reconnected'> = {
      servers:
        file.bus.kind === 'given'
          ? file.bus.url.split(',')
          : servers.map((each) => `${urlHost(each.address)}:${busPorts(each).client}`),
      name: node.name,
      ...{ secret, tlsDir },
      patienceMs: config.busPatienceMs,
      prefix: 'hostler',
      replicas: Math.max(servers.length, 1) >= 3 ? 3 : 1,
    };
    try {
      const { identity, isSuspect } = await agree(config, bus);
      const hasher = createHasher(await xxhash(), identity.hashSeed);
      const ring = shardRing(config.threads, identity.partitions, hasher);
      const threadOf = (partition: number): number => ring.ownerOf(partitionIndex(partition));
      const bridge = new ClusterBridge(identity.partitions, threadOf);
      return new ClusterRun({ config, place, bridge, server, bus, identity, isSuspect, log });
    } catch (error) {
      await server?.stop();
      throw error;
    }
  }

  /** Takes part from now on: the shards have their seats. @param failed told when the node cannot take part, or go on */
  async begin(failed: (error: CrawlError) => void): Promise<void> {
    try {
      await this.#join(failed);
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      failed(error);
    }
  }

  async #join(failed: (error: CrawlError) => void): Promise<void> {
    const { file, node } = this.#place;
    const { identity } = this.seats;
    const hasher = createHasher(await xxhash(), identity.hashSeed);
    const clock = new RealClock();
    const { bus } = { bus: this.#bus };
    this.#node = await ClusterNode.start({
      ownership: {
        name: node.name,
        weight: node.weight,
        region: node.region,
        times: leaseTimes(this.#config.leaseMs),
        partitions: identity.partitions,
        expectedNodes: file.nodes.length,
        hash: (text) => hasher.hostKey(text),
        drawIncarnation: () => randomBytes(9).toString('hex'),
        isSuspect: this.#isSuspect,
      },
      bus,
      run: randomBytes(9).toString('hex'),
      now: () => clock.now(),
      tenure: this.#bridge.tenure,
      fullGapMs: fullGapMs(this.#config),
      events: this.#bridge.events({
        warn: (text) => this.#log.warn('cluster', text),
        failed,
      }),
    });
    this.#bridge.connect(this.#node);
    this.#log.info('cluster', `node ${node.name} of ${file.nodes.length}, base port ${node.port}`, {
      node: node.name,
      nodes: file.nodes.length,
      bus: this.#bus.servers,
    });
  }

  /** Why the crawl ends for all nodes, once one has decided. */
  get ending(): string | undefined {
    return this.#node?.ending;
  }

  /** What the shards said, and whether they have nothing to do. */
  report(news: readonly ShardNews[], isQuiet: boolean): void {
    const activity = news.reduce((sum, { load }) => sum + load.remoteActivity, 0);
    this.#node?.report(isQuiet, activity);
  }

  /** Hands everything to the nodes that stay. Their receipts are waited for. */
  async drain(crawl: CrawlProcess): Promise<void> {
    const node = this.#node;
    if (node === undefined) return;
    const untilMs = performance.now() + DRAIN_MS;
    if (!(await node.drain(DRAIN_MS))) return;
    this.#log.info('drained', 'every partition is handed over; waiting until what was queued is');
    let quiet = 0;
    while (performance.now() < untilMs && node.ending === undefined && quiet < QUIET_LOOKS) {
      await sleep(LOOK_MS);
      const news = await crawl.refresh();
      const isQuiet = node.isAllElsewhere && news.every(({ status }) => status.quiet);
      quiet = isQuiet ? quiet + 1 : 0;
    }
  }

  /** The crawl process has ended: gives the lease back and ends the bus server. */
  async end(): Promise<void> {
    await this.#node?.quit(this.#server !== undefined);
    this.#bridge.close();
    await this.#server?.stop();
  }
}

/** The longest gap a host may have here, whatever rule it comes from (CLUSTER.md, rule 5). */
function fullGapMs(config: CrawlConfig): number {
  const own = config.hostOverrides.map((override) =>
    Math.max(override.maxCrawlDelayMs ?? 0, override.minGapMs ?? 0),
  );
  return Math.max(config.maxCrawlDelayMs, config.minGapMs, ...own);
}

/** All nodes of a crawl hash alike: the first one draws the identity, the others take it over. */
async function agree(
  config: CrawlConfig,
  options: Omit<BusOptions, 'reconnected'>,
): Promise<{ readonly identity: CrawlIdentity; readonly isSuspect: boolean }> {
  const stored = storedIdentity(config);
  const bus = await Bus.open({ ...options, reconnected: () => undefined });
  try {
    const drawn: CrawlIdentity = stored ?? {
      crawlId: randomUUID(),
      hashSeed: randomBytes(8).readBigUInt64LE(0),
      partitions: config.partitions,
      createdAt: wallMs(Date.now()),
    };
    const text = JSON.stringify({ ...drawn, hashSeed: drawn.hashSeed.toString() });
    const untilMs = performance.now() + config.busPatienceMs;
    while (performance.now() < untilMs) {
      const known = await bus.read(CRAWL_KEY);
      if (known !== undefined) {
        return { identity: identityOf(known.text), isSuspect: false };
      }
      const outcome = await bus.write(CRAWL_KEY, 0, text);
      // A node with a stored crawl, and a bus that knows none: it has lost what it had.
      if (outcome.kind === 'written') return { identity: drawn, isSuspect: stored !== undefined };
      await sleep(LOOK_MS);
    }
    throw new CrawlError('bus', 'the bus takes no writes', {
      remedy: 'See that most of its servers run: a majority must agree on each write.',
    });
  } finally {
    await bus.close();
  }
}

function storedIdentity(config: CrawlConfig): CrawlIdentity | undefined {
  if (!existsSync(join(config.dataDir, 'lmdb'))) return undefined;
  const store = new ReadStore(config.dataDir, WARC_PREFIX);
  const { identity } = store;
  void store.close();
  return identity;
}

/** @throws CrawlError bus for what no node of this version wrote */
function identityOf(text: string): CrawlIdentity {
  try {
    const { crawlId, hashSeed, partitions, createdAt } = JSON.parse(text);
    const isWhole = Number.isInteger(partitions) && partitions >= 1 && partitions <= 65_536;
    if (typeof crawlId !== 'string' || !isWhole) throw new TypeError('no identity');
    const seed = BigInt.asUintN(64, BigInt(hashSeed));
    return { crawlId, hashSeed: seed, partitions, createdAt: wallMs(Number(createdAt)) };
  } catch (cause) {
    throw new CrawlError('bus', 'the crawl on the bus is of another version, or no crawl', {
      remedy: 'Use a bus of its own for this cluster.',
      cause,
    });
  }
}

function readSecret(file: HostsFile): string | undefined {
  if (file.secretFile === undefined) return undefined;
  try {
    const secret = readFileSync(file.secretFile, 'utf8').trim();
    if (secret.length >= SECRET_CHARS_MIN && /^[\x21-\x7e]+$/.test(secret)) return secret;
  } catch (cause) {
    throw new CrawlError('config', `secret=@${file.secretFile} cannot be read: ${String(cause)}`, {
      remedy: 'Make the same file on every machine, for example: openssl rand -hex 32 > FILE.',
      cause,
    });
  }
  throw new CrawlError('config', `secret=@${file.secretFile} holds no secret`, {
    remedy: `It needs at least ${SECRET_CHARS_MIN} printable characters: openssl rand -hex 32 > FILE.`,
  });
}

const SECRET_CHARS_MIN = 16;
