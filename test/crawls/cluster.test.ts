// Three nodes on loopback over a real nats-server crawl the shipped web, and the web judges: nothing missing, no gap broken, nothing fetched twice;
// the same while a node is killed. Skipped, and said so, where there is no nats-server. Other fates: long/cluster-fates.test.ts.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { freePorts } from '../support/crawl/free-ports.ts';
import { check, crawlOnThree, withoutServer as skip } from '../support/crawl/loopback-cluster.ts';
import { runCrawl } from '../support/crawl/run-crawl.ts';

test('three nodes store every page, none twice, and break no gap', { skip }, async () => {
  const judged = await crawlOnThree(undefined, 0);
  check(judged);
  deepStrictEqual(judged.verdict.violations, []);
  strictEqual(judged.ended.report?.reason, 'done');
});

test('a node that is killed loses no page for the crawl, and no gap is broken', {
  skip,
}, async () => {
  check(await crawlOnThree((pid) => process.kill(pid, 'SIGKILL'), 100));
});

test('a nodes file that cannot be used ends the command with status 2 and the way out', async () => {
  await inFolder({ 'hosts.txt': 'a 10.1.2.3\n' }, async (folder) => {
    const flags = ['--nodes', `${folder}/hosts.txt`, '--data', `${folder}/d`];
    const ended = await runCrawl([...flags, 'http://example.test/']);
    strictEqual(ended.status, 2, ended.stderr);
    ok(ended.stderr.includes('no secret'), ended.stderr);
  });
});

test('a bus that cannot be reached ends the command with status 5', async () => {
  const port = await freePorts(1);
  const hosts = `a 127.0.0.1\nbus=nats://127.0.0.1:${port}\n`;
  const files = { 'hosts.txt': hosts, 'config.mjs': 'export default { busPatienceMs: 1_000 };\n' };
  await inFolder(files, async (folder) => {
    const place = ['--nodes', `${folder}/hosts.txt`, '--me', 'a', '--data', `${folder}/d`];
    const flags = [...place, '--config', `${folder}/config.mjs`];
    const ended = await runCrawl([...flags, 'http://example.test/']);
    strictEqual(ended.status, 5, ended.stderr);
    ok(ended.stderr.includes(`127.0.0.1:${port}`), ended.stderr);
  });
});
