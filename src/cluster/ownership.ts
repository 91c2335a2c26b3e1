// Who owns which partition, as one node sees and decides it: rules 1 to 7 of CLUSTER.md as a pure state machine (I4: a host is fetched only by
// the owner whose lease is valid). Observations and answers of the bus go in, with the monotonic time; actions come out: writes by
// compare-and-set, and what the node gains and loses. It never waits, and nothing here trusts that a message arrives, arrives once, or in
// time; the simulator runs this very class under pauses, cuts and lost data. All safety rests on four facts: a revision is written once,
// an owner stops by its own clock before anybody may declare it dead, only the shown owner's death or release frees a partition, and
// after a bus has lost data nobody takes anything until every lease of before has run out.

import { assert } from '../base/assert.ts';
import { Ring } from '../domain/ring.ts';
import { BucketView } from './bucket-view.ts';
import { isAlive, OwnLease } from './own-lease.ts';
import type { OwnershipAction, OwnershipOptions, WriteOutcome } from './ownership-actions.ts';
import { type LeaseRecord, leaseKey, type PartRecord, partKey, RING_KEY } from './records.ts';
import { firstRingIsDue, nextRing } from './ring-duty.ts';

/** Partitions on their way to another node at one time: a join moves about 1/n of all, and the rest goes on meanwhile. */
const HAND_OVERS_MAX = 64;
/** Claims of partitions under way at one time. */
const CLAIMS_MAX = 64;

type Held = { readonly token: number; state: 'own' | 'handing-over' | 'freeing' };
type Pending =
  | { readonly kind: 'lease'; readonly incarnation: string; readonly beat: number }
  | { readonly kind: 'claim' | 'free'; readonly incarnation: string; readonly partition: number }
  | { readonly kind: 'other' };

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #lease: OwnLease;
  readonly #view = new BucketView();
  readonly #held = new Map<number, Held>();
  readonly #pending = new Map<number, Pending & { readonly key: string; readonly text: string }>();
  readonly #busyKeys = new Set<string>();
  #actions: OwnershipAction[] = [];
  #nextOp = 1;
  #ring: { readonly epoch: number; readonly ring: Ring; readonly names: string[] } | undefined;
  #suspectUntilMs: number;
  readonly #startedMs: number;
  #nameTakenTold = false;
  #leftTold = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#lease = new OwnLease(options);
    this.#startedMs = options.nowMs;
    this.#suspectUntilMs = options.isSuspect ? options.nowMs + options.times.deadMs : -Infinity;
  }

  // ------------------------------------------------------------------------------------------------------- what is asked of it

  /** Rule 1, to be asked before connecting and again before sending. */
  holds(partition: number, nowMs: number): boolean {
    return this.#lease.holds(nowMs) && this.#held.get(partition)?.state === 'own';
  }

  /** When everything in flight has to be aborted unless another renewal succeeds; −∞ without a lease. */
  get deadlineMs(): number {
    return this.#lease.deadlineMs;
  }

  get incarnation(): string {
    return this.#lease.incarnation;
  }

  /** Partitions owned, those being handed over included. */
  get owned(): readonly number[] {
    return [...this.#held.keys()];
  }

  /** The node that the bucket shows as owner now; undefined for free, unknown or dead. */
  ownerOf(partition: number): string | undefined {
    const part = this.#view.part(partition)?.record;
    if (part === undefined || part.state === 'free') return undefined;
    const lease = this.#view.lease(part.owner)?.record;
    return lease !== undefined && isAlive(lease) ? part.owner : undefined;
  }

  /** The fencing token of a partition as far as is known: it changes with every change of owner. */
  tokenOf(partition: number): number {
    return this.#view.revisionOf(partKey(partition));
  }

  /** Nodes that are alive as far as is known, by name. */
  liveNodes(): string[] {
    const names: string[] = [];
    for (const { node, seen } of this.#view.leases()) {
      if (seen.record !== undefined && isAlive(seen.record)) names.push(node);
    }
    return names.sort();
  }

  /** True when a message of this node and incarnation is no left-over of before (batches carry it). */
  isCurrent(node: string, incarnation: string): boolean {
    const lease = this.#view.lease(node)?.record;
    return lease !== undefined && isAlive(lease) && lease.incarnation === incarnation;
  }

  /** What there is to do since the last call. */
  takeActions(): readonly OwnershipAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  // --------------------------------------------------------------------------------------------------------------- what it hears

  /** A session of the view begins. */
  viewBegins(): void {
    this.#view.begin();
  }

  /** A value of the bucket. */
  seen(key: string, text: string, revision: number, nowMs: number): void {
    this.#checkDeadline(nowMs);
    if (!this.#view.see(key, text, revision, nowMs)) return;
    if (key === leaseKey(this.#options.name)) this.#ownLeaseSeen();
    this.#partsSeen(key);
    if (this.#view.isWhole) this.#plan(nowMs);
  }

  /** The session has shown everything. */
  viewEnds(nowMs: number): void {
    this.#checkDeadline(nowMs);
    if (this.#view.end()) {
      this.#plan(nowMs);
      return;
    }
    // Rule 7.
    this.#dropAll();
    this.suspectBus(nowMs);
    this.#act({ kind: 'view', why: 'bus-lost-data' });
  }

  /** The bus may have lost acknowledged data (a server restarted): leases of before may still be trusted by their owners. */
  suspectBus(nowMs: number): void {
    this.#suspectUntilMs = nowMs + this.#options.times.deadMs;
  }

  /** The outcome of a write. */
  answered(op: number, outcome: WriteOutcome, nowMs: number): void {
    this.#checkDeadline(nowMs);
    const pending = this.#pending.get(op);
    assert(pending !== undefined, () => `answer to unknown write ${op}`);
    this.#pending.delete(op);
    this.#busyKeys.delete(pending.key);
    if (outcome.kind === 'written') this.#written(pending, outcome.revision, nowMs);
    else if (pending.kind === 'lease') {
      this.#lease.refused(nowMs);
      // Somebody else wrote our key, or the bus forgot it: only a fresh view tells which.
      if (outcome.kind === 'conflict') this.#act({ kind: 'view', why: 'conflict' });
    }
    if (this.#view.isWhole) this.#plan(nowMs);
  }

  /** A partition was stopped and handed over. Ignored when it was lost meanwhile. */
  handedOver(partition: number, nowMs: number): void {
    const held = this.#held.get(partition);
    if (held?.state === 'handing-over') held.state = 'freeing';
    this.tick(nowMs);
  }

  /** Hand everything over. The lease stays until `quit`: what is queued here can follow only while it lives. */
  leave(nowMs: number): void {
    this.#lease.leave();
    this.tick(nowMs);
  }

  /** Go: everything has stopped, and whoever is there may take what is still owned. */
  quit(nowMs: number): void {
    this.#held.clear();
    this.#lease.left();
    this.tick(nowMs);
  }

  /** To be called several times a heartbeat, and first of all after a pause. */
  tick(nowMs: number): void {
    this.#checkDeadline(nowMs);
    if (this.#view.isWhole) this.#plan(nowMs);
  }

  // --------------------------------------------------------------------------------------------------------------------- rules

  /** Rule 2. First in every input: whatever is heard after the deadline is heard by a node that owns nothing. */
  #checkDeadline(nowMs: number): void {
    if (this.#lease.hasLapsed(nowMs)) this.#dropAll();
  }

  #dropAll(): void {
    for (const partition of this.#held.keys()) this.#act({ kind: 'lost', partition });
    this.#held.clear();
    this.#lease.lose();
  }

  #ownLeaseSeen(): void {
    const seen = this.#view.lease(this.#options.name);
    if (seen?.record === undefined) return;
    const { record } = seen;
    if (this.#lease.isNameTaken(seen) && !this.#nameTakenTold) {
      this.#nameTakenTold = true;
      this.#act({ kind: 'name-taken' });
    }
    const isOwn = record.incarnation === this.#lease.incarnation;
    if (isOwn && record.state !== 'dead') this.#lease.confirmed(record.incarnation, record.beat);
    // Fenced: declared dead, or another process took the name. What we held may be another's at once.
    else if (this.#lease.isForeign(record) || isOwn) this.#dropAll();
  }

  /** A partition that the bucket shows as another's, or as free, is not ours, whatever we believe. */
  #partsSeen(key: string): void {
    if (!key.startsWith('part.')) return;
    const partition = Number(key.slice('part.'.length));
    const held = this.#held.get(partition);
    const seen = this.#view.part(partition);
    if (held === undefined || seen === undefined || seen.revision <= held.token) return;
    this.#held.delete(partition);
    if (held.state !== 'freeing') this.#act({ kind: 'lost', partition });
  }

  #written(
    pending: Pending & { readonly key: string; readonly text: string },
    revision: number,
    nowMs: number,
  ): void {
    this.#view.see(pending.key, pending.text, revision, nowMs);
    if (pending.kind === 'lease') {
      this.#lease.confirmed(pending.incarnation, pending.beat);
      if (pending.text.includes('"state":"left"') && !this.#leftTold) {
        this.#leftTold = true;
        this.#act({ kind: 'left' });
      }
    } else if (pending.kind === 'free') this.#held.delete(pending.partition);
    // A claim is taken up by #plan, which finds it in the view: the same way as one whose answer was lost.
  }

  #plan(nowMs: number): void {
    this.#renew(nowMs);
    if (!this.#lease.holds(nowMs)) return;
    this.#declareDead(nowMs);
    this.#keepRing(nowMs);
    this.#readRing();
    for (const [partition, held] of this.#held) {
      if (held.state === 'freeing') this.#free(partition, held.token);
    }
    this.#moveParts(nowMs);
  }

  #renew(nowMs: number): void {
    const key = leaseKey(this.#options.name);
    if (this.#busyKeys.has(key) || this.#leftTold) return;
    if (!this.#lease.isDue(this.#view.lease(this.#options.name), nowMs)) return;
    const record = this.#lease.next(nowMs);
    const { incarnation, beat } = record;
    this.#write(key, record, { kind: 'lease', incarnation, beat });
  }

  /** Rule 3. */
  #declareDead(nowMs: number): void {
    for (const { node, seen } of this.#view.leases()) {
      const { record, receivedMs } = seen;
      if (node === this.#options.name || record === undefined || !isAlive(record)) continue;
      if (nowMs - receivedMs < this.#options.times.deadMs) continue;
      const dead: LeaseRecord = { ...record, state: 'dead' };
      this.#write(leaseKey(node), dead, { kind: 'other' });
    }
  }

  /** The first of the live nodes keeps the ring in step with who is there. */
  #keepRing(nowMs: number): void {
    if (nowMs < this.#suspectUntilMs) return;
    const { name, expectedNodes, times, partitions } = this.#options;
    const live = this.#view.leases();
    const members = [...live].flatMap(({ node, seen }) =>
      seen.record?.state === 'live' ? [{ name: node, weight: seen.record.weight }] : [],
    );
    const first = members.map((member) => member.name).sort()[0];
    if (first !== name) return;
    const before = this.#view.ring();
    const waitedMs = nowMs - this.#startedMs;
    const isReady = firstRingIsDue(members.length, expectedNodes, waitedMs >= times.gatherMs);
    if (before === undefined && !isReady) return;
    const ring = nextRing(before, members, partitions);
    if (ring !== undefined) this.#write(RING_KEY, ring, { kind: 'other' });
  }

  #readRing(): void {
    const record = this.#view.ring();
    if (record === undefined || record.epoch === this.#ring?.epoch) return;
    if (record.partitions !== this.#options.partitions || record.members.length === 0) return;
    const ring = new Ring(record.members, record.partitions, this.#options.hash);
    this.#ring = { epoch: record.epoch, ring, names: record.members.map(({ name }) => name) };
  }

  /** Rule 4 and the moves that the ring asks for. */
  #moveParts(nowMs: number): void {
    const { name, partitions } = this.#options;
    const isLeaving = this.#lease.state !== 'live';
    let claims = 0;
    let moving = 0;
    for (const { state } of this.#held.values()) moving += state === 'own' ? 0 : 1;
    for (const { kind } of this.#pending.values()) claims += kind === 'claim' ? 1 : 0;
    for (let partition = 0; partition < partitions; partition += 1) {
      const target = isLeaving ? undefined : this.#ring?.names[this.#ring.ring.ownerOf(partition)];
      const held = this.#held.get(partition);
      if (held !== undefined) {
        const isWanted = target === name || (target !== undefined && !this.#isLive(target));
        if (held.state !== 'own' || isWanted || moving >= HAND_OVERS_MAX) continue;
        if (target === undefined && !isLeaving) continue;
        moving += 1;
        held.state = 'handing-over';
        this.#act({ kind: 'hand-over', partition });
        continue;
      }
      // A claim may have been on its way while the bus came back without what it had acknowledged: it proves nothing then.
      if (isLeaving || nowMs < this.#suspectUntilMs || this.#takeUp(partition)) continue;
      if (target !== name || claims >= CLAIMS_MAX || !this.#mayTake(partition)) continue;
      claims += 1;
      this.#claim(partition);
    }
  }

  #isLive(node: string): boolean {
    return this.#view.lease(node)?.record?.state === 'live';
  }

  /** A claim of ours of this incarnation stands in the bucket: it is ours, whether or not we heard the answer. */
  #takeUp(partition: number): boolean {
    const seen = this.#view.part(partition);
    const part = seen?.record;
    if (seen === undefined || part === undefined || part.state !== 'own') return false;
    const { name } = this.#options;
    if (part.owner !== name || part.incarnation !== this.#lease.incarnation) return false;
    this.#held.set(partition, { token: seen.revision, state: 'own' });
    const isForeign = this.#foreignBefore.get(partition) ?? true;
    this.#act({ kind: 'gained', partition, token: seen.revision, isForeign });
    return true;
  }

  /** Rule 4. Unknown is not dead: a record that cannot be read, or an owner never seen, is left alone. */
  #mayTake(partition: number): boolean {
    const seen = this.#view.part(partition);
    if (seen === undefined) return true;
    const part = seen.record;
    if (part === undefined) return false;
    if (part.state === 'free') return true;
    const owner = this.#view.lease(part.owner)?.record;
    if (owner === undefined) return false;
    return !isAlive(owner) || owner.incarnation !== part.incarnation;
  }

  /** For claims under way: whether another node had the partition last. */
  readonly #foreignBefore = new Map<number, boolean>();

  #claim(partition: number): void {
    const { name } = this.#options;
    const before = this.#view.part(partition)?.record;
    const { incarnation } = this.#lease;
    const part: PartRecord = { owner: name, incarnation, state: 'own' };
    const isSent = this.#write(partKey(partition), part, { kind: 'claim', incarnation, partition });
    if (isSent) this.#foreignBefore.set(partition, before !== undefined && before.owner !== name);
  }

  #free(partition: number, token: number): void {
    const { incarnation } = this.#lease;
    const part: PartRecord = { owner: this.#options.name, incarnation, state: 'free' };
    assert(this.#view.revisionOf(partKey(partition)) === token, () => `${partition} moved on`);
    this.#write(partKey(partition), part, { kind: 'free', incarnation, partition });
  }

  /** One write of a key at a time, on the revision that is known. @returns false when one is under way */
  #write(key: string, record: object, pending: Pending): boolean {
    if (this.#busyKeys.has(key)) return false;
    const op = this.#nextOp;
    this.#nextOp += 1;
    const text = JSON.stringify(record);
    this.#busyKeys.add(key);
    this.#pending.set(op, { ...pending, key, text });
    this.#act({ kind: 'write', op, key, expect: this.#view.revisionOf(key), text });
    return true;
  }

  #act(action: OwnershipAction): void {
    this.#actions.push(action);
  }
}
