// The shipped web as a process of its own: `node dist/test/support/server/serve.js --hosts 200 --port 0 --dns-port 0 --log FILE`.
// When it is ready it prints one JSON line, {pid, port, dnsPort, seeds, seedsFile}. It stops on SIGTERM, SIGINT or when stdin ends, so
// that it dies with the process that started it; `flush` on stdin writes the log out and is answered by {flushed, dns}.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createWorld, type World } from '../world/world.ts';
import {
  type PartialWorldOptions,
  PLAIN_FEATURES,
  VARIED_FEATURES,
} from '../world/world-options.ts';
import { DnsServer } from './dns-server.ts';
import { RequestLog } from './request-log.ts';
import type { ServeReady } from './serve-ready.ts';
import { WebServer } from './web-server.ts';

const HELP = `usage: node dist/test/support/server/serve.js [option…]
  --hosts N --pages-per-host N --links-per-page N --page-bytes N
  --seed N --hosts-per-address N --power-law
  --features plain|varied    a healthy web (default), or one with a little of every oddity
  --feature NAME=FRACTION    one oddity (repeatable): ${Object.keys(PLAIN_FEATURES).join(' ')}
  --world JSON               any world options, before the ones above
  --port N --dns-port N      default 0: any free one
  --dns JSON                 {ttlSeconds, cname, aaaa, truncate}
  --log FILE                 request log     --seeds-file FILE   all seed URLs, one a line
  --ignore-stdin             do not stop when stdin ends
`;

const NUMBERS = {
  hosts: 'hosts',
  'pages-per-host': 'pagesPerHost',
  'links-per-page': 'linksPerPage',
  'page-bytes': 'pageBytes',
  seed: 'seed',
  'hosts-per-address': 'hostsPerAddress',
} as const;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  hosts: text,
  'pages-per-host': text,
  'links-per-page': text,
  'page-bytes': text,
  seed: text,
  'hosts-per-address': text,
  'power-law': flag,
  features: text,
  feature: { type: 'string', multiple: true } as const,
  world: text,
  port: text,
  'dns-port': text,
  dns: text,
  log: text,
  'seeds-file': text,
  'ignore-stdin': flag,
  help: flag,
};

const values = trying(() => parseArgs({ options: OPTIONS }).values);

/** A wrong option is one line on stderr and exit status 2. */
function trying<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

function worldOptions(): PartialWorldOptions {
  const options: Record<string, unknown> = {
    epochMs: Date.now(),
    ...JSON.parse(values.world ?? '{}'),
  };
  for (const [option, name] of Object.entries(NUMBERS)) {
    const value = values[option as keyof typeof NUMBERS];
    if (value !== undefined) options[name] = Number(value);
  }
  if (values['power-law'] === true) options.powerLaw = true;
  const given = (options.features ?? {}) as Record<string, number>;
  const features: Record<string, number> = {
    ...(values.features === 'varied' ? VARIED_FEATURES : PLAIN_FEATURES),
    ...given,
  };
  for (const pair of values.feature ?? []) {
    const [name = '', fraction] = pair.split('=');
    if (!(name in PLAIN_FEATURES)) throw new RangeError(`no such feature: ${name}`);
    features[name] = Number(fraction);
  }
  return { ...options, features };
}

async function serve(): Promise<void> {
  let log: RequestLog | null = null;
  const { server, world, port } = await WebServer.listen(
    Number(values.port ?? 0),
    (bound) => trying(() => createWorld({ ...worldOptions(), port: bound })),
    (entry) => log?.add(entry),
  );
  if (values.log !== undefined) log = new RequestLog(values.log, world.options);
  const dns = await DnsServer.listen(
    Number(values['dns-port'] ?? 0),
    world,
    JSON.parse(values.dns ?? '{}'),
  );
  const stop = async () => {
    await Promise.all([server.close(), dns.server.close()]);
    log?.close();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const lines = createInterface({ input: process.stdin });
  if (values['ignore-stdin'] !== true) lines.once('close', stop);
  lines.on('line', (line) => {
    if (line !== 'flush') return;
    log?.flush();
    say({ flushed: log?.count ?? 0, dns: dns.server.counts });
  });
  const ready: ServeReady = {
    pid: process.pid,
    port,
    dnsPort: dns.port,
    seeds: [...world.seeds(10)],
    seedsFile: writeSeeds(world),
  };
  say(ready);
}

function writeSeeds(world: World): string | null {
  const file = values['seeds-file'];
  if (file === undefined) return null;
  writeFileSync(file, `${[...world.seeds()].join('\n')}\n`);
  return file;
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

if (values.help === true) process.stdout.write(HELP);
else await serve();
