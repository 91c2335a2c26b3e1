// The times of the ownership protocol (CLUSTER.md, rules 1 and 3), all from the length of the lease. By the monotonic clock of each node alone: no
// two clocks are compared, only their rates are trusted to agree within one in a hundred.

/** Times in milliseconds. */
export interface LeaseTimes {
  /** How long an owner may fetch after it SENT a renewal that was acknowledged. */
  readonly leaseMs: number;
  /** Between two renewals. */
  readonly heartbeatMs: number;
  /** How long a node is silent, after RECEIPT of its last revision, before it may be declared dead. */
  readonly deadMs: number;
  /** How long the first ring waits for all nodes of the file. */
  readonly gatherMs: number;
  /** An answer of the bus that has not come by then is asked for again. */
  readonly answerMs: number;
}

/** An election of the bus takes 4.5 to 9.4 s (measured, CLUSTER.md): a lease must outlive it. */
export const LEASE_MS = 30_000;
/** How far two monotonic clocks may drift apart during one lease. */
const DRIFT = 1.01;

/** CLUSTER.md's figures at a lease of 30 s (heartbeat 3 s, margin 5 s), in proportion for others. */
export function leaseTimes(leaseMs: number): LeaseTimes {
  return {
    leaseMs,
    heartbeatMs: leaseMs / 10,
    deadMs: leaseMs * DRIFT + leaseMs / 6,
    gatherMs: leaseMs / 2,
    answerMs: leaseMs / 10,
  };
}
