// Links between the shards of a node, simulated: messages arrive in order, after a drawn time, in batches; credits bound what is under way
// and go back after delivery, and the sender hears of it as by the real link (runtime/link.ts, onCredit). A crash loses what is under way.
import type { ShardPeerMessage } from '../../../src/actors/messages.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { Boundary } from './sim-plan.ts';
import type { SimReceipts } from './sim-receipts.ts';

export interface SimLinksOptions {
  readonly kernel: SimKernel;
  readonly creditsMax: number;
  readonly stallRate: number;
  readonly random: SeededRandom;
  readonly deliver: (shard: number, message: ShardPeerMessage) => void;
  /** Sending to a shard is possible again after a refusal. */
  readonly credit: (shard: number) => void;
  readonly boundary: (boundary: Boundary) => void;
  readonly receipts: SimReceipts;
}

interface Direction {
  credits: number;
  wasRefused: boolean;
  /** The last message arrives then: none overtakes it. */
  lastMs: number;
}

/** All links of one run. */
export class SimLinks {
  readonly #options: SimLinksOptions;
  readonly #directions = new Map<string, Direction>();
  #underWay = 0;
  #isDead = false;

  constructor(options: SimLinksOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  kill(): void {
    this.#isDead = true;
  }

  /** False without credit. */
  send(from: number, to: number, message: ShardPeerMessage): boolean {
    const { kernel, creditsMax, stallRate, random, boundary } = this.#options;
    const name = `${from}>${to}`;
    const direction = this.#directions.get(name) ?? {
      credits: creditsMax,
      wasRefused: false,
      lastMs: 0,
    };
    this.#directions.set(name, direction);
    if (direction.credits === 0) {
      direction.wasRefused = true;
      kernel.count('links.no-credit');
      return false;
    }
    direction.credits -= 1;
    this.#options.receipts.sent(from, to, message);
    const isStalled = kernel.faultsOn && random.chance(stallRate);
    const takesMs = random.float() * (isStalled ? 1_500 : 4);
    const atMs = Math.max(direction.lastMs, kernel.nowMs + takesMs);
    direction.lastMs = atMs;
    this.#underWay += 1;
    kernel.clock.after(atMs - kernel.nowMs, () => this.#arrive(from, to, direction, message));
    boundary(message.kind === 'links-committed' ? 'receipt-sent' : 'links-sent');
    return true;
  }

  #arrive(from: number, to: number, direction: Direction, message: ShardPeerMessage): void {
    if (this.#isDead) return;
    const { kernel, deliver, credit, boundary, random } = this.#options;
    this.#underWay -= 1;
    kernel.note(`link ${from}>${to} ${message.kind}`);
    deliver(to, message);
    kernel.clock.after(random.float() * 3, () => {
      if (this.#isDead) return;
      direction.credits += 1;
      if (!direction.wasRefused) return;
      direction.wasRefused = false;
      credit(from);
    });
    boundary('links-delivered');
  }
}
