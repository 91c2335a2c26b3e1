// The commands of the command line besides the crawl: what each takes (DESIGN.md §9). `--help` and the parser of arguments are made from this
// list, and a command is listed only when it exists as `command-NAME.ts`; a test holds the two together.

import type { OptionName } from '../config/options.ts';

/** An option of one command, which the configuration does not know. */
export interface OwnOption {
  readonly flag: `--${string}`;
  /** Empty for one without value. */
  readonly placeholder: string;
  readonly doc: string;
}

/** What a command takes. */
export interface CommandEntry {
  readonly name: string;
  /** Its words as commander writes them: `<url>`, `[verb...]`; '' for none. */
  readonly words: string;
  readonly doc: string;
  /** Options of the table it takes. */
  readonly configOptions: readonly OptionName[];
  readonly ownOptions: readonly OwnOption[];
  /** False for a pure command, which works whatever the config file says. */
  readonly readsConfigFile: boolean;
  /** True when words that look like options belong to the verb: `trace <actor> --max 10`. */
  readonly passesOptions?: true;
}

/** In the order of `--help`. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'inspect',
    words: '[verb...]',
    doc: 'Look into a running crawl and drive it: one verb, or a prompt without one.',
    configOptions: ['dataDir', 'debugSocket', 'json'],
    ownOptions: [],
    readsConfigFile: true,
    passesOptions: true,
  },
  {
    name: 'why',
    words: '<url>',
    doc: 'Every decision about a URL: canonical form, owner, seen, robots line, queue, history.',
    configOptions: ['dataDir', 'debugSocket', 'json'],
    ownOptions: [],
    readsConfigFile: true,
  },
  {
    name: 'audit',
    words: '',
    doc: "Prove from the crawl's own log that gaps, robots.txt and one-in-flight were kept.",
    configOptions: ['dataDir', 'json'],
    ownOptions: [
      {
        flag: '--min-gap',
        placeholder: 'MS',
        doc: "Hold the log against this gap, in place of the crawl's own.",
      },
    ],
    readsConfigFile: true,
  },
  {
    name: 'report',
    words: '',
    doc: 'What was crawled: by host, status, reason skipped, duplicates, traps.',
    configOptions: ['dataDir', 'json'],
    ownOptions: [{ flag: '--html', placeholder: 'FILE', doc: 'Write a page with charts.' }],
    readsConfigFile: true,
  },
  {
    name: 'export',
    words: '<what>',
    doc: 'Write pages, links, cdxj (an index of the archive) or audit (each request, and the proof).',
    configOptions: ['dataDir'],
    ownOptions: [
      { flag: '--url', placeholder: 'URL', doc: 'With cdxj: only captures of this URL.' },
      {
        flag: '--parquet',
        placeholder: 'FILE',
        doc: 'With pages or links: write a Parquet file in place of lines.',
      },
    ],
    readsConfigFile: true,
  },
  {
    name: 'archive',
    words: '',
    doc: 'Compress, index and upload the closed WARC files of a crawl that does not run.',
    configOptions: ['dataDir', 'objectStore', 'json'],
    ownOptions: [],
    readsConfigFile: true,
  },
  {
    name: 'backup',
    words: '<dir>',
    doc: 'Save a crawl, running or stopped, into a new directory.',
    configOptions: ['dataDir', 'json'],
    ownOptions: [],
    readsConfigFile: true,
  },
  {
    name: 'restore',
    words: '<backup>',
    doc: 'Make a new data directory (--data) out of a backup.',
    configOptions: ['dataDir', 'json'],
    ownOptions: [],
    readsConfigFile: true,
  },
  {
    name: 'replay',
    words: '',
    doc: "Parse stored pages again with today's parser, without a request.",
    configOptions: ['dataDir', 'threads', 'json'],
    ownOptions: [
      { flag: '--host', placeholder: 'HOST', doc: 'Only pages of this host.' },
      { flag: '--url-prefix', placeholder: 'URL', doc: 'Only pages whose URL begins so.' },
      { flag: '--url', placeholder: 'RE', doc: 'Only pages whose URL matches.' },
      { flag: '--limit', placeholder: 'N', doc: 'So many pages at most.' },
      {
        flag: '--against',
        placeholder: 'FILE',
        doc: 'Show what changed since a replay that wrote this file by --out.',
      },
      { flag: '--out', placeholder: 'FILE|-', doc: 'Write what each page gave, as NDJSON.' },
    ],
    readsConfigFile: true,
  },
  {
    name: 'feed',
    words: '',
    doc: 'The change feed: new, changed, unchanged, gone and duplicate pages, as NDJSON or to a sink.',
    configOptions: ['dataDir'],
    ownOptions: [
      {
        flag: '--from',
        placeholder: 'CURSOR',
        doc: "Begin after this line's cursor; or start, or now.",
      },
      { flag: '--follow', placeholder: '', doc: 'Go on: wait for what happens next.' },
      {
        flag: '--to',
        placeholder: 'SINK',
        doc: 'file:PATH, a webhook URL, opensearch:http://HOST:9200/INDEX, or search.',
      },
      {
        flag: '--consumer',
        placeholder: 'NAME',
        doc: 'Keep the place under this name, and go on from there.',
      },
      { flag: '--limit', placeholder: 'N', doc: 'So many events at most.' },
    ],
    readsConfigFile: true,
  },
  {
    name: 'search',
    words: '<words...>',
    doc: 'Search the text of what was crawled; "a phrase" between quotation marks.',
    configOptions: ['dataDir', 'json'],
    ownOptions: [{ flag: '--limit', placeholder: 'N', doc: 'So many pages at most (default 10).' }],
    readsConfigFile: true,
  },
  {
    name: 'robots',
    words: '<verb> [host]',
    doc: 'Ask a robots.txt file: test (one URL, or NDJSON with --batch), show, or show HOST.',
    configOptions: ['dataDir', 'json'],
    ownOptions: [
      { flag: '--robots', placeholder: 'FILE|-', doc: 'The robots.txt.' },
      { flag: '--url', placeholder: 'URL', doc: 'The URL that test asks about.' },
      {
        flag: '--robots-url',
        placeholder: 'URL',
        doc: 'Where the file came from: it governs that origin only.',
      },
      {
        flag: '--user-agent',
        placeholder: 'STR',
        doc: 'Product token or whole User-Agent (default hostler).',
      },
      {
        flag: '--batch',
        placeholder: '',
        doc:
          'NDJSON {robotsTxt | robotsTxtBase64, userAgent?, url?, robotsUrl?} on standard ' +
          'input.',
      },
    ],
    readsConfigFile: false,
  },
  {
    name: 'urls',
    words: '',
    doc: 'NDJSON {base?, input} → {canonical, key, resolved} or {reason}.',
    configOptions: [],
    ownOptions: [],
    readsConfigFile: false,
  },
  {
    name: 'parse',
    words: '',
    doc: 'NDJSON {url, contentType?, headers?, body | bodyBase64, userAgent?} → links and facts.',
    configOptions: [],
    ownOptions: [],
    readsConfigFile: false,
  },
];
