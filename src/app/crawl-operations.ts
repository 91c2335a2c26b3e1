// Opens what a running crawl is operated through (DESIGN.md §10): the debug socket, and dashboard, metrics and health with `--http`. Every act
// of an operator, done or refused, is appended to `DIR/audit/operations.ndjson`.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import xxhash from 'xxhash-wasm';
import { partitionIndex } from '../base/units.ts';
import type { CrawlConfig } from '../config/options.ts';
import { createHasher, type UrlHasher } from '../domain/url-key.ts';
import { ANSWER_TIMEOUT_MS, type AnswerServices, answerRequest } from '../ops/answer-request.ts';
import { DebugSocket } from '../ops/debug-socket.ts';
import { isLoopback, parseHttpAddress } from '../ops/http-address.ts';
import { type OperateOptions, type OpsHttpOptions, OpsHttpServer } from '../ops/http-server.ts';
import type { Log, LogLevel } from '../ops/log.ts';
import type { OperationEntry } from '../ops/operation.ts';
import type { ReadStore } from '../storage/read-store.ts';
import type { CrawlProcess } from './crawl-process.ts';
import { removeHttpToken, writeHttpToken } from './http-token.ts';
import { LiveConfig } from './live-config.ts';
import type { LiveLists } from './live-lists.ts';
import { PauseBook } from './pause-book.ts';
import { type OperatedCrawl, ProcessOperator } from './process-operator.ts';
import type { CrawlReading } from './read-crawl.ts';
import { shardRing } from './shard-plan.ts';

/** By what an operator comes in. */
interface Doors {
  readonly socket: DebugSocket;
  readonly http: OpsHttpServer | undefined;
  readonly endSignals: () => void;
}

export class CrawlOperations {
  readonly state: OperatedCrawl['state'];
  readonly #doors: Doors;
  readonly #dataDir: string;

  private constructor(state: OperatedCrawl['state'], doors: Doors, dataDir: string) {
    this.state = state;
    this.#doors = doors;
    this.#dataDir = dataDir;
  }

  /** @throws CrawlError config when the socket or the address cannot be listened at */
  static async open(options: {
    readonly crawl: CrawlProcess;
    readonly config: CrawlConfig;
    readonly store: ReadStore;
    readonly log: Log;
    readonly lists: LiveLists;
    readonly reread: () => Promise<CrawlConfig>;
  }): Promise<CrawlOperations> {
    const { crawl, config, store, log, lists, reread } = options;
    const { identity } = crawl.storage.opened;
    const hasher = createHasher(await xxhash(), identity.hashSeed);
    const ring = shardRing(config.threads, identity.partitions, hasher);
    const state = { pauses: new PauseBook(), stopping: false };
    const setLogLevel = (level: LogLevel): void => {
      log.level = level;
    };
    const live = new LiveConfig(config, { crawl, setLogLevel, reread });
    const operator = new ProcessOperator({
      crawl,
      reading: liveReading(live, store, hasher),
      shardOf: (partition) => ring.ownerOf(partitionIndex(partition)),
      setLogLevel: (level) => setLogLevel(level as LogLevel),
      reload: async () => [...(await live.reload()), ...(await lists.reload())],
      state,
    });
    const path = join(config.dataDir, 'audit', 'operations.ndjson');
    const audited = (entry: OperationEntry): void => {
      log.info('operation', entry.text, { ...entry });
      append(path, entry, log);
    };
    const services = { operator, audited, timeoutMs: ANSWER_TIMEOUT_MS, source: 'signal' } as const;
    const endSignals = reloadOnSignal(services);
    const socket = await DebugSocket.open({ operator, audited, path: config.debugSocket });
    try {
      const http = await openHttp(config, { operator, audited }, log);
      return new CrawlOperations(state, { socket, http, endSignals }, config.dataDir);
    } catch (error) {
      endSignals();
      await socket.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.state.stopping = true;
    const { socket, http, endSignals } = this.#doors;
    endSignals();
    await Promise.all([socket.close(), http?.close()]);
    removeHttpToken(this.#dataDir);
  }
}

/** The crawl to read, with the configuration that is in force when it is asked for. */
function liveReading(live: LiveConfig, store: ReadStore, hasher: UrlHasher): CrawlReading {
  return {
    get config() {
      return live.current;
    },
    store,
    hasher,
  };
}

/** True for a crawl that was started on a terminal: SIGHUP then says that the terminal is gone (signal(7)). */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true || process.stderr.isTTY === true;
}

/** SIGHUP reads the configuration anew, as it does for servers. @returns a function that ends it */
function reloadOnSignal(services: AnswerServices): () => void {
  if (hasTerminal()) return () => {};
  const { signal } = new AbortController();
  const reload = (): void => {
    void answerRequest(services, { verb: 'reload', args: [] }, { tell: () => {}, signal });
  };
  process.on('SIGHUP', reload);
  return () => process.off('SIGHUP', reload);
}

/** The dashboard, where one is asked for; with `--http-operate` whoever has the token may act by it. */
async function openHttp(
  config: CrawlConfig,
  { operator, audited }: Pick<OpsHttpOptions, 'operator'> & Pick<OperateOptions, 'audited'>,
  log: Log,
): Promise<OpsHttpServer | undefined> {
  const address = config.http;
  if (address === undefined) return undefined;
  const kept = config.httpOperate ? writeHttpToken(config.dataDir) : undefined;
  const operate = kept === undefined ? undefined : { token: kept.token, audited };
  const http = await OpsHttpServer.open({ operator, address, operate });
  const { url } = http;
  log.info('dashboard', `dashboard at ${url}`, { url, ...(kept && { tokenFile: kept.path }) });
  if (kept !== undefined && !isLoopback(parseHttpAddress(address).host)) {
    const text = 'the token crosses the network in clear; put TLS in front, or bind to loopback';
    log.warn('dashboard-exposed', text, { url });
  }
  return http;
}

/** The act is done whether or not it can be written down; a full disk must not keep an operator from helping. */
function append(path: string, entry: OperationEntry, log: Log): void {
  try {
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
  } catch (error) {
    log.warn('operation-unlogged', `cannot write ${path}`, { err: error });
  }
}
