// All verbs of the debug socket, and what `help` says of them. The one place where
// a verb is found by name: server, prompt and completion all ask here, so they
// cannot differ.

import { LOOK_VERBS } from './look-verbs.ts';
import { OPERATE_VERBS } from './operate-verbs.ts';
import { type Refusal, refused } from './operator.ts';
import { type Prepared, prepareVerb, type Verb } from './verb.ts';

/** Verbs by name. */
export const VERBS: ReadonlyMap<string, Verb> = new Map(
  [...LOOK_VERBS, ...OPERATE_VERBS].map((verb) => [verb.name, verb]),
);

/** One line of `help`. */
export interface HelpLine {
  readonly usage: string;
  readonly summary: string;
}

/** What `help` answers: all verbs, or one. */
export function helpLines(name?: string): readonly HelpLine[] | Refusal {
  if (name === undefined)
    return [...VERBS.values()].map(({ usage, summary }) => ({ usage, summary }));
  const verb = VERBS.get(name);
  if (verb === undefined) return noSuchVerb(name);
  return [{ usage: verb.usage, summary: verb.summary }];
}

/** Reads a verb with its words. Never throws. */
export function prepare(name: string, args: readonly string[]): Prepared | Refusal {
  const verb = VERBS.get(name);
  return verb === undefined ? noSuchVerb(name) : prepareVerb(verb, args);
}

/** What may follow the words typed so far, for the prompt: whole words that start with the last one. */
export function completionsOf(words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  const verb = VERBS.get(words[0] ?? '');
  let candidates: readonly string[] = [];
  if (words.length <= 1) candidates = [...VERBS.keys(), 'help', 'watch', 'quit'];
  else if (words[0] === 'help') candidates = [...VERBS.keys()];
  else if (last.startsWith('--')) {
    candidates = Object.keys(verb?.options ?? {}).map((name) => `--${name}`);
  } else if (words.length === 2) candidates = verb?.completions ?? [];
  return candidates.filter((candidate) => candidate.startsWith(last));
}

function noSuchVerb(name: string): Refusal {
  const text = name.slice(0, 40);
  return refused('usage', `there is no verb ${text}; help lists them`);
}
