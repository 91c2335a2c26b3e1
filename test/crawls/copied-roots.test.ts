// Copies over a whole crawl. Sites whose root pages are equal byte for byte, as default pages and frame sets are: behind each lies a site
// of its own. And pages with nearly the same text: marked, counted, and their links followed.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder, runCommand } from '../support/command-line.ts';
import { bareFlags, runCrawl } from '../support/crawl/run-crawl.ts';
import { ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { storedRows } from '../support/crawl/stored-crawl.ts';

const STUB = '<title>Welcome</title><frame src="start.html"><a href="map.html">map</a>';
const TEXT = Array.from({ length: 200 }, (_, n) => `word${(n * n * 7_919) % 9_973}`).join(' ');

test('a crawl follows the relative links of a copy on another host, and marks near duplicates', async () => {
  const web = await ScriptedWeb.listen(() => ({
    'one.test/': STUB,
    'one.test/start.html': `<p>${TEXT}</p><a href="/only-one.html">x</a>`,
    'one.test/map.html': 'The map of one',
    'one.test/only-one.html': 'Only here',
    'two.test/': STUB,
    'two.test/start.html': `<p>${TEXT} two</p><a href="/only-two.html">x</a>`,
    'two.test/map.html': 'The map of two',
    'two.test/only-two.html': 'Only there',
    'two.test/copy/': STUB,
  }));
  try {
    await inFolder({}, async (folder) => {
      const data = `${folder}/data`;
      const seeds = [web.url('one.test'), web.url('two.test'), web.url('two.test', '/copy/')];
      // One thread: of two that read both pages at the same moment, neither may know of the other's.
      const flags = [...bareFlags(web.dnsPort, data), '--threads', '1', '--linger', '1'];
      const crawl = await runCrawl([...flags, ...seeds]);
      strictEqual(crawl.status, 0, crawl.stderr);
      const rows = await storedRows(data);
      const stored = [...rows.values()].filter(({ status }) => status === 200);
      deepStrictEqual(
        stored.map(({ url }) => url.replace(`:${web.port}`, '')).sort(),
        ['one', 'two'].flatMap((name) => [
          `http://${name}.test/`,
          ...(name === 'two' ? ['http://two.test/copy/'] : []),
          `http://${name}.test/map.html`,
          `http://${name}.test/only-${name}.html`,
          `http://${name}.test/start.html`,
        ]),
      );
      deepStrictEqual(crawl.report?.duplicates, { exact: 2, near: 1 });
      const starts = ['one.test', 'two.test'].map((host) => web.url(host, '/start.html'));
      const marked = starts.filter((url) => rows.get(url)?.nearDuplicateOf !== undefined);
      strictEqual(marked.length, 1);
      strictEqual(
        rows.get(marked[0] ?? '')?.nearDuplicateOf,
        starts.find((url) => url !== marked[0]),
      );
      const why = await runCommand(['why', marked[0] ?? '', '--data', data]);
      match(why.stdout, /^Fetched at .*nearly the text of http/);
    });
  } finally {
    await web.close();
  }
});
