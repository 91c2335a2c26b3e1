// The shipped web as a child process: served, logged, judged from the file, ended with its parent.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { startWeb } from '../../support/server/start-web.ts';

test('startWeb serves a web in a child whose log the judge can read', async () => {
  const web = await startWeb({ hosts: 2, pagesPerHost: 4, pageBytes: 500 });
  after(() => web.stop());
  const fetched = async (url: string, path: string) => {
    const { hostname } = new URL(url);
    const address = web.world.addressOf(web.world.hostIndex(hostname));
    const pool = new Pool(`http://${address}:${web.port}`);
    const headers = { host: `${hostname}:${web.port}`, 'user-agent': 'tester/1' };
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
    await body.dump();
    await pool.close();
    return statusCode;
  };
  const coverage = { userAgent: 'tester/1', fromSeeds: web.seeds };
  for (const seed of web.seeds) await fetched(seed, '/robots.txt');
  for (const url of web.world.reachable(coverage)) {
    const { pathname, search } = new URL(url);
    strictEqual(await fetched(url, pathname + search), 200);
  }
  deepStrictEqual(readFileSync(web.seedsFile, 'utf8').trim().split('\n'), [...web.world.seeds()]);
  const kind = await web.judge({ minGapMs: 0, coverage });
  deepStrictEqual(kind.violations, []);
  ok(kind.coverage.required > 2);
  const strict = await web.judge({ minGapMs: 60_000, coverage });
  ok(!strict.ok && strict.counts.gap > 0 && strict.counts.missing === 0);
  deepStrictEqual((await web.dnsCounts()).udp, 0);
  await web.stop();
  strictEqual(existsSync(web.logFile), false);
});

test('serve ends when its stdin does, so that it dies with its parent', async () => {
  const program = fileURLToPath(new URL('../../support/server/serve.js', import.meta.url));
  const child = spawn(process.execPath, [program, '--hosts', '3', '--features', 'varied']);
  after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  strictEqual(JSON.parse(String(line)).pid, child.pid);
  child.stdin.end();
  const [status] = await once(child, 'exit');
  strictEqual(status, 0);
});
