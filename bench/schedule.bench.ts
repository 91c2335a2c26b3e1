// What the host schedule costs with many hosts that have work (step 8): taking the due host and putting it back a gap later, which is one
// round of a crawl; and the memory of a host in it. O(log n): a hundred times the hosts may cost a few times as much, by the heap's depth
// and the caches, not a hundred times.
//
// Run compiled: `node --expose-gc dist/bench/schedule.bench.js [--full]`.
import { HostSchedule } from '../src/actors/host-schedule.ts';
import { hostKey, monotonicMs } from '../src/base/units.ts';
import { measure, parameter } from './measure.ts';

const GAP_MS = 1_000;
const TURNS = parameter('turns', 20_000, 200_000);
const sizes = [1_000, 10_000, 100_000, parameter('hosts', 100_000, 1_000_000)];

/** Kept, so that what one gives back is not counted to the next. */
const kept: HostSchedule[] = [];

for (const hosts of new Set(sizes)) {
  collect();
  const before = memory();
  const schedule = new HostSchedule([6, 3, 1], 20);
  kept.push(schedule);
  for (let at = 0; at < hosts; at += 1) {
    schedule.put(keyOf(at), monotonicMs((at * GAP_MS) / hosts), (at % 3) as 0 | 1 | 2, 'gap');
  }
  collect();
  const bytes = (memory() - before) / hosts;
  let nowMs = 0;
  measure({
    name: `take and put, ${hosts} hosts, ${bytes.toFixed(0)} bytes each`,
    operations: TURNS,
    rounds: 5,
    round: () => {
      let sum = 0;
      for (let turn = 0; turn < TURNS; turn += 1) {
        nowMs += GAP_MS / hosts;
        const taken = schedule.take(monotonicMs(nowMs));
        if (taken === undefined) continue;
        sum = (sum + Number(taken & 0xffffn)) | 0;
        schedule.put(taken, monotonicMs(nowMs + GAP_MS), (sum % 3 === 0 ? 0 : 1) as 0 | 1, 'gap');
      }
      return sum;
    },
  });
}

/** Keys as hashes have them: spread over 64 bits. */
function keyOf(at: number) {
  return hostKey(BigInt.asUintN(64, BigInt(at + 1) * 0x9e37_79b9_7f4a_7c15n));
}

function collect(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
