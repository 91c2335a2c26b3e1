// Messages that reached nobody, for the verb `deadletters` and for tests that must see none. The last few are kept as short texts, never
// as the messages themselves (one may be a megabyte); counts by reason and by kind go on for ever. Everything is bounded (invariant I10).
import { Fifo } from '../base/fifo.ts';

/** Why a message reached nobody. */
export type DeadLetterReason =
  /** The mailbox was full. */
  | 'mailbox-full'
  /** The actor had stopped. */
  | 'stopped'
  /** The actor failed while handling it. */
  | 'failed'
  /** No actor, or no room to activate one, under that address. */
  | 'unroutable'
  /** An answer came after its ask had timed out. */
  | 'late-answer'
  /** A link could not encode it, or what arrived was not valid. */
  | 'unencodable';

/** One message that reached nobody. */
export interface DeadLetter {
  /** Path of the actor, or name of the link. */
  readonly to: string;
  /** The message's `kind`. */
  readonly kind: string;
  readonly reason: DeadLetterReason;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** The message's fields, abridged to at most 300 characters. */
  readonly text: string;
}

/** Distinct kinds counted by name; the rest count as `(other)`. */
const KINDS_MAX = 200;

/** A bounded record of dead letters. */
export class DeadLetters {
  readonly #recent: Fifo<DeadLetter>;
  readonly #byReason = new Map<DeadLetterReason, number>();
  readonly #byKind = new Map<string, number>();
  #count = 0;

  /** @param recentMax dead letters kept with their text */
  constructor(recentMax = 256) {
    this.#recent = new Fifo<DeadLetter>(recentMax);
  }

  /** All dead letters so far. */
  get count(): number {
    return this.#count;
  }

  /** Records one. Never throws, whatever the message is. */
  record(letter: {
    readonly to: string;
    readonly message: unknown;
    readonly reason: DeadLetterReason;
    readonly at: number;
  }): void {
    const kind = messageKind(letter.message);
    this.#count += 1;
    this.#byReason.set(letter.reason, (this.#byReason.get(letter.reason) ?? 0) + 1);
    const counted = this.#byKind.has(kind) || this.#byKind.size < KINDS_MAX ? kind : '(other)';
    this.#byKind.set(counted, (this.#byKind.get(counted) ?? 0) + 1);
    if (this.#recent.isFull) this.#recent.shift();
    const { to, reason, at } = letter;
    this.#recent.push({ to, kind, reason, at, text: abridge(letter.message) });
  }

  /** The last dead letters, oldest first. */
  recent(): DeadLetter[] {
    return [...this.#recent];
  }

  countByReason(): ReadonlyMap<DeadLetterReason, number> {
    return this.#byReason;
  }

  countByKind(): ReadonlyMap<string, number> {
    return this.#byKind;
  }
}

/** The `kind` of a message, at most 60 characters; `(none)` when it has none. */
export function messageKind(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return '(none)';
  return typeof message.kind === 'string' ? message.kind.slice(0, 60) : '(none)';
}

/** The own fields of a message as a short text: strings cut, objects and arrays only named. */
export function abridge(message: unknown): string {
  if (typeof message !== 'object' || message === null) return String(message).slice(0, 300);
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(message)) {
    const part = `${name}=${abridgeValue(value)}`;
    parts.push(part);
    length += part.length + 1;
    if (length >= 300) break;
  }
  return parts.join(' ').slice(0, 300);
}

function abridgeValue(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 100);
  if (Array.isArray(value)) return `[${value.length}]`;
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`;
  return typeof value === 'object' && value !== null ? '{…}' : String(value);
}
