// Checks of the committed state (DESIGN.md §12), made after commits, after crashes and at the end: the state alone must account for every
// URL that was ever accepted. I5: queued once. I6: lost never. I8: queue cursors and page rows agree. I10: bounds of what is in memory.
import { SLOW_FACTOR } from '../../../src/actors/fetch-gate.ts';
import {
  cursorsOf,
  FRESHNESS,
  LANES,
  type Lane,
  type QueueEntry,
} from '../../../src/actors/rows.ts';
import type { HostKey, UrlKey } from '../../../src/base/units.ts';
import type { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import { bandName, type SimDisk } from './sim-disk.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { SimNode } from './sim-node.ts';
import type { SimPlan } from './sim-plan.ts';

/** Every key that was logged for the host is in exactly one place: queued (parked is queued, too), stored, or denied. */
export function checkHost(kernel: SimKernel, disk: SimDisk, hostKey: HostKey): void {
  const queued = new Set<UrlKey>();
  const name = disk.hosts.get(hostKey)?.host ?? String(hostKey);
  for (const band of LANES) {
    for (const entry of liveEntries(kernel, disk, hostKey, band)) {
      if (band === FRESHNESS) {
        if (!disk.pages.has(entry.urlKey)) kernel.fail(`I8: ${entry.url} is due and not stored`);
        continue;
      }
      if (queued.has(entry.urlKey)) kernel.fail(`I5: ${entry.url} is queued twice`);
      if (disk.pages.has(entry.urlKey)) kernel.fail(`I8: ${entry.url} is stored and queued`);
      if (disk.denied.get(hostKey)?.has(entry.urlKey) === true) {
        kernel.fail(`I5: ${entry.url} is denied and queued`);
      }
      queued.add(entry.urlKey);
    }
  }
  const denied = disk.denied.get(hostKey);
  for (const key of disk.logged.get(hostKey) ?? []) {
    if (queued.has(key) || disk.pages.has(key)) continue;
    if (denied?.has(key) !== true) kernel.fail(`I6: URL key ${key} of ${name} is lost`);
  }
}

/** Entries from the head on, from chunk rows and, beyond them, from the log. */
export function liveEntries(
  kernel: SimKernel,
  disk: SimDisk,
  hostKey: HostKey,
  band: Lane,
): readonly QueueEntry[] {
  const { head, chunkEnd, tail } = cursorsOf(disk.hosts.get(hostKey), band);
  const entries = new Map<number, QueueEntry>();
  for (const [first, row] of disk.chunks.get(bandName(hostKey, band)) ?? []) {
    if (row[0]?.sequence !== first) kernel.fail(`chunk row ${first} begins with another entry`);
    for (const entry of row) {
      if (entry.sequence >= head && entry.sequence < chunkEnd) entries.set(entry.sequence, entry);
    }
  }
  let end = tail;
  for (const discovered of disk.logOf(hostKey)) {
    if (discovered.band !== band || discovered.entry.sequence < chunkEnd) continue;
    entries.set(discovered.entry.sequence, discovered.entry);
    end = Math.max(end, discovered.entry.sequence + 1);
  }
  const live: QueueEntry[] = [];
  for (let sequence = head; sequence < end; sequence += 1) {
    const entry = entries.get(sequence);
    if (entry === undefined) {
      kernel.fail(
        `I6: entry ${sequence} of ${bandName(hostKey, band)} has no copy (${head}-${end})`,
      );
    }
    live.push(entry);
  }
  return live;
}

/** Chunk rows wholly below the head are removed with the batch that moved the head past them. */
export function checkChunkLeaks(kernel: SimKernel, disk: SimDisk): void {
  for (const [hostKey, row] of disk.hosts) {
    for (const band of LANES) {
      for (const [first, chunk] of disk.chunks.get(bandName(hostKey, band)) ?? []) {
        if (first + chunk.length > cursorsOf(row, band).head) continue;
        kernel.fail(`I10: chunk row ${first} of ${row.host} stays behind the head`);
      }
    }
  }
}

/** I10: what is in memory stays within its bounds. */
export function checkBounds(kernel: SimKernel, node: SimNode, plan: SimPlan): void {
  for (const [shard, running] of node.shards.entries()) {
    const status = running.status();
    const { inFlight, slow } = running.shard.gate;
    const isOver = inFlight - slow > plan.slotsMax || slow > SLOW_FACTOR * plan.slotsMax;
    if (isOver) kernel.fail(`I10: ${inFlight} requests in flight, ${slow} of them slow`);
    const awake = running.hosts.size;
    if (awake > plan.hostsActiveMax + 32) kernel.fail(`I10: ${awake} hosts awake`);
    const { timers } = (node.dispatchers[shard] as VirtualDispatcher).dispatcher.counters;
    if (timers > 4 * awake + 40) kernel.fail(`I10: ${timers} timers for ${awake} hosts awake`);
    if (status.linksWaiting > 64 * 500 * node.shards.length) {
      kernel.fail(`I10: ${status.linksWaiting} links wait`);
    }
    const dead = node.dispatchers[shard]?.dispatcher.deadLetters;
    if (dead !== undefined && dead.count > 0) {
      kernel.fail(`a message was lost: ${JSON.stringify(dead.recent().at(-1))}`);
    }
  }
}
