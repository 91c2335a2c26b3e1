// Known content over a whole crawl: a site that answers every path with one notice, and one that is to be had under two names. What is fetched
// of them, what is parked, and how `why` explains it. Nothing that only one name has is missed.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder, runCommand } from '../support/command-line.ts';
import { bareFlags, runCrawl } from '../support/crawl/run-crawl.ts';
import { ScriptedWeb, type Site } from '../support/crawl/scripted-web.ts';
import { storedRows } from '../support/crawl/stored-crawl.ts';

const NAMES = 'alder birch cedar elm fir hazel juniper larch maple oak pine rowan spruce yew'.split(
  ' ',
);
/** Links of a page to all others, each below a folder of its own: no two have one shape. */
const LINKS = NAMES.map((name) => `<a href="/${name}/tree">${name}</a>`).join(' ');

/** The pages of the site; under its other name there is one more, and from the first a link leads there. */
function siteOf(host: string, other: string): Site {
  const pages = NAMES.map((name) => {
    const more = name === 'yew' ? `<a href="http://${other}/">other</a>` : '';
    return [`${host}/${name}/tree`, `<p>About the ${name}</p>${LINKS}${more}`];
  });
  return { ...Object.fromEntries(pages), [`${host}/`]: `<h1>Trees</h1>${LINKS}` };
}

const NOTICE = '<title>Shop</title><p>We could not find what you are looking for, sorry.</p>';

test('a crawl merges two names of one site once they agree, and counts soft 404s', async (t) => {
  const web = await ScriptedWeb.listen((port) => ({
    ...siteOf('trees.test', `www.trees.test:${port}`),
    ...siteOf('www.trees.test', `www.trees.test:${port}`),
    'www.trees.test/': `<h1>Trees</h1>${LINKS}<a href="/acorns">only here</a>`,
    'www.trees.test/acorns': '<p>Acorns are to be had under this name alone</p>',
    'shop.test/': `<h1>Shop</h1>${LINKS}`,
    'shop.test': NOTICE,
  }));
  try {
    await inFolder({}, async (folder) => {
      const data = `${folder}/data`;
      const flags = [...bareFlags(web.dnsPort, data), '--linger', '1', '--threads', '1'];
      const crawl = await runCrawl([...flags, web.url('trees.test'), web.url('shop.test')]);
      strictEqual(crawl.status, 0, crawl.stderr);
      const urls = [...(await storedRows(data)).values()].map(({ url }) => url);
      const of = (host: string) => urls.filter((url) => url.startsWith(web.url(host)));
      t.diagnostic(
        `${of('trees.test').length} pages of trees.test, ${of('www.trees.test').length} of its twin, ` +
          `${of('shop.test').length} of the shop`,
      );
      strictEqual(of('trees.test').length, NAMES.length + 1);
      ok(of('www.trees.test').length < NAMES.length, 'most of the twin is parked');
      ok((crawl.report?.skipped.twin ?? 0) > 0);
      const parked = web.url('www.trees.test', '/yew/tree');
      const why = await runCommand(['why', parked, '--data', data]);
      match(why.stdout, /^Parked, .*http:\/\/trees\.test.* is known, and the two origins show/);
      match(why.stdout, /comes last +http:\/\/www\.trees\.test.* shows what http:\/\/trees/);
      ok((crawl.report?.soft404 ?? 0) > 0);
      const soft = of('shop.test').at(-1) ?? '';
      match((await runCommand(['why', soft, '--data', data])).stdout, /a soft 404/);
      deepStrictEqual(
        urls.filter((url) => url.endsWith('/acorns')),
        [web.url('www.trees.test', '/acorns')],
      );
    });
  } finally {
    await web.close();
  }
});
