// The HTTP side of operating a crawl (`--http`): one server for dashboard, metrics and health. It
// only looks, unless `--http-operate` gives it a token (http-operate.ts). It trusts nobody: loopback
// servers answer only to loopback names, other origins get nothing (no CORS), the page may load only
// from here (CSP), connections are bounded.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CrawlError } from '../base/errors.ts';
import { parseUrl } from '../base/parse-url.ts';
import { ANSWER_TIMEOUT_MS, type AnswerServices } from './answer-request.ts';
import { CrawlWatch } from './crawl-watch.ts';
import { dashboardFiles } from './dashboard-files.ts';
import { EventStreams } from './event-stream.ts';
import { type HttpAddress, isHostAccepted, parseHttpAddress } from './http-address.ts';
import { operateByHttp, operateRefusal } from './http-operate.ts';
import { type HttpAnswer, HttpRoutes, JSON_TYPE, jsonAnswer } from './http-routes.ts';
import { CrawlMetrics } from './metrics.ts';
import type { Operator } from './operator.ts';

/** Connections at a time; more are closed at once. */
const CONNECTIONS_MAX = 128;
/** Dashboards open at a time. */
const STREAMS_MAX = 16;
const SECOND_MS = 1_000;

/** Scripts, styles, data and images of this server only; no inline script, no frames, no forms elsewhere (CSP Level 3). */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Whom the server asks, and where it listens. */
export interface OpsHttpOptions {
  readonly operator: Operator;
  /** `HOST:PORT`, as `--http` takes it. */
  readonly address: string;
  /** What it needs to change the crawl; undefined: it only looks. */
  readonly operate?: OperateOptions | undefined;
}

/** The token that an act has to show, and who is told of each. */
export interface OperateOptions {
  readonly token: string;
  readonly audited: AnswerServices['audited'];
}

interface OperateServices {
  readonly token: string;
  readonly services: AnswerServices;
}

/** See the head of this file. */
export class OpsHttpServer {
  readonly #server: Server;
  readonly #address: HttpAddress;
  readonly #watch: CrawlWatch;
  readonly #routes: HttpRoutes;
  readonly #streams: EventStreams;
  readonly #operate: OperateServices | undefined;

  private constructor({ operator, address, operate }: OpsHttpOptions) {
    this.#address = parseHttpAddress(address);
    this.#watch = new CrawlWatch(operator);
    this.#streams = new EventStreams(this.#watch, STREAMS_MAX);
    this.#routes = new HttpRoutes({
      operator,
      watch: this.#watch,
      metrics: new CrawlMetrics(),
      files: dashboardFiles(),
      isOperable: operate !== undefined,
    });
    if (operate !== undefined) {
      const { token, audited } = operate;
      const services = { operator, audited, timeoutMs: ANSWER_TIMEOUT_MS, source: 'http' } as const;
      this.#operate = { token, services };
    }
    this.#server = createServer(
      {
        headersTimeout: 10 * SECOND_MS,
        requestTimeout: 15 * SECOND_MS,
        keepAliveTimeout: 5 * SECOND_MS,
        connectionsCheckingInterval: 5 * SECOND_MS,
      },
      (request, response) => this.#serve(request, response),
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.timeout = 60 * SECOND_MS;
    // A request that is no HTTP: node has answered 400 where it could.
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /**
   * Listens and begins to watch the crawl.
   * @throws CrawlError config: the address is not one, or cannot be listened at
   */
  static async open(options: OpsHttpOptions): Promise<OpsHttpServer> {
    const server = new OpsHttpServer(options);
    await server.#listen();
    await server.#watch.start();
    return server;
  }

  /** Where the dashboard is, for example `http://127.0.0.1:9090/`. */
  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#streams.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #listen(): Promise<void> {
    const { host, port } = this.#address;
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => reject(unusable(host, port, error));
      this.#server.once('error', failed);
      this.#server.listen(port, host, () => {
        this.#server.off('error', failed);
        // Running out of descriptors must not end the crawl; the server goes on when some are free.
        this.#server.on('error', () => {});
        resolve();
      });
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const { method = '', headers, url: target = '' } = request;
    const url = parsedTarget(target);
    const operate = this.#operate;
    if (method === 'POST' && url?.pathname === '/api/operate' && operate !== undefined) {
      void this.#change(operate, request, response);
      return;
    }
    const refusal = this.#refusalOf(method, headers.host, url);
    if (url === undefined || refusal !== undefined) {
      // A body has no meaning here: a request that brings one is read no further than its head.
      response.setHeader('connection', 'close');
      send(response, refusal ?? textAnswer(400, 'bad target'), method);
    } else if (url.pathname === '/api/events') {
      // News come every second; a stream has no end to be late for.
      response.socket?.setTimeout(0);
      this.#streams.open(response);
    } else {
      void this.#routes.answer(url).then((answer) => send(response, answer, method));
    }
  }

  /** An act of an operator: let in by its head, then read and done. */
  async #change(
    { token, services }: OperateServices,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const access = { token, boundHost: this.#address.host };
    const refusal = operateRefusal(access, request.headers);
    if (refusal !== undefined) {
      // The body of a stranger is not read: the connection goes with it.
      response.setHeader('connection', 'close');
      const body = `${JSON.stringify({ code: 'refused', error: refusal.reason })}\n`;
      send(response, { status: refusal.status, contentType: JSON_TYPE, body }, 'POST');
      return;
    }
    const answer = await operateByHttp(services, request);
    if (!request.complete) response.setHeader('connection', 'close');
    send(response, jsonAnswer(answer), 'POST');
  }

  #refusalOf(
    method: string,
    host: string | undefined,
    url: URL | undefined,
  ): HttpAnswer | undefined {
    if (!isHostAccepted(this.#address.host, host)) {
      return textAnswer(421, 'this server answers only to localhost: open it by that name');
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return textAnswer(405, 'read only: change a crawl by its debug socket (inspect)');
    }
    if (url?.pathname !== '/api/events') return undefined;
    if (method === 'HEAD') return textAnswer(405, 'a stream has no head alone');
    if (this.#streams.isFull) return textAnswer(503, `${STREAMS_MAX} dashboards are open already`);
    return undefined;
  }
}

function textAnswer(status: number, text: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n` };
}

function parsedTarget(target: string): URL | undefined {
  // The origin is a placeholder: only path and query are used. `//x` would name a host.
  const isPath = target.startsWith('/') && !target.startsWith('//');
  return isPath ? parseUrl(target, 'http://local') : undefined;
}

function send(response: ServerResponse, answer: HttpAnswer, method: string): void {
  const { status, contentType, body } = answer;
  if (status === 405) response.setHeader('allow', 'GET, HEAD');
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

function unusable(host: string, port: number, error: NodeJS.ErrnoException): CrawlError {
  const where = `${host}:${port}`;
  const remedy = 'Name another HOST:PORT with --http.';
  switch (error.code) {
    case 'EADDRINUSE':
      return new CrawlError('config', `port ${port} of ${host} is in use by another process`, {
        remedy: `Stop that process, or name another port with --http ${host}:PORT.`,
        cause: error,
      });
    case 'EACCES':
      return new CrawlError('config', `no permission to listen at ${where}`, {
        remedy: 'Ports below 1024 belong to root. Name a higher one with --http.',
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CrawlError('config', `${host} is no address of this machine`, {
        remedy,
        cause: error,
      });
    default:
      return new CrawlError('config', `cannot listen at ${where}: ${error.message}`, {
        remedy,
        cause: error,
      });
  }
}
