// What follows when an actor throws: a pure decision. The actor restarts after a pause that doubles with each restart in the window; an
// actor that keeps failing is given up, and its failure goes to its parent (as if that had thrown) or only to the dispatcher's callback.
// The message it failed on is never retried: it is recorded as a dead letter, since what broke an actor once would break it again.
import { assert } from '../base/assert.ts';
import type { Random } from '../base/random.ts';

/** How failures of an actor are answered. */
export interface SupervisionPolicy {
  /** Restarts allowed within the window; one failure more gives up. 0 gives up at once. At most 1000. */
  readonly restartsMax: number;
  /** Length of the window in milliseconds. */
  readonly windowMs: number;
  /** Pause before the first restart; doubled for each further one in the window. */
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** After giving up: `stop` ends this actor alone, `parent` fails its parent too. */
  readonly escalation: 'stop' | 'parent';
}

/** Five restarts a minute, 100 ms to 30 s apart, and then this actor alone stops. */
export const SUPERVISION_DEFAULT: SupervisionPolicy = {
  restartsMax: 5,
  windowMs: 60_000,
  backoffMinMs: 100,
  backoffMaxMs: 30_000,
  escalation: 'stop',
};

/** What to do about a failure. */
export type SupervisionDecision =
  | { readonly kind: 'restart'; readonly delayMs: number }
  | { readonly kind: 'give-up' };

/** A failure of an actor, as recorded. */
export interface ActorFailure {
  /** Path of the actor. */
  readonly actor: string;
  /** Kind of the message it failed on; `(start)` for its factory, `(child)` for an escalated failure. */
  readonly messageKind: string;
  /** The error's text, at most 500 characters. */
  readonly error: string;
  /** The error's stack, at most 2000 characters. */
  readonly stack: string;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/**
 * Decides about a failure now, and notes the restart in `restartTimes`.
 * @param restartTimes monotonic times of earlier restarts, oldest first; kept to at most `restartsMax`
 * @param random spreads the pause over 50–100 % of its length, so that actors that failed together do not return together
 */
export function superviseFailure(
  policy: SupervisionPolicy,
  restartTimes: number[],
  now: number,
  random: Random,
): SupervisionDecision {
  assert(policy.restartsMax <= 1000, () => `restartsMax ${policy.restartsMax} is over 1000`);
  while (restartTimes.length > 0 && (restartTimes[0] as number) <= now - policy.windowMs) {
    restartTimes.shift();
  }
  if (restartTimes.length >= policy.restartsMax) return { kind: 'give-up' };
  const doublings = Math.min(restartTimes.length, 40);
  const pause = Math.min(policy.backoffMaxMs, policy.backoffMinMs * 2 ** doublings);
  restartTimes.push(now);
  assert(restartTimes.length <= policy.restartsMax, () => 'more restarts than the policy allows');
  return { kind: 'restart', delayMs: pause * (0.5 + random.float() / 2) };
}

/** Describes whatever was thrown, within bounds and without throwing itself. */
export function describeFailure(
  thrown: unknown,
  where: { readonly actor: string; readonly messageKind: string; readonly at: number },
): ActorFailure {
  const isError = thrown instanceof Error;
  const error = isError ? `${thrown.name}: ${thrown.message}` : `thrown ${typeof thrown}`;
  const stack = isError && typeof thrown.stack === 'string' ? thrown.stack : '';
  return { ...where, error: error.slice(0, 500), stack: stack.slice(0, 2000) };
}
