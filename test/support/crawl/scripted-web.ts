// A web of a few hosts whose every byte a test decides, for whole crawls of hostile servers: one server on one port, a name server that
// gives each host an address of its own (so that hosts do not share an address's budget), and a log of who was asked for what and when.
import type { Socket } from 'node:net';
import { DnsStub, type StubReply } from '../dns-stub.ts';
import { page, ScriptedServer } from '../scripted-server.ts';

/** One request as the web saw it. */
export interface ScriptedRequest {
  readonly host: string;
  readonly path: string;
  readonly head: string;
  /** Milliseconds since the web began. */
  readonly atMs: number;
}

/** Sends an answer, or nothing. A text is the body of a 200 HTML page. */
export type Answer = string | ((socket: Socket, request: ScriptedRequest) => void);

/** `host` or `host/path` to answers; a path wins over its host. Anything else is 404, robots.txt too. */
export type Site = Readonly<Record<string, Answer>>;

export interface ScriptedWebOptions {
  /** Addresses by name at each query, before the automatic ones; undefined for silence. */
  readonly resolve?: (name: string, query: number) => readonly string[] | 'automatic' | undefined;
}

export class ScriptedWeb {
  readonly requests: ScriptedRequest[] = [];
  readonly #server: ScriptedServer;
  readonly #dns: DnsStub;

  private constructor(server: ScriptedServer, dns: DnsStub) {
    this.#server = server;
    this.#dns = dns;
  }

  /** @param siteOf the site, for a port that is known only now */
  static async listen(
    siteOf: (port: number) => Site,
    options: ScriptedWebOptions = {},
  ): Promise<ScriptedWeb> {
    const startMs = performance.now();
    const made: { web?: ScriptedWeb; site?: Site } = {};
    const server = await ScriptedServer.listen(
      {
        onRequest: (socket, { head }) => {
          const request = requestOf(head, performance.now() - startMs);
          made.web?.requests.push(request);
          answer(made.site ?? {}, socket, request);
        },
      },
      // All of 127.0.0.0/8 on one port.
      { host: '0.0.0.0' },
    );
    made.site = siteOf(server.port);
    const dns = await DnsStub.listen(resolver(options));
    made.web = new ScriptedWeb(server, dns);
    return made.web;
  }

  get port(): number {
    return this.#server.port;
  }

  get dnsPort(): number {
    return Number(this.#dns.server.split(':')[1]);
  }

  /** http URL of a host and path on this web's port. */
  url(host: string, path = '/'): string {
    return `http://${host}:${this.port}${path}`;
  }

  /** Paths asked of a host, in order, robots.txt left out. */
  pathsOf(host: string): string[] {
    const asked = this.requests.filter((request) => request.host === host);
    return asked.map(({ path }) => path).filter((path) => path !== '/robots.txt');
  }

  /** Names asked for, once each. */
  get namesAsked(): string[] {
    return [...new Set(this.#dns.questions.map(({ name }) => name))];
  }

  async close(): Promise<void> {
    await Promise.all([this.#server.close(), this.#dns.close()]);
  }
}

/** An answer with a status and fields, CRLF after each, and an empty body unless one is given. */
export function response(status: string, fields = '', body = ''): Answer {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return (socket) => void socket.write(`HTTP/1.1 ${status}\r\n${fields}${length}\r\n${body}`);
}

/** A redirect. @param location sent byte by byte as Latin-1 */
export function redirect(location: string, fields = ''): Answer {
  const head = `HTTP/1.1 302 Found\r\nLocation: ${location}\r\n${fields}Content-Length: 0\r\n\r\n`;
  return (socket) => void socket.write(Buffer.from(head, 'latin1'));
}

/** A page with these links. */
export function links(...targets: readonly string[]): string {
  return targets.map((target) => `<a href="${target}">x</a>`).join('\n');
}

function requestOf(head: string, atMs: number): ScriptedRequest {
  const path = /^\S+ (\S+)/.exec(head)?.[1] ?? '';
  const host = (/^host: *([^\r:]*)/im.exec(head)?.[1] ?? '').toLowerCase();
  return { host, path, head, atMs };
}

function answer(site: Site, socket: Socket, request: ScriptedRequest): void {
  const { host, path } = request;
  const isRobots = path === '/robots.txt';
  const found = site[`${host}${path}`] ?? (isRobots ? undefined : site[host]);
  if (typeof found === 'function') found(socket, request);
  else if (found !== undefined) socket.write(isRobots ? robots(found) : page(found));
  else socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
}

function robots(text: string): string {
  return page(text).replace('text/html', 'text/plain');
}

/** Each name gets the next address from 127.9.0.1 on. */
function resolver({ resolve }: ScriptedWebOptions) {
  const known = new Map<string, string>();
  const queries = new Map<string, number>();
  return (name: string, type: string): StubReply | undefined => {
    if (type !== 'A') return { answers: [] };
    const query = queries.get(name) ?? 0;
    queries.set(name, query + 1);
    const fixed = resolve?.(name, query) ?? (resolve === undefined ? 'automatic' : undefined);
    if (fixed === undefined) return undefined;
    if (!known.has(name)) known.set(name, `127.9.0.${known.size + 1}`);
    const addresses = fixed === 'automatic' ? [known.get(name) ?? ''] : fixed;
    return { answers: addresses.map((data) => ({ type: 'A', name, ttl: 1, data })) };
  };
}
