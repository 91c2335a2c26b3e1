// What a command of the command line is given and gives back (DESIGN.md §9). A command lives in `command-NAME.ts` and exports one function,
// `commandName`; it is loaded when it is called for, so that `urls` does not pay for LMDB.

import type { CrawlConfig } from '../config/options.ts';

/** The command line of one call, taken apart and checked. */
export interface CommandInput {
  /** What followed the command and is no option: `['https://example.com/']` for `why`. */
  readonly words: readonly string[];
  /** The command's own options by attribute name (`minGap` for `--min-gap`): text, or true for one without value. */
  readonly options: Readonly<Record<string, string | true>>;
  /** The configuration, with those options of the table that the command takes. */
  readonly config: CrawlConfig;
}

/**
 * A command.
 * @returns the exit status; answers went to standard output
 * @throws CrawlError for trouble of our own world, which `main` prints
 */
export type Command = (input: CommandInput) => Promise<number>;

/** The crawl itself, in `command-crawl.ts`. `seeds` are absolute http(s) URLs; `reread` reads file and flags anew. */
export type CrawlCommand = (
  config: CrawlConfig,
  seeds: readonly string[],
  reread: () => Promise<CrawlConfig>,
) => Promise<number>;
