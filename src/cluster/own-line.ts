// Which lines of a hosts file this process is: the one that `--me` names, else the one whose address this machine has; every line of a file
// that is all loopback. Pure: the machine's addresses are given. A guess between two lines would make two nodes of one name, which fence each
// other; so what is ambiguous is an error that lists the choices.

import { CrawlError } from '../base/errors.ts';
import type { HostsFile, NodeLine } from './hosts-file.ts';

/** What this process is to run. */
export type OwnLines =
  | { readonly kind: 'one'; readonly node: NodeLine }
  /** A trial on one machine: every node, each in a process of its own. */
  | { readonly kind: 'all' };

/** Names listed in a message, at most. */
const LISTED_MAX = 12;

/**
 * @param me the value of `--me`
 * @param local addresses of this machine's interfaces and its host name
 * @throws CrawlError config when no line, or more than one, is this machine
 */
export function ownLines(
  file: HostsFile,
  me: string | undefined,
  local: readonly string[],
): OwnLines {
  if (me !== undefined) {
    const node = file.nodes.find(({ name }) => name === me);
    if (node !== undefined) return { kind: 'one', node };
    throw new CrawlError('config', `--me ${me}: no line of the nodes file has this name`, {
      remedy: `Its names are ${listed(file.nodes)}.`,
    });
  }
  if (file.isLoopback) return { kind: 'all' };
  const here = new Set(local.map((address) => address.toLowerCase()));
  const mine = file.nodes.filter(({ address }) => here.has(address.toLowerCase()));
  const [only] = mine;
  if (only !== undefined && mine.length === 1) return { kind: 'one', node: only };
  if (only === undefined) {
    throw new CrawlError('config', 'no line of the nodes file is this machine', {
      remedy: `Add a line with one of its addresses (${local.slice(0, LISTED_MAX).join(', ')}), or say which it is: --me NAME, of ${listed(file.nodes)}.`,
    });
  }
  throw new CrawlError('config', `${mine.length} lines of the nodes file are this machine`, {
    remedy: `Say which one this process is: --me NAME, of ${listed(mine)}.`,
  });
}

function listed(nodes: readonly NodeLine[]): string {
  const names = nodes.slice(0, LISTED_MAX).map(({ name }) => name);
  const more = nodes.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
