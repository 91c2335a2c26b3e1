// Opens what a running crawl is operated through (DESIGN.md §10): the debug socket, and dashboard, metrics and health with `--http`. Every act
// of an operator, done or refused, is appended to `DIR/audit/operations.ndjson`.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import xxhash from 'xxhash-wasm';
import { partitionIndex } from '../base/units.ts';
import type { CrawlConfig } from '../config/options.ts';
import { createHasher } from '../domain/url-key.ts';
import { DebugSocket } from '../ops/debug-socket.ts';
import { OpsHttpServer } from '../ops/http-server.ts';
import type { Log, LogLevel } from '../ops/log.ts';
import type { OperationEntry } from '../ops/operation.ts';
import type { ReadStore } from '../storage/read-store.ts';
import type { CrawlProcess } from './crawl-process.ts';
import type { LiveLists } from './live-lists.ts';
import { type OperatedCrawl, ProcessOperator } from './process-operator.ts';
import { shardRing } from './shard-plan.ts';

export class CrawlOperations {
  readonly state: OperatedCrawl['state'];
  readonly #socket: DebugSocket;
  readonly #http: OpsHttpServer | undefined;

  private constructor(
    state: OperatedCrawl['state'],
    socket: DebugSocket,
    http: OpsHttpServer | undefined,
  ) {
    this.state = state;
    this.#socket = socket;
    this.#http = http;
  }

  /** @throws CrawlError config when the socket or the address cannot be listened at */
  static async open(options: {
    readonly crawl: CrawlProcess;
    readonly config: CrawlConfig;
    readonly store: ReadStore;
    readonly log: Log;
    readonly lists: LiveLists;
  }): Promise<CrawlOperations> {
    const { crawl, config, store, log, lists } = options;
    const { identity } = crawl.storage.opened;
    const hasher = createHasher(await xxhash(), identity.hashSeed);
    const ring = shardRing(config.threads, identity.partitions, hasher);
    const state = { paused: false, stopping: false };
    const operator = new ProcessOperator({
      crawl,
      reading: { config, store, hasher },
      shardOf: (partition) => ring.ownerOf(partitionIndex(partition)),
      setLogLevel: (level) => {
        log.level = level as LogLevel;
      },
      reload: () => lists.reload(),
      state,
    });
    const path = join(config.dataDir, 'audit', 'operations.ndjson');
    const audited = (entry: OperationEntry): void => {
      log.info('operation', entry.text, { ...entry });
      append(path, entry, log);
    };
    const socket = await DebugSocket.open({ operator, audited, path: config.debugSocket });
    try {
      const address = config.http;
      const http =
        address === undefined ? undefined : await OpsHttpServer.open({ operator, address });
      if (http !== undefined) log.info('dashboard', `dashboard at ${http.url}`, { url: http.url });
      return new CrawlOperations(state, socket, http);
    } catch (error) {
      await socket.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.state.stopping = true;
    await Promise.all([this.#socket.close(), this.#http?.close()]);
  }
}

/** The act is done whether or not it can be written down; a full disk must not keep an operator from helping. */
function append(path: string, entry: OperationEntry, log: Log): void {
  try {
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
  } catch (error) {
    log.warn('operation-unlogged', `cannot write ${path}`, { err: error });
  }
}
