// A web server on loopback whose pages are a table: for whole crawls of a few pages of which each is peculiar. Counts requests by path.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One page: its type, and its bytes given the site's origin. */
export interface SitePage {
  readonly type: string;
  readonly body: (origin: string) => string | Uint8Array;
}

export class SmallSite {
  readonly requests = new Map<string, number>();
  readonly #server: Server;

  private constructor(pages: Readonly<Record<string, SitePage>>) {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '/';
      this.requests.set(path, (this.requests.get(path) ?? 0) + 1);
      const page = pages[path];
      if (page === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': page.type }).end(page.body(this.origin));
    });
  }

  static async listen(pages: Readonly<Record<string, SitePage>>): Promise<SmallSite> {
    const site = new SmallSite(pages);
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  /** `http://127.0.0.1:PORT` */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a crawl of this site needs on its command line besides what it is about. */
  crawlArguments(dataDir: string): string[] {
    const line = `${this.origin}/ --allow-net 127.0.0.0/8 --min-gap 0 --ip-gap 0 --linger 0.2`;
    const rest = ['--threads', '2', '--json', '--progress', 'none', '--data', dataDir];
    return [...line.split(' '), ...rest];
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** An HTML page with links. */
export function linksTo(...paths: readonly string[]): SitePage {
  const body = paths.map((path) => `<a href="${path}">${path}</a>`).join('\n');
  return { type: 'text/html', body: () => `<!doctype html>\n${body}` };
}
