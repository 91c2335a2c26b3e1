// The operator's lists that may change while the crawl runs: the opt-out file and the table of autonomous systems. Read at the start,
// watched, read again when they change or on the verb `reload`, and sent to every shard (steps 5 and 8; DESIGN.md §4).

import type { CrawlConfig } from '../config/options.ts';
import { loadAsnTable } from '../net/asn-lookup.ts';
import type { Log } from '../ops/log.ts';
import type { CrawlProcess } from './crawl-process.ts';
import { FileWatch } from './file-watch.ts';
import { readOptOutFile } from './opt-out-file.ts';

type ListConfig = Pick<CrawlConfig, 'optOutFile' | 'asnTable'>;

export class LiveLists {
  readonly #config: ListConfig;
  readonly #crawl: Pick<CrawlProcess, 'sendAll'>;
  readonly #log: Log;
  readonly #watches: FileWatch[] = [];

  private constructor(config: ListConfig, crawl: Pick<CrawlProcess, 'sendAll'>, log: Log) {
    this.#config = config;
    this.#crawl = crawl;
    this.#log = log;
  }

  /** Begins to watch. The table of autonomous systems is loaded meanwhile: the crawl does not wait for it. */
  static async open(
    config: ListConfig,
    crawl: Pick<CrawlProcess, 'sendAll'>,
    log: Log,
  ): Promise<LiveLists> {
    const lists = new LiveLists(config, crawl, log);
    const { optOutFile, asnTable } = config;
    if (optOutFile !== undefined) {
      await lists.#watch(optOutFile, async () => void lists.#readOptOut());
      // It may have changed since the shards were started with it.
      lists.#readOptOut();
    }
    for (const path of asnTable)
      await lists.#watch(path, async () => void (await lists.#readTable()));
    if (asnTable.length > 0) void lists.#readTable();
    else log.info('asn-table-none', 'no asnTable: networks in trouble are not slowed as a whole');
    return lists;
  }

  /** Reads all lists again. @returns what was read, a sentence each */
  async reload(): Promise<readonly string[]> {
    const { optOutFile, asnTable } = this.#config;
    return [
      ...(optOutFile === undefined ? [] : [this.#readOptOut()]),
      ...(asnTable.length === 0 ? [] : [await this.#readTable()]),
    ];
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  async #watch(path: string, changed: () => Promise<void>): Promise<void> {
    const watch = new FileWatch(path, changed);
    this.#watches.push(watch);
    await watch.start();
  }

  /** A file that cannot be read leaves the list as it was: nobody who asked to be left alone is forgotten by accident. */
  #readOptOut(): string {
    const path = this.#config.optOutFile as string;
    try {
      const { domains, problems } = readOptOutFile(path);
      for (const problem of problems) this.#log.warn('opt-out-line', `${path}, ${problem}`);
      this.#crawl.sendAll({ kind: 'opt-out', domains });
      return this.#told('opt-out', `${path}: ${domains.length} domains are left alone`);
    } catch (error) {
      return this.#failed('opt-out-unread', error);
    }
  }

  async #readTable(): Promise<string> {
    try {
      const table = await loadAsnTable(this.#config.asnTable);
      const { starts4, starts6 } = table.ranges;
      this.#crawl.sendAll({ kind: 'asn-table', table });
      const ranges = starts4.length + starts6.length;
      const { length } = table.databases;
      return this.#told(
        'asn-table',
        `autonomous systems: ${ranges} ranges, ${length} .mmdb ${length === 1 ? 'file' : 'files'}`,
      );
    } catch (error) {
      return this.#failed('asn-table-unread', error);
    }
  }

  #told(code: string, text: string): string {
    this.#log.info(code, text);
    return text;
  }

  #failed(code: string, error: unknown): string {
    const what = error instanceof Error ? error.message : String(error);
    const text = `${what}; what was read before holds`;
    this.#log.warn(code, text);
    return text;
  }
}
