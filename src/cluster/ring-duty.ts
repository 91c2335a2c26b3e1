// When the ring of a cluster changes (CLUSTER.md, `ring`): its members are the nodes that are alive and mean to stay. The first ring waits for
// every node of the file, or a while: a node that starts a second later should not cost a hand-over of a third of the partitions.

import type { RingRecord } from './records.ts';

/** True when the first ring may be written. */
export function firstRingIsDue(live: number, expected: number, hasWaited: boolean): boolean {
  return live > 0 && (live >= expected || hasWaited);
}

/** The ring that should follow; undefined when the one there is still right, or nobody is left to be on it. */
export function nextRing(
  before: RingRecord | undefined,
  members: RingRecord['members'],
  partitions: number,
): RingRecord | undefined {
  if (members.length === 0) return undefined;
  const sorted = [...members].sort((left, right) => (left.name < right.name ? -1 : 1));
  if (before !== undefined && signature(before.members) === signature(sorted)) return undefined;
  const epoch = (before?.epoch ?? 0) + 1;
  return { epoch, partitions: before?.partitions ?? partitions, members: sorted };
}

function signature(members: RingRecord['members']): string {
  return members
    .map(({ name, weight }) => `${name}=${weight}`)
    .sort()
    .join(' ');
}
