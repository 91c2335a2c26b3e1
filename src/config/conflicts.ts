// Rules about several options at once (DESIGN.md §9): each names what contradicts what, and what to do. Values are single-checked before.

import { join } from 'node:path';
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

/**
 * Finds contradictions.
 * @param config complete, though not yet known to be free of problems
 * @param origins where each option was set; the others have their defaults
 * @param fileName how the config file is called
 */
export function conflictsOf(
  config: CrawlConfig,
  origins: ReadonlyMap<OptionName, Origin>,
  fileName: string,
): Problem[] {
  const problems: Problem[] = [];
  const complain = (name: OptionName, text: (place: string) => string): void => {
    const isFile = origins.get(name) === 'file';
    const row: AnyOption = OPTIONS[name];
    const place = isFile ? `${fileName}: ${name}` : (row.flag ?? name);
    problems.push({ code: isFile ? 'config' : 'usage', text: text(place) });
  };
  checkGaps(config, complain);
  if (config.scope === 'all' && config.contact === undefined) {
    complain(
      'scope',
      (place) => `${place} all: needs --contact URL-or-mail, so that site owners can reach you`,
    );
  }
  if (config.threads > config.partitions) {
    const { threads, partitions } = config;
    complain(
      'threads',
      (place) =>
        `${place} ${threads}: more than the ${partitions} partitions; every thread needs one`,
    );
  }
  if (config.decodedBytesMax < config.bodyBytesMax) {
    const { decodedBytesMax, bodyBytesMax } = config;
    const name = origins.has('decodedBytesMax') ? 'decodedBytesMax' : 'bodyBytesMax';
    complain(
      name,
      (place) =>
        `${place}: decodedBytesMax (${decodedBytesMax}) is less than bodyBytesMax (${bodyBytesMax}); set it as well`,
    );
  }
  checkSocket(config, origins, complain);
  if (config.nodesFile !== undefined) {
    complain(
      'nodesFile',
      (place) =>
        `${place}: this version runs on one machine and cannot join a cluster; leave it out`,
    );
  } else if (config.nodeName !== undefined) {
    complain(
      'nodeName',
      (place) => `${place}: names a machine of a cluster, and there is no --nodes`,
    );
  }
  return problems;
}

type Complain = (name: OptionName, text: (place: string) => string) => void;

function checkGaps(config: CrawlConfig, complain: Complain): void {
  if (config.allowNets.length > 0) return;
  const rule = `under ${PUBLIC_GAP_MS_MIN} ms is for your own networks only; name them with --allow-net CIDR, or use ${PUBLIC_GAP_MS_MIN} or more`;
  if (config.minGapMs < PUBLIC_GAP_MS_MIN) {
    complain('minGapMs', (place) => `${place} ${config.minGapMs}: ${rule}`);
  }
  for (const { pattern, minGapMs } of config.hostOverrides) {
    if (minGapMs === undefined || minGapMs >= PUBLIC_GAP_MS_MIN) continue;
    complain('hostOverrides', (place) => `${place}: ${pattern}: minGapMs ${minGapMs}: ${rule}`);
  }
}

/** The default socket lies in the data directory, whose path may be too long for one. */
function checkSocket(
  config: CrawlConfig,
  origins: ReadonlyMap<OptionName, Origin>,
  complain: Complain,
): void {
  if (origins.has('debugSocket')) return;
  const path = join(config.dataDir, 'debug.sock');
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_BYTES_MAX) return;
  complain(
    'dataDir',
    (place) =>
      `${place}: the debug socket ${path} would have a path of ${bytes} bytes, and a Unix socket has ${SOCKET_PATH_BYTES_MAX} at most; give a shorter one with --debug-socket`,
  );
}
