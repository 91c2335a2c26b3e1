// The nats-server of a node that runs one: starts it with a generated configuration, keeps it running, and ends it with the node. A server that a
// killed node left behind is ended first: it is ours by its pid file and its command line. Trouble that an operator can mend (no binary, a
// port in use) is told before anything starts.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlError } from '../base/errors.ts';
import {
  type BusConfigOptions,
  busConfig,
  busPorts,
  canSync,
  serverVersion,
} from './bus-config.ts';
import { isLoopback } from './node-address.ts';

const BINARY = 'nats-server';
/** Wait before a server that ended by itself is started again. */
const RESTART_MS = 1_000;
/** How long an orderly end is waited for. */
const STOP_MS = 5_000;

export interface BusServerOptions extends Omit<BusConfigOptions, 'syncsAlways'> {
  /** Told what an operator should know, in one line. */
  readonly warn: (text: string) => void;
}

/** A server that runs until `stop`. */
export class BusServer {
  readonly #config: string;
  readonly #warn: (text: string) => void;
  #child: ChildProcess | undefined;
  #isStopping = false;

  private constructor(config: string, warn: (text: string) => void) {
    this.#config = config;
    this.#warn = warn;
  }

  /** @throws CrawlError config when there is no binary, or a port is in use */
  static async start(options: BusServerOptions): Promise<BusServer> {
    const { dir, node, warn } = options;
    const version = findVersion();
    const syncsAlways = canSync(version);
    if (!syncsAlways) {
      warn(
        `nats-server ${version.join('.')} is older than 2.10.23: its writes reach the disk only every two minutes. ` +
          'A power failure of a bus machine can make the cluster forget who owns what; it then stops for half a minute and starts afresh.',
      );
    }
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await endLeftOver(dir);
    const ports = busPorts(node);
    const host = isLoopback(node.address) ? node.address : '0.0.0.0';
    const wanted = options.servers.length > 1 ? ports : { ...ports, routes: ports.client };
    for (const port of new Set([wanted.client, wanted.monitor, wanted.routes])) {
      await checkPort(host, port);
    }
    const config = join(dir, 'nats.conf');
    // The secret stands in it.
    writeFileSync(config, busConfig({ ...options, syncsAlways }), { mode: 0o600 });
    const server = new BusServer(config, warn);
    server.#spawn();
    return server;
  }

  /** Ends the server and waits for it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  }

  #spawn(): void {
    const child = spawn(BINARY, ['-c', this.#config], { stdio: 'ignore' });
    this.#child = child;
    child.on('error', (error) => this.#warn(`nats-server cannot be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (this.#isStopping) return;
      this.#warn(`nats-server ended (${signal ?? `status ${code}`}) and is started again`);
      setTimeout(() => {
        if (!this.#isStopping) this.#spawn();
      }, RESTART_MS).unref();
    });
  }
}

function findVersion(): readonly [number, number, number] {
  const asked = spawnSync(BINARY, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  if (asked.error !== undefined) {
    throw new CrawlError('config', `nats-server cannot be run here: ${asked.error.message}`, {
      remedy:
        'Install it (Debian: apt-get install nats-server), or use a bus that runs elsewhere: a line bus=nats://HOST:4222 in the nodes file.',
    });
  }
  const version = serverVersion(asked.stdout);
  if (version !== undefined) return version;
  throw new CrawlError('config', `nats-server tells no version: ${asked.stdout.slice(0, 80)}`, {
    remedy: 'Install NATS server 2.9 or newer, or use bus=nats://HOST:4222 in the nodes file.',
  });
}

/** Ends the server that an earlier process of this node, killed, has left. */
async function endLeftOver(dir: string): Promise<void> {
  const file = join(dir, 'nats.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').trim());
  const isOurs = (): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(dir, 'nats.conf'));
    } catch {
      return false;
    }
  };
  if (!Number.isInteger(pid) || pid <= 1 || !isOurs()) return;
  process.kill(pid, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < STOP_MS && isOurs(); waitedMs += 100) await sleep(100);
  if (isOurs()) process.kill(pid, 'SIGKILL');
}

/** @throws CrawlError config when another program listens there */
function checkPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (cause) => {
      reject(
        new CrawlError('config', `the bus cannot listen on ${host}:${port}: ${cause.message}`, {
          remedy:
            'End the program that uses it, or give the node another port: ADDRESS:PORT in the nodes file.',
          cause,
        }),
      );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
