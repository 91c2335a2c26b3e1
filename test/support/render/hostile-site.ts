// A site of pages that do harm to a browser that reads them: one loops, one allocates without end, one opens popups, one asks for an address of the
// cloud's own, one is never idle. Each kind has several pages, with bytes of their own. The home page is plain and links to all.

import { once } from 'node:events';
import { createServer } from 'node:http';

/** Scripts by kind. */
const SCRIPTS: Readonly<Record<string, string>> = {
  loops: 'for (;;);',
  allocates: 'const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(1)), 1);',
  popups: "setInterval(() => { for (let n = 0; n < 20; n += 1) open('/popup' + n) }, 50);",
  metadata: `fetch('http://169.254.169.254/latest/meta-data/').then((x) => x.text())
    .then((text) => { document.body.append('stolen ' + text) }, () => { document.body.append('refused') });`,
  busy: "let n = 0; setInterval(() => fetch('/tick?' + n++).catch(() => 0), 10);",
};
export const HOSTILE_KINDS = Object.keys(SCRIPTS);

export interface HostileSite {
  readonly seed: string;
  /** URLs of the pages of a kind. */
  pagesOf(kind: string): readonly string[];
  /** Paths of all requests so far. */
  readonly requests: readonly string[];
  stop(): void;
}

/** Serves the site on a loopback address. @param copies pages of each kind */
export async function startHostileSite(address: string, copies: number): Promise<HostileSite> {
  const requests: string[] = [];
  const pathsOf = (kind: string) =>
    Array.from({ length: copies }, (_, copy) => `/${kind}-${'abcdefghij'.charAt(copy)}`);
  // Kind by kind in turn.
  const paths = Array.from({ length: copies }, (_, copy) =>
    HOSTILE_KINDS.map((kind) => pathsOf(kind)[copy] as string),
  ).flat();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    const script = SCRIPTS[path.slice(1).split('-')[0] as string];
    const isPage = path === '/' || script !== undefined;
    response.writeHead(isPage || path.startsWith('/tick') ? 200 : 404, {
      'content-type': 'text/html',
    });
    const links = paths.map((to) => `<a href="${to}">${to}</a>`).join(' ');
    const filler = `/* ${path} */`.repeat(20);
    response.end(script === undefined ? links : `<body><script>${filler}${script}</script></body>`);
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const origin = `http://${address}:${port}`;
  return {
    seed: `${origin}/`,
    pagesOf: (kind) => pathsOf(kind).map((path) => origin + path),
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
