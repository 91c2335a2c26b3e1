// The crawler of a load run, as a process of its own so that its CPU time and memory are nobody else's: the product's `crawl` command with
// the options given as one JSON argument, `{optionName: [text…]}`, checked by the product's own table of options. Everything is on: robots,
// DNS, politeness, durable checkpoint, exact seen set, dedup by digest, WARC. With the second argument `simulated` its threads have a network
// without sockets (simulated-shard.ts). The last line of stdout is the crawl's report.

import { commandCrawl } from '../src/app/command-crawl.ts';
import { type FlagTexts, resolveConfig } from '../src/config/resolve-config.ts';

const flags = JSON.parse(process.argv[2] ?? '{}') as FlagTexts;
const config = resolveConfig({ flags });
const reread = () => Promise.resolve(config);
const simulated = new URL('./simulated-shard.js', import.meta.url);
process.exitCode =
  process.argv[3] === 'simulated'
    ? await commandCrawl(config, [], reread, simulated)
    : await commandCrawl(config, [], reread);
