// What a verb of the debug socket is: a name, how it is written, and a function that reads its
// words into something to be asked of the Operator. Reading words never throws: a mistake is a
// refusal that says how the verb is written.

import { parseArgs } from 'node:util';
import type { Operation } from './operation.ts';
import {
  type Answer,
  type AskLimits,
  type Operator,
  type Refusal,
  refused,
  type TraceBounds,
} from './operator.ts';

/** A request that was read and found right. */
export type Prepared =
  | {
      readonly kind: 'ask';
      readonly ask: (operator: Operator, limits: AskLimits) => Promise<Answer<unknown>>;
      /** Rows wanted; the default when undefined. */
      readonly rows?: number;
      /** Time the question takes by its nature, beyond the deadline; 0 when undefined. */
      readonly takesMs?: number;
    }
  | { readonly kind: 'operate'; readonly operation: Operation }
  | {
      readonly kind: 'trace';
      readonly actor: string;
      readonly bounds: Omit<TraceBounds, 'signal'>;
    };

/** The words after a verb, taken apart. */
export interface VerbWords {
  readonly names: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** One verb. */
export interface Verb {
  readonly name: string;
  /** As in `top mailbox|busy|mem|wait [ROWS]`. */
  readonly usage: string;
  readonly summary: string;
  /** `operate` verbs change the crawl and are audited. */
  readonly group: 'look' | 'operate';
  /** Options it takes, without dashes. */
  readonly options?: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;
  /** Least and most words after the verb. */
  readonly words: readonly [number, number];
  /** First words worth completing. */
  readonly completions?: readonly string[];
  readonly prepare: (words: VerbWords) => Prepared | Refusal;
}

/** Reads the words of a verb. Never throws. */
export function prepareVerb(verb: Verb, args: readonly string[]): Prepared | Refusal {
  let words: VerbWords;
  try {
    const parsed = parseArgs({
      args: [...args],
      options: { ...verb.options },
      allowPositionals: true,
      strict: true,
    });
    words = { names: parsed.positionals, options: { ...parsed.values } };
  } catch (thrown) {
    // parseArgs tells of unknown and incomplete options by throwing; its sentence is fit for the operator.
    return misused(verb, thrown instanceof Error ? thrown.message : String(thrown));
  }
  const [least, most] = verb.words;
  if (words.names.length < least) return misused(verb, 'something is missing');
  if (words.names.length > most) return misused(verb, 'too many words');
  const prepared = verb.prepare(words);
  if (prepared.kind === 'refused') return misused(verb, prepared.reason);
  return prepared;
}

/** A question whose answer is what `ask` returns. */
export function question(
  ask: (operator: Operator, limits: AskLimits) => Promise<Answer<unknown>>,
  more: { readonly rows?: number; readonly takesMs?: number } = {},
): Prepared {
  return { kind: 'ask', ask, ...more };
}

/** A whole number within bounds, or why the text is none. */
export function wholeNumber(
  text: string | boolean | undefined,
  bounds: { readonly name: string; readonly least: number; readonly most: number },
): number | Refusal {
  const { name, least, most } = bounds;
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least && value <= most) return value;
  return refused('usage', `${name} must be a whole number from ${least} to ${most}`);
}

function misused(verb: Verb, why: string): Refusal {
  return refused('usage', `${why.replace(/[.\s]+$/, '')} — usage: ${verb.usage}`);
}
