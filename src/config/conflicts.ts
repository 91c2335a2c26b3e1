// Rules about several options at once (DESIGN.md §9): each names what contradicts what, and what to do. Values are single-checked before.

import type { AnyOption } from './option.ts';
import { type CrawlConfig, OPTIONS, type OptionName } from './options.ts';
import type { Problem } from './problem.ts';
import type { Origin } from './resolve-config.ts';
import { SOCKET_PATH_BYTES_MAX } from './text-kinds.ts';

/** Least gap to a host in a network that is not the operator's own: DESIGN.md §9. */
export const PUBLIC_GAP_MS_MIN = 250;

/**
 * The gap that is kept to an address, whatever was configured: a gap under 250 ms holds only inside the networks of --allow-net.
 * @param minGapMs the gap configured for the host
 * @param isAllowedNet whether the address lies in a network of --allow-net (`AddressGuard.isAllowed`)
 */
export function leastGapMs(minGapMs: number, isAllowedNet: boolean): number {
  return isAllowedNet ? minGapMs : Math.max(minGapMs, PUBLIC_GAP_MS_MIN);
}

/** Where each option was set, as far as it could be read; the others have their defaults. */
export interface Origins {
  readonly origins: ReadonlyMap<OptionName, Origin>;
  /** Options that have a problem of their own already: nothing follows from their values. */
  readonly broken: ReadonlySet<OptionName>;
  /** How the config file is called. */
  readonly fileName: string;
}

/**
 * Finds contradictions.
 * @param config complete, though not yet known to be free of problems
 */
export function conflictsOf(config: CrawlConfig, origins: Origins): Problem[] {
  const rules = new ConflictRules(config, origins);
  rules.checkGaps();
  rules.checkSizes();
  rules.checkIntervals();
  rules.checkSocket();
  rules.checkDashboard();
  rules.checkIdentity();
  return rules.problems;
}

/** The rules by subject; each adds what it finds. */
class ConflictRules {
  readonly problems: Problem[] = [];
  readonly #config: CrawlConfig;
  readonly #origins: Origins;

  constructor(config: CrawlConfig, origins: Origins) {
    this.#config = config;
    this.#origins = origins;
  }

  checkGaps(): void {
    const { allowNets, minGapMs, hostOverrides } = this.#config;
    if (allowNets.length > 0) return;
    const rule =
      `under ${PUBLIC_GAP_MS_MIN} ms is for your own networks only; ` +
      `name them with --allow-net CIDR, or use ${PUBLIC_GAP_MS_MIN} or more`;
    if (minGapMs < PUBLIC_GAP_MS_MIN) {
      this.#complain(['minGapMs', 'allowNets'], ` ${minGapMs}: ${rule}`);
    }
    for (const override of hostOverrides) {
      if (override.minGapMs === undefined || override.minGapMs >= PUBLIC_GAP_MS_MIN) continue;
      const what = `: ${override.pattern}: minGapMs ${override.minGapMs}: ${rule}`;
      this.#complain(['hostOverrides', 'allowNets'], what);
    }
  }

  checkSizes(): void {
    const { threads, partitions, decodedBytesMax, bodyBytesMax } = this.#config;
    if (threads > partitions) {
      const what = ` ${threads}: more than the ${partitions} partitions; every thread needs one`;
      this.#complain(['threads', 'partitions'], what);
    }
    if (decodedBytesMax < bodyBytesMax) {
      const isSet = this.#origins.origins.has('decodedBytesMax');
      this.#complain(
        isSet ? ['decodedBytesMax', 'bodyBytesMax'] : ['bodyBytesMax', 'decodedBytesMax'],
        `: decodedBytesMax (${decodedBytesMax}) is less than ` +
          `bodyBytesMax (${bodyBytesMax}); set both`,
      );
    }
  }

  checkIntervals(): void {
    const { recrawlFirstSeconds, recrawlLeastSeconds, recrawlLongestSeconds } = this.#config;
    if (recrawlLeastSeconds > recrawlLongestSeconds) {
      const what = ` ${recrawlLeastSeconds}: more than the longest, ${recrawlLongestSeconds}`;
      this.#complain(['recrawlLeastSeconds', 'recrawlLongestSeconds'], what);
    } else if (
      recrawlFirstSeconds < recrawlLeastSeconds ||
      recrawlFirstSeconds > recrawlLongestSeconds
    ) {
      const what =
        ` ${recrawlFirstSeconds}: not between the least and the longest, ` +
        `${recrawlLeastSeconds} and ${recrawlLongestSeconds}`;
      this.#complain(['recrawlFirstSeconds', 'recrawlLeastSeconds', 'recrawlLongestSeconds'], what);
    }
  }

  /** The default socket lies in the data directory, whose path may be too long for one. */
  checkSocket(): void {
    if (this.#origins.origins.has('debugSocket')) return;
    const path = this.#config.debugSocket;
    const bytes = Buffer.byteLength(path);
    if (bytes <= SOCKET_PATH_BYTES_MAX) return;
    this.#complain(
      ['dataDir', 'debugSocket'],
      `: the debug socket ${path} would have a path of ${bytes} bytes, and a Unix socket ` +
        `has ${SOCKET_PATH_BYTES_MAX} at most; give a shorter one with --debug-socket`,
    );
  }

  checkDashboard(): void {
    if (!this.#config.httpOperate || this.#config.http !== undefined) return;
    this.#complain(['httpOperate', 'http'], ': there is no dashboard to operate by; add --http');
  }

  checkIdentity(): void {
    const { scope, contact, userAgent, nodesFile, nodeName, maxPages, recrawl } = this.#config;
    if (scope === 'all' && contact === undefined) {
      const what = ' all: needs --contact URL-or-mail, so that site owners can reach you';
      this.#complain(['scope', 'contact'], what);
    }
    if (scope === 'all' && contact !== undefined && !userAgent.includes(contact)) {
      const what = `: does not name the contact ${contact}; with --scope all it must`;
      this.#complain(['userAgent', 'contact', 'scope'], what);
    }
    if (nodesFile !== undefined && maxPages !== undefined) {
      const what =
        ': counts the pages of one machine and cannot be kept with --nodes yet; use --max-time or --max-depth';
      this.#complain(['maxPages', 'nodesFile'], what);
    } else if (nodesFile !== undefined && recrawl) {
      const what =
        ': visits are kept by one machine and do not move with --nodes yet; leave it out';
      this.#complain(['recrawl', 'nodesFile'], what);
    } else if (nodesFile === undefined && nodeName !== undefined) {
      this.#complain(
        ['nodeName', 'nodesFile'],
        ': names a machine of a cluster, and there is no --nodes',
      );
    }
  }

  /**
   * @param involved the options that contradict each other; the first is named
   * @param what follows its name
   */
  #complain(involved: readonly [OptionName, ...OptionName[]], what: string): void {
    const { origins, broken, fileName } = this.#origins;
    if (involved.some((name) => broken.has(name))) return;
    const [name] = involved;
    const isFile = origins.get(name) === 'file';
    const row: AnyOption = OPTIONS[name];
    const place = isFile ? `${fileName}: ${name}` : (row.flag ?? name);
    this.problems.push({ code: isFile ? 'config' : 'usage', text: place + what });
  }
}
