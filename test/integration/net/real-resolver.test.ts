// DnsResolver through a resolver that people run: dnsmasq, which caches, and forwards the names of these tests to name servers of ours. Shows
// that what a real resolver adds (its cache, counted-down times to live, chains of aliases, negative answers) is understood.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { ResolveOutcome } from '../../../src/actors/ports.ts';
import { AddressGuard } from '../../../src/net/address-guard.ts';
import { DnsResolver } from '../../../src/net/resolver.ts';
import { DnsStub } from '../../support/dns-stub.ts';
import { DnsServer } from '../../support/server/dns-server.ts';
import { createWorld } from '../../support/world/world.ts';

const INSTALL_MS = 120_000;
const READY_TRIES = 100;
/** A record lives one second there; several pass before this many answers. */
const EXPIRY_TRIES = 5_000;

/** Installs dnsmasq where it is missing and may be installed. */
function hasDnsmasq(): boolean {
  const isThere = () => spawnSync('dnsmasq', ['--version'], { stdio: 'ignore' }).status === 0;
  if (isThere()) return true;
  const words = ['install', '-y', '-qq', '--no-install-recommends', 'dnsmasq-base'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', words, { stdio: 'ignore', env, timeout: INSTALL_MS });
  return isThere();
}

const skip = hasDnsmasq() ? false : 'dnsmasq is not installed, and apt-get cannot install it';

const world = createWorld({ seed: 3, hosts: 40, features: { dnsFailures: 0.4 } });
/** How often the name that moves was asked for upstream. */
let moves = 0;
let upstream: DnsServer;
let chain: DnsStub;
let dnsmasq: ChildProcess;
let resolver: DnsResolver;

before(async () => {
  if (skip !== false) return;
  const started = await DnsServer.listen(0, world, {
    ttlSeconds: 1,
    override: (name) => {
      if (name !== 'moves.test') return null;
      moves += 1;
      return [`127.9.${moves >> 8}.${moves & 255}`];
    },
  });
  upstream = started.server;
  chain = await DnsStub.listen(chained);
  const port = await freePort();
  dnsmasq = spawn('dnsmasq', [
    ...['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts'],
    ...['--listen-address=127.0.0.1', '--bind-interfaces', `--port=${port}`, '--pid-file='],
    ...[`--user=${process.env.USER ?? 'root'}`, '--neg-ttl=1'],
    `--server=/test/127.0.0.1#${started.port}`,
    `--server=/chain/${chain.server.replace(':', '#')}`,
  ]);
  resolver = new DnsResolver({
    guard: new AddressGuard(['127.0.0.0/8']),
    servers: [`127.0.0.1:${port}`],
    families: 'ipv4-only',
    ttlMsMin: 1,
    timeoutsMs: [250, 500, 1_000],
  });
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if ((await ask('moves.test')).kind === 'resolved') return;
  }
  throw new Error('dnsmasq does not answer');
});

after(async () => {
  if (skip !== false) return;
  resolver.close();
  const ended = once(dnsmasq, 'exit');
  dnsmasq.kill('SIGTERM');
  await ended;
  await Promise.all([upstream.close(), chain.close()]);
});

/** `a.chain` is `b.chain` is `c.chain` is 127.8.0.1, each with a shorter time to live; `loop.chain` is itself. */
function chained(name: string, type: string) {
  if (name === 'loop.chain') {
    return { answers: [{ type: 'CNAME' as const, name, data: name, ttl: 60 }] };
  }
  if (name !== 'a.chain') return { code: 3 };
  const alias = (from: string, to: string, ttl: number) =>
    ({ type: 'CNAME', name: from, data: to, ttl }) as const;
  const aliases = [alias('a.chain', 'b.chain', 900), alias('b.chain', 'c.chain', 90)];
  const address = { type: 'A', name: 'c.chain', data: '127.8.0.1', ttl: 300 } as const;
  return { answers: type === 'A' ? [...aliases, address] : aliases };
}

function ask(host: string): Promise<ResolveOutcome> {
  return new Promise((resolve) => resolver.resolve(host, resolve));
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

test('DnsResolver.resolve agrees with the web about every host, through dnsmasq', {
  skip,
}, async () => {
  const seen = new Set<string>();
  for (let host = 0; host < world.options.hosts; host += 1) {
    const name = world.hostName(host);
    const truth = world.resolve(name);
    if (truth.kind === 'mute') continue;
    const outcome = await ask(name);
    seen.add(truth.kind);
    if (truth.kind === 'address') {
      deepStrictEqual(outcome.kind === 'resolved' && outcome.addresses, [truth.address], name);
    } else strictEqual(outcome.kind, truth.kind === 'none' ? 'no-such-host' : 'failed', name);
  }
  deepStrictEqual([...seen].sort(), ['address', 'none', 'servfail']);
});

test('DnsResolver.resolve gets a new address once the time to live has passed, not before', {
  skip,
}, async () => {
  const first = await ask('moves.test');
  ok(first.kind === 'resolved' && first.ttlMs <= 1_000);
  let later: ResolveOutcome = first;
  let answers = 0;
  while (answers < EXPIRY_TRIES && JSON.stringify(later) === JSON.stringify(first)) {
    later = await ask('moves.test');
    answers += 1;
  }
  ok(later.kind === 'resolved');
  ok(later.addresses[0]?.startsWith('127.9.'));
  ok(answers > 1, 'dnsmasq answered from its cache in between');
});

test('DnsResolver.resolve follows a chain of aliases and lives as long as its shortest record', {
  skip,
}, async () => {
  const outcome = await ask('a.chain');
  deepStrictEqual(outcome.kind === 'resolved' && outcome.addresses, ['127.8.0.1']);
  ok(
    outcome.kind === 'resolved' && outcome.ttlMs <= 90_000 && outcome.ttlMs > 0,
    JSON.stringify(outcome),
  );
});

test('DnsResolver.resolve does not hang on a name that is an alias of itself', {
  skip,
}, async () => {
  const { kind } = await ask('loop.chain');
  ok(kind === 'failed' || kind === 'no-such-host', kind);
});
