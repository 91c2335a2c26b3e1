// The configuration that a node's own nats-server runs with, as text, and what its version allows. Pure. Only the client port is open to other
// machines, and there only with the secret; the monitor listens on loopback. From 2.10.23 on the server can be told to sync each write, so
// that what it acknowledged survives a power failure; an older one cannot, which the ownership protocol survives (rule 7) and the operator
// is told.

import type { NodeLine } from './hosts-file.ts';
import { isLoopback, urlHost } from './node-address.ts';

/** First version whose `sync_interval: always` works (CLUSTER.md). */
const SYNCING: readonly [number, number, number] = [2, 10, 23];
/** Largest message: a batch of links is cut well below it (link-envelope.ts). */
export const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;
/** Disk of the bucket and its history, at most. */
const STORE_BYTES_MAX = 256 * 1024 * 1024;

/** Ports of a node's server, after its own base port. */
export interface BusPorts {
  readonly client: number;
  readonly monitor: number;
  readonly routes: number;
}

export function busPorts(node: NodeLine): BusPorts {
  return { client: node.port + 1, monitor: node.port + 2, routes: node.port + 3 };
}

export interface BusConfigOptions {
  readonly node: NodeLine;
  /** All nodes that run a server, this one among them. */
  readonly servers: readonly NodeLine[];
  /** Directory of its own. */
  readonly dir: string;
  readonly secret: string | undefined;
  readonly tlsDir: string | undefined;
  readonly syncsAlways: boolean;
}

/** The text of nats.conf. */
export function busConfig(options: BusConfigOptions): string {
  const { node, servers, dir, secret, tlsDir, syncsAlways } = options;
  const ports = busPorts(node);
  const host = isLoopback(node.address) ? node.address : '0.0.0.0';
  const lines = [
    `server_name: ${quoted(`hostler-${node.name}`)}`,
    `listen: ${quoted(`${urlHost(host)}:${ports.client}`)}`,
    `http: ${quoted(`127.0.0.1:${ports.monitor}`)}`,
    `pid_file: ${quoted(`${dir}/nats.pid`)}`,
    `log_file: ${quoted(`${dir}/nats.log`)}`,
    'logfile_size_limit: 16MB',
    `max_payload: ${PAYLOAD_BYTES_MAX}`,
    'write_deadline: "10s"',
    'jetstream {',
    `  store_dir: ${quoted(`${dir}/jetstream`)}`,
    '  max_memory_store: 64MB',
    `  max_file_store: ${STORE_BYTES_MAX}`,
    ...(syncsAlways ? ['  sync_interval: always'] : []),
    '}',
    ...(secret === undefined ? [] : [`authorization { token: ${quoted(secret)} }`]),
    ...(tlsDir === undefined ? [] : tlsBlock(tlsDir)),
  ];
  if (servers.length > 1) lines.push(...clusterBlock(options, host, ports.routes));
  return `${lines.join('\n')}\n`;
}

function clusterBlock(options: BusConfigOptions, host: string, port: number): string[] {
  const { node, servers, secret, tlsDir } = options;
  const login = secret === undefined ? '' : `hostler:${encodeURIComponent(secret)}@`;
  const routes = servers
    .filter(({ name }) => name !== node.name)
    .map((other) =>
      quoted(`nats-route://${login}${urlHost(other.address)}:${busPorts(other).routes}`),
    );
  return [
    'cluster {',
    '  name: "hostler"',
    `  listen: ${quoted(`${urlHost(host)}:${port}`)}`,
    ...(secret === undefined
      ? []
      : [`  authorization { user: "hostler", password: ${quoted(secret)}, timeout: 5 }`]),
    ...(tlsDir === undefined ? [] : tlsBlock(tlsDir).map((line) => `  ${line}`)),
    `  routes: [${routes.join(', ')}]`,
    '}',
  ];
}

function tlsBlock(dir: string): string[] {
  return [
    'tls {',
    `  cert_file: ${quoted(`${dir}/cert.pem`)}`,
    `  key_file: ${quoted(`${dir}/key.pem`)}`,
    `  ca_file: ${quoted(`${dir}/ca.pem`)}`,
    '}',
  ];
}

/** A string of nats.conf: JSON's escapes are among those it knows. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** The version in `nats-server: v2.9.10`; undefined when there is none. */
export function serverVersion(text: string): readonly [number, number, number] | undefined {
  const match = /v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** True for a version that can sync each write. */
export function canSync(version: readonly [number, number, number]): boolean {
  for (const [at, part] of version.entries()) {
    const least = SYNCING[at] as number;
    if (part !== least) return part > least;
  }
  return true;
}
