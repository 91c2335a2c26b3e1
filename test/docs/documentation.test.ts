// A second real input: the HTML documentation of two Debian packages, thousands of pages that people wrote and tools generated, served by
// nginx under two host names. What wget -r finds, a crawl must store; what neither finds, no link leads to.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { Nginx } from '../support/crawl/nginx.ts';
import { bareFlags, runCrawl } from '../support/crawl/run-crawl.ts';
import { archiveFaults, readCrawl } from '../support/crawl/stored-crawl.ts';
import { DnsServer } from '../support/server/dns-server.ts';
import { createWorld } from '../support/world/world.ts';

const ROOTS: Readonly<Record<string, string>> = {
  'python.docs.test': realpathSync('/usr/share/doc/python3-doc/html'),
  'postgres.docs.test': realpathSync('/usr/share/doc/postgresql-doc-15/html'),
};
const HOSTS = Object.keys(ROOTS);

test('a crawl of Debian documentation stores every page that wget -r finds and more', async () => {
  const nginx = await Nginx.start(ROOTS);
  const override = (name: string): readonly string[] | null =>
    HOSTS.includes(name) ? [`127.9.3.${1 + HOSTS.indexOf(name)}`] : null;
  const dns = await DnsServer.listen(0, createWorld({ hosts: 1 }), { override });
  try {
    await inFolder({}, async (folder) => {
      const dataDir = `${folder}/data`;
      const seeds = HOSTS.map((host) => `http://${host}:${nginx.port}/index.html`);
      const flags = [...bareFlags(dns.port, dataDir), '--min-gap', '2', '--threads', '2'];
      const { status, stderr, report } = await runCrawl([...flags, ...seeds], {
        timeoutMs: 240_000,
      });
      strictEqual(status, 0, stderr);
      strictEqual(report?.reason, 'done');
      deepStrictEqual(await archiveFaults(dataDir), []);
      const stored = await storedFiles(dataDir);
      for (const host of HOSTS) compare(host, stored, wgetFiles(host, nginx.port, folder));
      process.stdout.write(`# ${report.pages} pages in ${report.seconds} s\n`);
    });
  } finally {
    await nginx.stop();
    await dns.server.close();
  }
});

/** `host/path` of every stored HTML page, a folder as its index page. */
async function storedFiles(dataDir: string): Promise<Set<string>> {
  return readCrawl(dataDir, (store) => {
    const files = new Set<string>();
    for (const { row } of store.pages()) {
      const { hostname, pathname } = new URL(row.url);
      const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      if (row.status === 200) files.add(decodeURIComponent(hostname + path));
    }
    return files;
  });
}

/** The same of what wget saves, which reaches the host through the server as a proxy, needing no name server. */
function wgetFiles(host: string, port: number, folder: string): string[] {
  const wget = ['-r', '-l', 'inf', '-q', '-nH', '-e', 'robots=off', '-A', 'html', '-P'];
  const proxy = ['-e', 'use_proxy=yes', '-e', `http_proxy=127.0.0.1:${port}`];
  const target = join(folder, host);
  const url = `http://${host}:${port}/index.html`;
  const { status } = spawnSync('wget', [...wget, target, ...proxy, url], { timeout: 240_000 });
  // 8: some answer was an error, such as a link to a page that the package leaves out.
  ok(status === 0 || status === 8, `wget: ${status}`);
  return htmlFiles(target).map((file) => `${host}/${file}`);
}

function htmlFiles(root: string): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.html') && statSync(join(root, name)).isFile());
}

function compare(host: string, stored: ReadonlySet<string>, byWget: readonly string[]): void {
  const all = htmlFiles(ROOTS[host] as string).map((file) => `${host}/${file}`);
  const missed = byWget.filter((file) => !stored.has(file));
  const found = all.filter((file) => stored.has(file));
  const unlinked = all.filter((file) => !stored.has(file));
  process.stdout.write(
    `# ${host}: ${all.length} files, ${found.length} stored, wget ${byWget.length}, ` +
      `without a link: ${unlinked.slice(0, 5).join(' ') || 'none'}\n`,
  );
  deepStrictEqual(missed, []);
  ok(byWget.length > 100);
  ok(unlinked.length < all.length / 100, `${unlinked.length} of ${all.length} files not found`);
}
