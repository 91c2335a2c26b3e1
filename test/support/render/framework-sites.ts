// Small sites that exist in the browser only, each built with a real framework from npm (its own bundle, as a page would load it): React, Vue,
// Preact. Every route answers with the same shell; the script reads the path, fetches the route's data and builds the page from it. The
// truth is known: all routes are linked from others, and each shows a word of its own. Beside them stands a site of plain pages.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const file = (name: string, path: string): string =>
  readFileSync(require.resolve(`${name}/package.json`).replace('package.json', path), 'utf8');

/** Builds a page from `d`: a title, a text and links, into the element with id root or app. */
interface Framework {
  readonly bundle: () => string;
  readonly root: string;
  readonly build: string;
}

const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  react: {
    bundle: () =>
      file('react', 'umd/react.production.min.js') +
      file('react-dom', 'umd/react-dom.production.min.js'),
    root: '<div id="root"></div>',
    build: `const e = React.createElement;
      function Page() {
        const [d, set] = React.useState(null);
        React.useEffect(() => { load().then(set) }, []);
        if (d === null) return e('p', null, 'Loading');
        return e('main', null, e('h1', null, d.title), e('p', null, d.text),
          e('nav', null, d.links.map((to) => e('a', { key: to, href: to }, to))));
      }
      ReactDOM.createRoot(document.getElementById('root')).render(e(Page));`,
  },
  vue: {
    bundle: () => file('vue', 'dist/vue.global.prod.js'),
    root: '<div id="app"></div>',
    build: `Vue.createApp({
        data: () => ({ d: null }),
        mounted() { load().then((d) => { this.d = d }) },
        template: '<main v-if="d"><h1>{{ d.title }}</h1><p>{{ d.text }}</p><nav><a v-for="to in d.links" :href="to">{{ to }}</a></nav></main><p v-else>Loading</p>',
      }).mount('#app');`,
  },
  preact: {
    bundle: () => file('preact', 'dist/preact.min.js'),
    root: '<noscript>This site needs JavaScript.</noscript><div id="root"></div>',
    build: `class Page extends preact.Component {
        componentDidMount() { load().then((d) => this.setState({ d })) }
        render() {
          const { d } = this.state;
          if (d === undefined) return preact.h('p', null, 'Loading');
          return preact.h('main', null, preact.h('h1', null, d.title), preact.h('p', null, d.text),
            d.links.map((to) => preact.h('a', { href: to }, to)));
        }
      }
      preact.render(preact.h(Page), document.getElementById('root'));`,
  },
};

const LOAD = `const load = () => fetch('/api/page?path=' + encodeURIComponent(location.pathname)).then((x) => x.json());`;

/** One route of a site. */
interface Route {
  readonly title: string;
  readonly text: string;
  readonly links: readonly string[];
}

export interface FrameworkSite {
  readonly name: string;
  readonly origin: string;
  readonly seed: string;
  /** URL of each page, and a word that only this page shows. */
  readonly truth: ReadonlyMap<string, string>;
  /** Paths of all requests so far. */
  readonly requests: string[];
}

export interface FrameworkSites {
  readonly sites: readonly FrameworkSite[];
  stop(): Promise<void>;
}

/** Serves a site for each framework, and one named `plain`; each on a loopback address of its own. */
export async function startFrameworkSites(pagesPerSite: number): Promise<FrameworkSites> {
  const servers: Server[] = [];
  const sites: FrameworkSite[] = [];
  for (const [index, name] of [...Object.keys(FRAMEWORKS), 'plain'].entries()) {
    const { server, site } = await startSite(name, `127.0.0.${index + 1}`, pagesPerSite);
    servers.push(server);
    sites.push(site);
  }
  return {
    sites,
    stop: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function startSite(name: string, address: string, pages: number) {
  const routes = routesOf(name, pages);
  const requests: string[] = [];
  const framework = FRAMEWORKS[name];
  const bundle = framework?.bundle() ?? '';
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://h');
    requests.push(url.pathname + url.search);
    const send = (type: string, body: string, status = 200): void => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    };
    if (url.pathname === '/robots.txt') return send('text/plain', 'User-agent: *\nDisallow: /off/');
    if (url.pathname === '/bundle.js') return send('text/javascript', bundle);
    if (url.pathname === '/main.js') {
      return send('text/javascript', `${LOAD}\n${framework?.build ?? ''}`);
    }
    const path = url.searchParams.get('path') ?? url.pathname;
    const route = routes.get(path);
    if (route === undefined) return send('text/html', '<h1>404</h1>', 404);
    if (url.pathname === '/api/page') return send('application/json', JSON.stringify(route));
    return send(
      'text/html; charset=utf-8',
      framework === undefined ? plain(route) : shell(framework),
    );
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const origin = `http://${address}:${port}`;
  const truth = new Map(
    [...routes].map(([path, { text }]) => [origin + path, text.split(' ')[0] as string]),
  );
  return { server, site: { name, origin, seed: `${origin}/`, truth, requests } };
}

function shell({ root }: Framework): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Site</title><link rel="stylesheet" href="/style.css"><script defer src="/bundle.js"></script><script defer src="/main.js"></script></head><body>${root}</body></html>`;
}

function plain({ title, text, links }: Route): string {
  const nav = links.map((to) => `<a href="${to}">${to}</a>`).join(' ');
  return `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p>${nav}</body></html>`;
}

/** A tree of pages, three links each. */
function routesOf(name: string, pages: number): Map<string, Route> {
  const pathOf = (page: number) => (page === 0 ? '/' : `/${name}/topic-${letters(page)}`);
  const routes = new Map<string, Route>();
  for (let page = 0; page < pages; page += 1) {
    const links = [3 * page + 1, 3 * page + 2, 3 * page + 3].filter((to) => to < pages).map(pathOf);
    const own = `${name}word${letters(page)}`;
    const text = `${own} ${textOf(page)}`;
    routes.set(pathOf(page), { title: `Page ${letters(page)}`, text, links });
  }
  return routes;
}

const SYLLABLES = ['ka', 'lo', 'mi', 'ne', 'pu', 'ra', 'so', 'ti'];

/** A name without digits: pages whose URLs differ in numbers only would be taken for one shape. */
function letters(page: number): string {
  return page
    .toString(8)
    .split('')
    .map((digit) => SYLLABLES[Number(digit)])
    .join('');
}

/** Some eighty words, different on each page. */
function textOf(page: number): string {
  return Array.from({ length: 80 }, (_, word) => letters(page * 131 + word * 37 + 64)).join(' ');
}
