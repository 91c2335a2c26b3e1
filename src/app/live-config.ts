// The configuration in force, and what of it may change while the crawl runs (DESIGN.md §10): on SIGHUP or the verb `reload` the config file
// is read anew, with the flags of the command line still over it. What can change safely takes effect at once, settings of hosts and the log
// level; of everything else that differs it is said that it holds from the next start. A file that cannot be read, or that contradicts
// itself, changes nothing.

import { CrawlError } from '../base/errors.ts';
import type { CrawlConfig, OptionName } from '../config/options.ts';
import { OPTION_LIST } from '../config/options.ts';
import { redactedConfig } from '../config/redact-config.ts';
import type { LogLevel } from '../ops/log.ts';
import type { CrawlProcess } from './crawl-process.ts';
import { hostSettingOptions } from './host-settings.ts';

/** Options that take effect at once. In a cluster the pace is part of what nodes hand over (CLUSTER.md, rule 5), and stays. */
const PACE: readonly OptionName[] = [
  'hostOverrides',
  'minGapMs',
  'maxCrawlDelayMs',
  'latencyFactor',
];
const TEXT_MAX = 60;

/** What changes take effect on. */
export interface LiveConfigParts {
  readonly crawl: Pick<CrawlProcess, 'sendAll'>;
  readonly setLogLevel: (level: LogLevel) => void;
  /** Reads file and flags anew. @throws CrawlError usage or config */
  readonly reread: () => Promise<CrawlConfig>;
}

/** See the head of this file. */
export class LiveConfig {
  readonly #parts: LiveConfigParts;
  #current: CrawlConfig;

  constructor(config: CrawlConfig, parts: LiveConfigParts) {
    this.#current = config;
    this.#parts = parts;
  }

  /** What is in force. */
  get current(): CrawlConfig {
    return this.#current;
  }

  /** Reads the configuration anew and adopts what it may. Never rejects. @returns what came of it, a sentence each */
  async reload(): Promise<readonly string[]> {
    let read: CrawlConfig;
    try {
      read = await this.#parts.reread();
    } catch (error) {
      // The operator's own code ran: whatever it threw is told, and the crawl goes on as it was.
      const what = error instanceof CrawlError ? error.message : String(error);
      return [`nothing changed, the configuration has problems: ${what.replaceAll('\n', '; ')}`];
    }
    const differing = OPTION_LIST.map(([name]) => name).filter(
      (name) => JSON.stringify(read[name]) !== JSON.stringify(this.#current[name]),
    );
    const isLive = (name: OptionName): boolean =>
      name === 'logLevel' || (PACE.includes(name) && read.nodesFile === undefined);
    const live = differing.filter(isLive);
    const texts = live.map((name) => this.#changeText(name, read));
    this.#adopt(live, read);
    const later = differing.filter((name) => !isLive(name));
    if (later.length > 0) texts.push(`${later.join(', ')}: changed, from the next start on`);
    return differing.length === 0 ? ['the configuration is as it was'] : texts;
  }

  #adopt(names: readonly OptionName[], read: CrawlConfig): void {
    const adopted: Record<string, unknown> = { ...this.#current };
    for (const name of names) adopted[name] = read[name];
    this.#current = adopted as unknown as CrawlConfig;
    if (names.includes('logLevel')) this.#parts.setLogLevel(this.#current.logLevel as LogLevel);
    if (names.some((name) => PACE.includes(name))) {
      const options = hostSettingOptions(this.#current);
      this.#parts.crawl.sendAll({ kind: 'host-settings', options });
    }
  }

  #changeText(name: OptionName, read: CrawlConfig): string {
    if (name === 'hostOverrides') return `hostOverrides: ${read.hostOverrides.length} in force now`;
    const [before, now] = [this.#current, read].map((config) =>
      String(redactedConfig(config)[name]).slice(0, TEXT_MAX),
    );
    return `${name}: ${now} in place of ${before}`;
  }
}
