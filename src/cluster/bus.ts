// A node's connection to the bus: the bucket with compare-and-set, and plain messages by subject. Every failure is a value: a write that got no
// answer is `unknown`, a lost connection is waited for. Which server speaks is looked at before anything it says is passed on, since a
// server that came back may have lost what it acknowledged (rule 7). Messages are unacknowledged here: links have their own receipts from
// end to end (docs/decisions), which a stream between them could not replace.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection, QueuedIterator, Subscription } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { CrawlError } from '../base/errors.ts';
import type { WriteOutcome } from './ownership-actions.ts';

export interface BusOptions {
  /** `host:port` or URLs. */
  readonly servers: readonly string[];
  /** For the server's own lists. */
  readonly name: string;
  readonly secret: string | undefined;
  readonly tlsDir: string | undefined;
  /** How long the first connection and the bucket are waited for. */
  readonly patienceMs: number;
  /** The first word of every subject, so that crawls may share a bus. */
  readonly prefix: string;
  /** Copies of the bucket: 1 or 3. */
  readonly replicas: number;
  /** The connection came back, or speaks to another server. */
  readonly reconnected: () => void;
}

/** An answer that did not come by then is unknown. */
const ANSWER_MS = 3_000;
/** Between two tries of what the bus cannot do yet: an election, a start. */
const RETRY_MS = 300;
/** JetStream: "wrong last sequence". */
const WRONG_SEQUENCE = 10_071;

export class Bus {
  readonly #options: BusOptions;
  readonly #connection: NatsConnection;
  readonly #bucket: KV;
  #watch: QueuedIterator<KvWatchEntry> | undefined;
  #isClosed = false;

  private constructor(options: BusOptions, connection: NatsConnection, bucket: KV) {
    this.#options = options;
    this.#connection = connection;
    this.#bucket = bucket;
    void this.#listen();
  }

  /** @throws CrawlError bus when it cannot be reached, or has no JetStream, within the time */
  static async open(options: BusOptions): Promise<Bus> {
    const untilMs = performance.now() + options.patienceMs;
    let connection: NatsConnection | undefined;
    for (;;) {
      try {
        connection ??= await connect(connectionOptions(options));
        const kvm = new Kvm(connection);
        const { replicas, prefix } = options;
        const bucket = await kvm.create(`${prefix}_cluster`, { replicas, history: 1 });
        return new Bus(options, connection, bucket);
      } catch (cause) {
        if (performance.now() < untilMs) {
          await sleep(RETRY_MS);
          continue;
        }
        await connection?.close();
        const servers = options.servers.join(', ');
        throw new CrawlError('bus', `the bus at ${servers} cannot be used: ${textOf(cause)}`, {
          remedy:
            'See that nats-server runs there with JetStream, that its port is open to this machine, and that all machines have the same secret.',
          retriable: true,
          cause,
        });
      }
    }
  }

  /** The server that speaks now; changes when it is another one, or the same one was started again. */
  get serverId(): string {
    return this.#connection.info?.server_id ?? '';
  }

  /** Compare-and-set; never throws. */
  async write(key: string, expect: number, text: string): Promise<WriteOutcome> {
    if (this.#isClosed) return { kind: 'unknown' };
    try {
      const revision =
        expect === 0
          ? await this.#bucket.create(key, text)
          : await this.#bucket.update(key, text, expect, ANSWER_MS);
      return { kind: 'written', revision };
    } catch (error) {
      return { kind: isWrongSequence(error) ? 'conflict' : 'unknown' };
    }
  }

  /** One value of the bucket; undefined when there is none or no answer came. */
  async read(key: string): Promise<{ text: string; revision: number } | undefined> {
    try {
      const entry = await this.#bucket.get(key);
      return entry === null ? undefined : { text: entry.string(), revision: entry.revision };
    } catch {
      return undefined;
    }
  }

  /**
   * Begins a fresh session of the view, ending the one before: `began` once, then `seen` for each key, `ended` after the last, then `seen` for
   * each change. Tried again until it can be.
   */
  async watch(hear: {
    readonly began: () => void;
    readonly seen: (key: string, text: string, revision: number) => void;
    readonly ended: () => void;
  }): Promise<void> {
    this.#watch?.stop();
    this.#watch = undefined;
    while (!this.#isClosed) {
      try {
        const { values } = await this.#bucket.status();
        const watch = await this.#bucket.watch();
        this.#watch = watch;
        void this.#follow(watch, values === 0, hear);
        return;
      } catch {
        await sleep(RETRY_MS);
      }
    }
  }

  publish(subject: string, bytes: Uint8Array): void {
    if (this.#isClosed || this.#connection.isClosed()) return;
    this.#connection.publish(`${this.#options.prefix}.${subject}`, bytes);
  }

  /** @param heard gets the words of the subject after the prefix */
  subscribe(subject: string, heard: (subject: string, bytes: Uint8Array) => void): Subscription {
    const cut = this.#options.prefix.length + 1;
    return this.#connection.subscribe(`${this.#options.prefix}.${subject}`, {
      callback: (error, message) => {
        if (error === null) heard(message.subject.slice(cut), message.data);
      },
    });
  }

  /** Sends what waits and closes. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch?.stop();
    await Promise.race([this.#connection.drain().catch(() => undefined), sleep(ANSWER_MS)]);
    await this.#connection.close();
  }

  async #follow(
    watch: QueuedIterator<KvWatchEntry>,
    isEmpty: boolean,
    hear: Parameters<Bus['watch']>[0],
  ): Promise<void> {
    hear.began();
    let isWhole = isEmpty;
    if (isWhole) hear.ended();
    for await (const entry of watch) {
      if (watch !== this.#watch) return;
      hear.seen(entry.key, entry.string(), entry.revision);
      // `isUpdate` is true from the last of the first values on.
      if (!isWhole && entry.isUpdate) {
        isWhole = true;
        hear.ended();
      }
    }
  }

  async #listen(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'reconnect') this.#options.reconnected();
    }
  }
}

function connectionOptions(options: BusOptions): Parameters<typeof connect>[0] {
  const { servers, name, secret, tlsDir } = options;
  const tls =
    tlsDir === undefined ? undefined : { ca: readFileSync(join(tlsDir, 'ca.pem'), 'utf8') };
  return {
    servers: [...servers],
    name,
    ...(secret === undefined ? {} : { token: secret }),
    ...(tls === undefined ? {} : { tls }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    timeout: ANSWER_MS,
    pingInterval: 5_000,
    maxPingOut: 2,
    ignoreClusterUpdates: true,
  };
}

function isWrongSequence(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code;
  const text = textOf(error);
  return code === WRONG_SEQUENCE || text.includes('wrong last sequence');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
