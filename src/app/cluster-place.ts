// What `--nodes` makes of this process: the nodes file is read, and the lines that are this machine are found (CLUSTER.md, hosts.txt).

import { readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { CrawlError } from '../base/errors.ts';
import { type HostsFile, parseHostsFile } from '../cluster/hosts-file.ts';
import { type OwnLines, ownLines } from '../cluster/own-line.ts';

/**
 * Reads a nodes file.
 * @param me the value of `--me`
 * @throws CrawlError config, whatever is wrong with it
 */
export function readPlace(
  path: string,
  me: string | undefined,
): { readonly file: HostsFile; readonly own: OwnLines } {
  const file = parseHostsFile(readNodes(path), path);
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  );
  return { file, own: ownLines(file, me, [...addresses, hostname()]) };
}

function readNodes(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CrawlError('config', `--nodes ${path} cannot be read: ${String(cause)}`, {
      remedy: 'Give a file with one machine a line: [name] address [bus] [weight=N].',
      cause,
    });
  }
}
