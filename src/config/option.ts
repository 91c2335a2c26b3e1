// What one row of the table of options is (options.ts). A row has everything that is said about an option anywhere: the type that the
// crawl sees, the flag, the line in `--help`, in docs/CONFIGURATION.md and in cluster.config.ts, the default and how it comes about.

import type { ValueKind } from './value-kind.ts';

/** Headings under which options are listed, in this order. */
export const OPTION_GROUPS = [
  'What to crawl',
  'Freshness',
  'Rendering',
  'Politeness',
  'Identity',
  'Network',
  'Size and speed',
  'Storage',
  'Operation',
  'Cluster',
] as const;

export type OptionGroup = (typeof OPTION_GROUPS)[number];

/** The parts of a row that have no type of their own. */
export interface OptionText {
  readonly group: OptionGroup;
  /** Long spelling, `--min-gap`; absent when it can be set in the config file only. */
  readonly flag?: `--${string}`;
  /** True when the config file may not set it: it belongs to one run. */
  readonly isFlagOnly?: true;
  /** One line: what it does, and the source of its number where there is one. */
  readonly doc: string;
  /** True when a value may be a secret: messages then do not repeat it. */
  readonly isSecret?: true;
  /** A value as cluster.config.ts writes it, for an option without a fixed default. */
  readonly example?: string;
  readonly unit?:
    | 'milliseconds'
    | 'seconds'
    | 'bytes'
    | 'pages'
    | 'percent'
    | 'URLs'
    | 'requests'
    | 'hosts';
}

/** A row of the table. */
export interface Option<Value, Presence extends 'default' | 'optional' | 'derived'>
  extends OptionText {
  readonly kind: ValueKind<Value>;
  /** `default`: has a fixed one · `optional`: may be undefined · `derived`: computed from other options (derived-defaults.ts). */
  readonly presence: Presence;
  /** Undefined unless `presence` is `default`. */
  readonly default: Value | undefined;
  /** How the default is written in texts; empty when it is the value itself. */
  readonly defaultText: string;
}

/** Any row, where its type does not matter. */
export type AnyOption = Option<unknown, 'default' | 'optional' | 'derived'>;

/** A row with a fixed default. */
export function option<Value>(
  kind: ValueKind<Value>,
  fallback: NoInfer<Value>,
  texts: OptionText & { readonly defaultText?: string },
): Option<Value, 'default'> {
  return { defaultText: '', ...texts, kind, presence: 'default', default: fallback };
}

/** A row whose value may be left open. */
export function optional<Value>(
  kind: ValueKind<Value>,
  texts: OptionText & { readonly defaultText: string; readonly example: string },
): Option<Value, 'optional'> {
  return { ...texts, kind, presence: 'optional', default: undefined };
}

/** A row whose default follows from other options. */
export function derived<Value>(
  kind: ValueKind<Value>,
  texts: OptionText & { readonly defaultText: string; readonly example: string },
): Option<Value, 'derived'> {
  return { ...texts, kind, presence: 'derived', default: undefined };
}
