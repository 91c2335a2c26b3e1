// A cluster in virtual time: the ownership state machine (src/cluster/ownership.ts) on several nodes over a bucket that loses, delays and repeats
// nothing it should not, but everything a bus may. Nodes pause as SIGSTOP does, lose the network, die and come back; the bus restarts and may
// have lost its newest data; a second process starts under a name. Checked at every event: never two nodes that would fetch one partition at
// one time (I4). Then faults end: every partition must find its owner.

import { SeededRandom } from '../../../src/base/random.ts';
import { type LeaseTimes, leaseTimes } from '../../../src/cluster/lease-times.ts';
import { Ownership } from '../../../src/cluster/ownership.ts';
import type { OwnershipAction } from '../../../src/cluster/ownership-actions.ts';
import { SimBucket } from './sim-bucket.ts';

const LEASE_MS = 30_000;
const PARTITIONS = 12;
const FAULTS_MS = 400_000;
const QUIET_MS = 240_000;
/** A node looks at its lease this often. */
const TICK_MS = 500;

export interface OwnershipResult {
  readonly failure: string | undefined;
  /** Rare events and how often each happened. */
  readonly reached: ReadonlyMap<string, number>;
}

interface SimEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** One process; a node that restarts is another. */
class SimProcess {
  readonly ownership: Ownership;
  readonly name: string;
  isUp = true;
  isCut = false;
  isLeaving = false;
  pausedUntilMs = 0;
  /** What arrived during a pause. */
  held: (() => void)[] = [];
  /** Own clock: offset and rate. */
  readonly offsetMs: number;
  readonly rate: number;
  session = 0;
  knownBuses: Set<number>;
  lastDeliveryMs = 0;

  constructor(
    name: string,
    clock: { offsetMs: number; rate: number },
    make: (nowMs: number) => Ownership,
    known: Set<number>,
  ) {
    this.name = name;
    this.offsetMs = clock.offsetMs;
    this.rate = clock.rate;
    this.knownBuses = known;
    this.ownership = make(this.clock(0));
  }

  clock(nowMs: number): number {
    return this.offsetMs + nowMs * this.rate;
  }
}

/** Runs one seed. Never throws for what the cluster does. */
export function simulateOwnership(seed: number): OwnershipResult {
  const simulation = new OwnershipSimulation(seed);
  return { failure: simulation.run(), reached: simulation.reached };
}

class OwnershipSimulation {
  readonly reached = new Map<string, number>();
  readonly #random: SeededRandom;
  readonly #bucket = new SimBucket();
  readonly #times: LeaseTimes = leaseTimes(LEASE_MS);
  readonly #processes: SimProcess[] = [];
  readonly #known = new Map<string, Set<number>>();
  readonly #names: string[];
  /** How often each fault is drawn, per second and node. */
  readonly #rates: Readonly<
    Record<'pause' | 'cut' | 'kill' | 'twin' | 'leave' | 'busLoss', number>
  >;
  readonly #loss: number;
  readonly #slow: number;
  #events: SimEvent[] = [];
  #order = 0;
  #nowMs = 0;
  #faults = true;
  #incarnations = 0;
  #failure: string | undefined;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    const random = this.#random;
    const maybe = (rate: number): number => (random.below(3) === 0 ? 0 : rate);
    this.#names = ['a', 'b', 'c', 'd', 'e'].slice(0, 2 + random.below(4));
    this.#rates = {
      pause: maybe(0.01),
      cut: maybe(0.01),
      kill: maybe(0.004),
      twin: maybe(0.001),
      leave: maybe(0.002),
      busLoss: maybe(0.003),
    };
    this.#loss = maybe(0.05);
    this.#slow = maybe(0.1);
  }

  run(): string | undefined {
    for (const name of this.#names) this.#at(this.#random.below(8_000), () => this.#start(name));
    this.#at(1_000, () => this.#drawFaults());
    this.#runUntil(FAULTS_MS);
    this.#faults = false;
    for (const process of this.#processes) if (process.isUp) this.#heal(process);
    for (const name of this.#names) {
      if (!this.#processes.some((each) => each.isUp && each.name === name)) this.#start(name);
    }
    this.#runUntil(FAULTS_MS + QUIET_MS);
    return this.#failure ?? this.#notLive();
  }

  #runUntil(untilMs: number): void {
    while (this.#failure === undefined) {
      const event = this.#next(untilMs);
      if (event === undefined) break;
      this.#nowMs = event.atMs;
      event.run();
      this.#check();
    }
    this.#nowMs = untilMs;
  }

  /** The earliest event, first come first served within one instant. */
  #next(untilMs: number): SimEvent | undefined {
    let best: number | undefined;
    for (const [index, event] of this.#events.entries()) {
      const other = best === undefined ? undefined : this.#events[best];
      const isEarlier =
        other === undefined ||
        event.atMs < other.atMs ||
        (event.atMs === other.atMs && event.order < other.order);
      if (isEarlier) best = index;
    }
    const found = best === undefined ? undefined : this.#events[best];
    if (best === undefined || found === undefined || found.atMs > untilMs) return undefined;
    const last = this.#events.pop() as SimEvent;
    if (last !== found) this.#events[best] = last;
    return found;
  }

  #at(delayMs: number, run: () => void): void {
    this.#order += 1;
    this.#events.push({ atMs: this.#nowMs + delayMs, order: this.#order, run });
  }

  #chance(rate: number): boolean {
    return this.#faults && this.#random.below(1_000_000) < rate * 1_000_000;
  }

  #count(name: string): void {
    this.reached.set(name, (this.reached.get(name) ?? 0) + 1);
  }

  // -------------------------------------------------------------------------------------------------------------- processes

  #start(name: string): void {
    const known = this.#known.get(name) ?? new Set<number>();
    this.#known.set(name, known);
    const isNew = known.size === 0;
    const isSuspect = !isNew && !known.has(this.#bucket.busId);
    known.add(this.#bucket.busId);
    const clock = {
      offsetMs: this.#random.below(1e9),
      rate: 0.996 + this.#random.below(9) / 1_000,
    };
    const make = (): Ownership =>
      new Ownership({
        name,
        weight: 1,
        region: undefined,
        times: this.#times,
        partitions: PARTITIONS,
        expectedNodes: this.#names.length,
        hash: hashOf,
        drawIncarnation: () => {
          this.#incarnations += 1;
          return `i${this.#incarnations}`;
        },
        nowMs: clock.offsetMs + this.#nowMs * clock.rate,
        isSuspect,
      });
    const process = new SimProcess(name, clock, make, known);
    this.#processes.push(process);
    this.#openView(process);
    this.#tick(process);
  }

  #tick(process: SimProcess): void {
    if (!process.isUp) return;
    this.#deliver(process, 0, () => {
      const { ownership } = process;
      ownership.tick(process.clock(this.#nowMs));
      if (process.isLeaving && ownership.owned.length === 0) {
        ownership.quit(process.clock(this.#nowMs));
      }
    });
    this.#at(TICK_MS, () => this.#tick(process));
  }

  /** Something reaches a process: now, or when its pause ends. */
  #deliver(process: SimProcess, delayMs: number, run: () => void): void {
    this.#at(delayMs, () => {
      if (!process.isUp) return;
      if (this.#nowMs < process.pausedUntilMs) {
        process.held.push(run);
        return;
      }
      run();
      this.#perform(process);
    });
  }

  #perform(process: SimProcess): void {
    for (const action of process.ownership.takeActions()) this.#act(process, action);
  }

  #act(process: SimProcess, action: OwnershipAction): void {
    const { ownership } = process;
    switch (action.kind) {
      case 'write':
        this.#send(process, action);
        return;
      case 'hand-over': {
        const { partition } = action;
        this.#count('hand-over');
        this.#deliver(process, this.#random.below(3_000), () =>
          ownership.handedOver(partition, process.clock(this.#nowMs)),
        );
        return;
      }
      case 'view':
        this.#count(`view.${action.why}`);
        this.#openView(process);
        return;
      case 'name-taken':
        this.#count('name-taken');
        process.isUp = false;
        this.#at(60_000, () => this.#restart(process.name));
        return;
      case 'left':
        this.#count('left');
        process.isUp = false;
        this.#at(20_000, () => this.#restart(process.name));
        return;
      default:
        this.#count(action.kind);
    }
  }

  #restart(name: string): void {
    if (!this.#processes.some((each) => each.isUp && each.name === name)) this.#start(name);
  }

  // -------------------------------------------------------------------------------------------------------------------- bus

  #delay(): number {
    if (this.#chance(this.#slow)) return 500 + this.#random.below(40_000);
    return 1 + this.#random.below(40);
  }

  #send(process: SimProcess, write: Extract<OwnershipAction, { kind: 'write' }>): void {
    const { op, key, expect, text } = write;
    let isAnswered = false;
    const answer = (outcome: Parameters<Ownership['answered']>[1]): void => {
      if (isAnswered) return;
      isAnswered = true;
      process.ownership.answered(op, outcome, process.clock(this.#nowMs));
    };
    // The driver gives up after a time of its own choice; what it gave up on may still be written.
    const patienceMs = this.#chance(0.3) ? 15_000 : this.#times.answerMs;
    this.#deliver(process, patienceMs, () => answer({ kind: 'unknown' }));
    if (process.isCut || this.#chance(this.#loss)) return;
    const { busId } = this.#bucket;
    this.#at(this.#delay(), () => {
      if (process.isCut) return;
      // A client sends what it has buffered to whichever server it finds again.
      if (busId !== this.#bucket.busId) this.#count('write-to-new-bus');
      const outcome = this.#bucket.write(key, expect, text, this.#nowMs);
      if (outcome.kind === 'written') this.#publish(key, text, outcome.revision);
      if (this.#chance(this.#loss)) return;
      this.#deliver(process, this.#delay(), () => {
        this.#meetBus(process);
        answer(outcome);
      });
    });
  }

  #publish(key: string, text: string, revision: number): void {
    for (const process of this.#processes)
      this.#show(process, process.session, key, text, revision);
  }

  /** In order within a session, each a little later than the one before. */
  #show(process: SimProcess, session: number, key: string, text: string, revision: number): void {
    if (!process.isUp || process.isCut || session === 0) return;
    const atMs = Math.max(process.lastDeliveryMs, this.#nowMs + this.#delay());
    process.lastDeliveryMs = atMs;
    this.#deliver(process, atMs - this.#nowMs, () => {
      if (session !== process.session) return;
      process.ownership.seen(key, text, revision, process.clock(this.#nowMs));
    });
  }

  #openView(process: SimProcess): void {
    process.session += 1;
    const { session } = process;
    process.lastDeliveryMs = this.#nowMs;
    process.ownership.viewBegins();
    if (process.isCut) return;
    this.#meetBus(process);
    for (const { key, text, revision } of this.#bucket.entries()) {
      this.#show(process, session, key, text, revision);
    }
    const atMs = Math.max(process.lastDeliveryMs, this.#nowMs + 1);
    process.lastDeliveryMs = atMs;
    this.#deliver(process, atMs - this.#nowMs, () => {
      if (session === process.session) process.ownership.viewEnds(process.clock(this.#nowMs));
    });
  }

  /** A driver knows from the connection which server speaks, before it reads what it says. */
  #meetBus(process: SimProcess): void {
    if (process.knownBuses.has(this.#bucket.busId)) return;
    process.knownBuses.add(this.#bucket.busId);
    process.ownership.suspectBus(process.clock(this.#nowMs));
  }

  // ----------------------------------------------------------------------------------------------------------------- faults

  #drawFaults(): void {
    if (!this.#faults) return;
    this.#at(1_000, () => this.#drawFaults());
    for (const process of [...this.#processes]) if (process.isUp) this.#draw(process);
    if (this.#chance(this.#rates.busLoss)) this.#loseBus();
  }

  #draw(process: SimProcess): void {
    const { pause, cut, kill, twin, leave } = this.#rates;
    if (this.#nowMs >= process.pausedUntilMs && this.#chance(pause)) {
      this.#count('pause');
      const lengthMs = 1_000 + this.#random.below(90_000);
      process.pausedUntilMs = this.#nowMs + lengthMs;
      this.#at(lengthMs, () => this.#resume(process));
    }
    if (!process.isCut && this.#chance(cut)) {
      this.#count('cut');
      process.isCut = true;
      this.#at(1_000 + this.#random.below(90_000), () => this.#heal(process));
    }
    if (this.#chance(kill)) {
      this.#count('kill');
      process.isUp = false;
      this.#at(this.#random.below(60_000), () => this.#restart(process.name));
    }
    if (this.#chance(twin)) {
      this.#count('twin');
      this.#start(process.name);
    }
    if (this.#chance(leave)) {
      process.isLeaving = true;
      this.#deliver(process, 0, () => process.ownership.leave(process.clock(this.#nowMs)));
    }
  }

  #resume(process: SimProcess): void {
    const { held } = process;
    process.held = [];
    process.pausedUntilMs = 0;
    for (const run of held) this.#deliver(process, 0, run);
  }

  #heal(process: SimProcess): void {
    if (!process.isUp || !process.isCut) return;
    process.isCut = false;
    this.#deliver(process, 0, () => this.#openView(process));
  }

  /** All bus servers end and come back without what was written last. */
  #loseBus(): void {
    this.#count('bus-loss');
    this.#bucket.restart(this.#nowMs - this.#random.below(20_000));
    for (const process of this.#processes) {
      process.session += 1;
      this.#deliver(process, 100 + this.#random.below(4_000), () => this.#openView(process));
    }
  }

  // ----------------------------------------------------------------------------------------------------------------- checks

  #check(): void {
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      let owner: SimProcess | undefined;
      for (const process of this.#processes) {
        if (!process.isUp || this.#nowMs < process.pausedUntilMs) continue;
        if (!process.ownership.holds(partition, process.clock(this.#nowMs))) continue;
        if (owner !== undefined) {
          this.#failure ??= `at ${this.#nowMs} ms: I4: partition ${partition} is fetched by ${owner.name} and ${process.name}`;
        }
        owner = process;
      }
    }
  }

  #notLive(): string | undefined {
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const owners = this.#processes.filter(
        (each) => each.isUp && each.ownership.holds(partition, each.clock(this.#nowMs)),
      );
      if (owners.length !== 1)
        return `partition ${partition} has ${owners.length} owners at the end`;
    }
    return undefined;
  }
}

/** FNV-1a over 64 bits, spread once more: any good hash will do for a ring. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const char of text) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  hash = BigInt.asUintN(64, (hash ^ (hash >> 32n)) * 0xd6e8feb86659fd93n);
  return hash ^ (hash >> 32n);
}
