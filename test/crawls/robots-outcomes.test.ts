// robots-http.json played over real sockets: one host for each scenario, all in one crawl, judged by what each was asked for. Copies that
// are a day old come from a run before it, whose robots rows are then set back. What no loopback host can show (port 443) is judged by the
// pure rules, as are all of them once more (conformance/robots-http.test.ts).
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { RobotsRow } from '../../src/actors/rows.ts';
import { wallMs } from '../../src/base/units.ts';
import { decodeRobotsRow, encodeRobotsRow } from '../../src/storage/row-codec.ts';
import { openTables } from '../../src/storage/tables.ts';
import { loadCases } from '../support/cases.ts';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, runCrawl } from '../support/crawl/run-crawl.ts';
import { type Answer, ScriptedWeb, type Site } from '../support/crawl/scripted-web.ts';
import { once } from '../support/once.ts';
import { page, ScriptedServer } from '../support/scripted-server.ts';

interface Part {
  readonly url?: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyNote?: string;
}

interface Scenario {
  readonly id: string;
  readonly name: string;
  readonly behaviour: {
    readonly responses?: readonly Part[];
    readonly cached?: { readonly body: string };
    readonly unreachableDays?: number;
    readonly network?: string;
    readonly urls?: readonly string[];
    readonly page?: string;
  };
  readonly expected: {
    readonly decision?: string;
    readonly sequence?: readonly string[];
    readonly requests?: number;
    readonly fetched?: readonly string[];
  };
}

/** The suite's agent, which our crawler plays. */
const TOKEN = /foobot/g;
const FILE = 'User-agent: hostler\nDisallow: /restricted/\n';
const OPEN = '/index.html';
const CLOSED = '/restricted/x';
/** Longer than the first pause after an unreachable file, four seconds; shorter than the second. */
const LINGER_SECONDS = '6';
const CONFIG =
  'export default { requestDeadlineMs: 4000, headersTimeoutMs: 2000, connectTimeoutMs: 2000 };';
const HOUR_MS = 3_600_000;
/** A TLS alert: handshake_failure (RFC 8446 §6). */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

const scenarios: readonly Scenario[] = loadCases('robots-http.json')?.cases ?? [];
const skip = scenarios.length === 0 ? 'the folder ../shared/cases is absent' : false;
/** What needs port 443, and what scripted-cases.test.ts plays as http-327. */
const isPlayed = ({ behaviour }: Scenario): boolean =>
  behaviour.page === undefined && behaviour.urls?.some((url) => url.startsWith('https')) !== true;
const played = scenarios.filter(isPlayed);

const hostOf = ({ id }: Scenario): string => `${id}.test`;

let web: ScriptedWeb;
let secure: ScriptedServer;
let alerting: ScriptedServer;
let silent: { readonly port: number; close(): Promise<void> };
/** Robots requests seen in the first run. */
let before = 0;

/** Sends a part of a scenario. Names of the suite become those of the host. */
function sending(part: Part, host: string, port: number): Answer {
  const isPacked = part.bodyNote !== undefined;
  const text = (part.body ?? FILE).replace(TOKEN, 'hostler');
  const body = isPacked ? gzipSync(FILE) : Buffer.from(part.body === undefined ? '' : text);
  const fields = Object.entries(part.headers ?? {}).map(([name, value]) => {
    const own = value
      .replace('https://site.test', `https://${host}:${secure.port}`)
      .replace('http://site.test', `http://${host}:${port}`);
    return `${name}: ${own}\r\n`;
  });
  const isEmpty = part.status === 204 || part.status === 304;
  const length = isEmpty ? '' : `Content-Length: ${body.length}\r\n`;
  const head = `HTTP/1.1 ${part.status} X\r\n${fields.join('')}${length}\r\n`;
  return (socket) => void socket.write(isEmpty ? head : Buffer.concat([Buffer.from(head), body]));
}

/** The answers to one path, the last one again and again. */
function inTurn(answers: readonly Answer[]): Answer {
  let turn = 0;
  return (socket, request) => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    if (typeof answer === 'function') answer(socket, request);
  };
}

function network(kind: string): Answer | undefined {
  if (/sends nothing/.test(kind)) return () => undefined;
  if (/garbage/.test(kind)) {
    return (socket) => void socket.end(Buffer.from([0, 1, 2, 255, 254, 10, 13, 7, 10]));
  }
  if (!/drip|one byte/.test(kind)) return undefined;
  return (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nU');
    const timer = setInterval(() => socket.write('s'), 500);
    socket.on('close', () => clearInterval(timer));
  };
}

function siteOf(port: number): Site {
  const site: Record<string, Answer> = {};
  for (const scenario of played) {
    const host = hostOf(scenario);
    const { responses = [], cached, unreachableDays, network: kind } = scenario.behaviour;
    site[host] = 'a page';
    const atPath = new Map<string, Answer[]>();
    // What the run before this one was told.
    if (cached !== undefined)
      atPath.set('/robots.txt', [sending({ status: 200, ...cached }, host, port)]);
    if (unreachableDays !== undefined)
      atPath.set('/robots.txt', [sending({ status: 503 }, host, port)]);
    for (const part of responses) {
      if (part.url?.startsWith('https') === true) continue;
      const path = part.url === undefined ? '/robots.txt' : new URL(part.url).pathname;
      atPath.set(path, [...(atPath.get(path) ?? []), sending(part, host, port)]);
    }
    for (const [path, answers] of atPath) site[host + path] = inTurn(answers);
    const answer = kind === undefined ? undefined : network(kind);
    if (answer !== undefined) site[`${host}/robots.txt`] = answer;
  }
  for (const name of ['a.site', 'b.site']) site[`${name}.test`] = 'a page';
  return site;
}

/** A port that answers no SYN: its queue of two is full and nobody accepts, since the thread that listens is blocked. */
async function deafPort(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const source = `const { parentPort } = require('node:worker_threads');
const server = require('node:net').createServer().listen({ port: 0, host: '0.0.0.0', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});`;
  const worker = new Worker(source, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const fillers: Socket[] = [];
  for (let filler = 0; filler < 4; filler += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    fillers.push(socket);
  }
  await new Promise((resolve) => fillers[0]?.once('connect', resolve));
  const close = async (): Promise<void> => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  };
  return { port, close };
}

/** The origin that a scenario is about. */
function originOf(scenario: Scenario): string {
  const { network: kind = '' } = scenario.behaviour;
  if (/TLS/.test(kind)) return `https://${hostOf(scenario)}:${alerting.port}`;
  const port = /SYN/.test(kind) ? silent.port : web.port;
  return `http://${hostOf(scenario)}:${port}`;
}

/** Copies that are a day old, and hosts that were out of reach for weeks. */
async function setBack(dataDir: string): Promise<void> {
  const tables = openTables(dataDir, { readOnly: false });
  for (const { key, value } of [...tables.robots.getRange({})]) {
    const row = decodeRobotsRow(value);
    await tables.robots.put(key, encodeRobotsRow(older(row)));
  }
  await tables.root.close();
}

function older(row: RobotsRow): RobotsRow {
  const about = played.find((one) => row.origin === originOf(one))?.behaviour;
  const failingMs = (about?.unreachableDays ?? 0) * 24 * HOUR_MS;
  return {
    ...row,
    fetchedAt: wallMs(row.fetchedAt - 25 * HOUR_MS),
    expiresAt: wallMs(row.expiresAt - 25 * HOUR_MS),
    failingSince: row.failingSince === 0 ? row.failingSince : wallMs(row.failingSince - failingMs),
  };
}

const crawled = once(() =>
  inFolder({ 'robots.ts': CONFIG }, async (folder) => {
    const [key, cert] = [`${folder}/key.pem`, `${folder}/cert.pem`];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    // One by one: a wildcard right below a top-level domain counts for nothing (node:tls, checkServerIdentity).
    const hosts = played.map((scenario) => `DNS:${hostOf(scenario)}`).join(',');
    const names = ['-subj', '/CN=robots', '-addext', `subjectAltName=${hosts}`, '-days', '2'];
    const out = ['-nodes', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...made, ...names, ...out], { stdio: 'ignore' });
    const script = { onRequest: (socket: Socket) => void socket.write(page(FILE)) };
    const tls = { key: readFileSync(key), cert: readFileSync(cert) };
    secure = await ScriptedServer.listen(script, { tls, host: '0.0.0.0' });
    const alert = { onConnect: (socket: Socket) => void socket.end(ALERT) };
    alerting = await ScriptedServer.listen(alert, { host: '0.0.0.0' });
    silent = await deafPort();
    web = await ScriptedWeb.listen(siteOf);
    const dataDir = `${folder}/data`;
    const flags = [...bareFlags(web.dnsPort, dataDir), '--linger', LINGER_SECONDS, '--ca', cert];
    const scope = ['--scope', 'all', '--contact', 'https://example.org/crawler'];
    const run = async (seeds: readonly string[]): Promise<void> => {
      const ended = await runCrawl([
        ...flags,
        ...scope,
        '--config',
        `${folder}/robots.ts`,
        ...seeds,
      ]);
      strictEqual(ended.status, 0, ended.stderr);
    };
    const isOld = ({ behaviour: one }: Scenario): boolean =>
      one.cached !== undefined || one.unreachableDays !== undefined;
    await run(played.filter(isOld).map((scenario) => `${originOf(scenario)}/first`));
    before = web.requests.length;
    await setBack(dataDir);
    const origins = played.filter(({ behaviour: one }) => one.urls === undefined).map(originOf);
    const named = played.flatMap(({ behaviour: one }) => one.urls ?? []);
    const pages = named.map((url) => web.url(new URL(url).hostname, new URL(url).pathname));
    await run([...origins.flatMap((origin) => [origin + OPEN, origin + CLOSED]), ...pages]);
  }),
);
after(async () => {
  await Promise.all([web?.close(), secure?.close(), alerting?.close(), silent?.close()]);
});

/** Paths that a host was asked for in the second run. */
function asked(host: string): string[] {
  const requests = web.requests.slice(before).filter((request) => request.host === host);
  return requests.map(({ path }) => path);
}

/** What the pages fetched show of a decision. */
function effectOf(paths: readonly string[]): string {
  if (!paths.includes(OPEN)) return paths.includes(CLOSED) ? 'closed page only' : 'disallow-all';
  return paths.includes(CLOSED) ? 'allow-all' : 'obey-rules';
}

test('robots-http.json: all scenarios but two are played', { skip }, () => {
  deepStrictEqual(
    scenarios.filter((one) => !isPlayed(one)).map(({ id }) => id),
    ['rhttp-086', 'rhttp-090'],
  );
});

for (const scenario of played) {
  test(`a crawl keeps ${scenario.id} ${scenario.name}`, async () => {
    await crawled();
    const { behaviour, expected } = scenario;
    if (behaviour.urls !== undefined) {
      for (const url of expected.fetched ?? []) {
        const paths = asked(new URL(url).hostname);
        strictEqual(paths.filter((path) => path === '/robots.txt').length, 1, url);
      }
      return;
    }
    const paths = asked(hostOf(scenario));
    const robots = paths.filter((path) => path === '/robots.txt').length;
    const isHeard = !/SYN|TLS/.test(behaviour.network ?? '');
    ok(!isHeard || robots >= 1, 'robots.txt was not asked for');
    const last = expected.sequence?.at(-1) ?? expected.decision ?? '';
    ok(last.split('-or-').includes(effectOf(paths)), `${effectOf(paths)}: ${paths}`);
    if (expected.requests !== undefined) strictEqual(robots, expected.requests);
    if (isHeard && paths.length > robots) strictEqual(paths[0], '/robots.txt');
  });
}
