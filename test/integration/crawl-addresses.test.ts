// Which addresses a crawl may reach (I13) and which seeds it takes, tried on the whole command with a name server that lies.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, type EndedCrawl, runCrawl } from '../support/crawl/run-crawl.ts';
import { ScriptedWeb, type ScriptedWebOptions } from '../support/crawl/scripted-web.ts';
import { storedRows } from '../support/crawl/stored-crawl.ts';

interface Crawled {
  readonly ended: EndedCrawl;
  /** `status` or the failure of each URL. */
  readonly outcomes: Readonly<Record<string, number | string>>;
  readonly web: ScriptedWeb;
}

/** Crawls some hosts of a web whose every page is a text. @param guarded no network is allowed beyond the public ones */
async function crawl(
  hosts: readonly string[],
  options: ScriptedWebOptions & { readonly guarded?: boolean; readonly seeds?: string },
): Promise<Crawled> {
  const site = Object.fromEntries(hosts.map((host) => [host, `page of ${host}`]));
  const web = await ScriptedWeb.listen(() => site, options);
  try {
    return await inFolder({ seeds: options.seeds ?? '' }, async (folder) => {
      const flags = bareFlags(web.dnsPort, `${folder}/data`);
      if (options.guarded === true) {
        flags.splice(flags.indexOf('--allow-net'), 2);
        flags.push('--min-gap', '250');
      }
      const named = hosts.map((host) => web.url(host));
      const seeds = options.seeds === undefined ? named : ['--seeds', `${folder}/seeds`];
      const ended = await runCrawl([...flags, ...seeds]);
      const outcomes: Record<string, number | string> = {};
      for (const [url, { failure, status }] of await storedRows(`${folder}/data`)) {
        outcomes[new URL(url).host.replace(`:${web.port}`, '')] = failure ?? status;
      }
      return { ended, outcomes, web };
    });
  } finally {
    await web.close();
  }
}

test('loopback hosts are refused without --allow-net, by name and by number, and none is contacted', async () => {
  const hosts = ['loop.test', '127.0.0.1'];
  const { ended, outcomes, web } = await crawl(hosts, { guarded: true });
  strictEqual(ended.status, 0, ended.stderr);
  deepStrictEqual(outcomes, {
    'loop.test': 'address-forbidden',
    '127.0.0.1': 'address-forbidden',
  });
  deepStrictEqual(web.requests, []);
});

test('a host whose every address is forbidden fails alone; one allowed among them is used', async () => {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    'forbidden.test': ['10.0.0.1', '169.254.169.254', '0.0.0.0'],
    'mixed.test': ['192.168.0.1', '127.9.0.77'],
    'plain.test': ['127.9.0.78'],
  };
  const { ended, outcomes, web } = await crawl(Object.keys(addresses), {
    resolve: (name) => addresses[name],
  });
  strictEqual(ended.status, 0, ended.stderr);
  deepStrictEqual(outcomes, {
    'forbidden.test': 'address-forbidden',
    'mixed.test': 200,
    'plain.test': 200,
  });
  ok(web.requests.every(({ host }) => host !== 'forbidden.test'));
});

test('DNS rebinding: when a name turns to a forbidden address nothing is asked there', async () => {
  // The allowed address first, later a neighbour that would serve just as well. Within a run the answer is kept (at least a minute) and
  // its very addresses are connected to, so the change comes with the next run.
  const site = {
    'rebind.test/': Array.from({ length: 8 }, (_, at) => `<a href="/${at}">x</a>`).join(''),
    'rebind.test': 'text',
  };
  const bound: { address: string } = { address: '127.9.1.1' };
  const web = await ScriptedWeb.listen(() => site, { resolve: () => [bound.address] });
  try {
    await inFolder({}, async (folder) => {
      const flags = bareFlags(web.dnsPort, `${folder}/data`);
      flags.splice(flags.indexOf('--allow-net'), 2, '--allow-net', '127.9.1.1/32');
      const first = await runCrawl([...flags, '--max-pages', '3', web.url('rebind.test')]);
      strictEqual(first.report?.pages, 3, first.stderr);
      const asked = web.requests.length;
      bound.address = '127.9.2.2';
      const second = await runCrawl(flags);
      strictEqual(second.status, 0, second.stderr);
      strictEqual(web.requests.length, asked, 'nothing was asked at the new address');
      const rows = [...(await storedRows(`${folder}/data`)).values()];
      const refused = rows.filter(({ failure }) => failure === 'address-forbidden');
      deepStrictEqual([rows.length, refused.length], [9, 6]);
    });
  } finally {
    await web.close();
  }
});

test('a seeds file with one bad line in 1,000 reports it with its number and crawls the rest', async () => {
  const hosts = Array.from({ length: 999 }, (_, at) => `h${at}.test`);
  const lines = [...hosts.map((host) => `http://${host}/`)];
  lines.splice(499, 0, 'ht!tp://no url');
  const { ended, outcomes, web } = await crawl(hosts, {
    seeds: lines.join('\n'),
    resolve: () => ['10.1.1.1'],
  });
  strictEqual(ended.status, 0, ended.stderr);
  match(ended.stderr, /seeds:500: "ht!tp:\/\/no url" is not a/);
  strictEqual(Object.keys(outcomes).length, 999);
  strictEqual(web.namesAsked.length, 999);
});

test('a seeds file without a good line, a missing one and no seed at all end with status 2', async () => {
  await inFolder({ bad: 'nothing\n%%%\n' }, async (folder) => {
    const flags = bareFlags(1, `${folder}/data`);
    for (const seeds of [['--seeds', `${folder}/bad`], ['--seeds', `${folder}/none`], []]) {
      const { status, stdout, stderr } = await runCrawl([...flags, ...seeds]);
      strictEqual(status, 2, stderr);
      strictEqual(stdout, '');
    }
  });
});
