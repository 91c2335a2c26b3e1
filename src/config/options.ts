// The one table of options: flags, `--help`, cluster.config.ts, docs/CONFIGURATION.md, the checks and the type `CrawlConfig` all come from it
// (DESIGN.md §2, §9). A new option is a new row here and nothing else. The rows stand in three files, by subject.

import {
  FRESHNESS_OPTIONS,
  IDENTITY_OPTIONS,
  POLITENESS_OPTIONS,
  SCOPE_OPTIONS,
} from './crawl-options.ts';
import {
  NETWORK_OPTIONS,
  OPERATION_OPTIONS,
  SIZE_OPTIONS,
  STORAGE_OPTIONS,
} from './machine-options.ts';
import type { AnyOption, Option } from './option.ts';
import { RENDER_OPTIONS } from './render-options.ts';

/** All options by name. The name is the key in the config file. */
export const OPTIONS = {
  ...SCOPE_OPTIONS,
  ...FRESHNESS_OPTIONS,
  ...RENDER_OPTIONS,
  ...POLITENESS_OPTIONS,
  ...IDENTITY_OPTIONS,
  ...NETWORK_OPTIONS,
  ...SIZE_OPTIONS,
  ...STORAGE_OPTIONS,
  ...OPERATION_OPTIONS,
} as const;

export type Options = typeof OPTIONS;
export type OptionName = keyof Options;

/** The value an option has once defaults are filled in. */
export type OptionValue<Row> =
  Row extends Option<infer Value, infer Presence>
    ? 'optional' extends Presence
      ? Value | undefined
      : Value
    : never;

/** Options whose default follows from other options. */
export type DerivedName = {
  [Name in OptionName]: Options[Name]['presence'] extends 'derived' ? Name : never;
}[OptionName];

/** A crawl's configuration: checked, complete, and plain data (it is sent to threads). */
export type CrawlConfig = {
  readonly [Name in OptionName]: OptionValue<Options[Name]>;
} & {
  /** Options that a flag or the config file set; the others have their defaults. */
  readonly explicit: readonly OptionName[];
  /** The config file that was read; undefined when there was none. */
  readonly configFile: string | undefined;
};

/** What the config file may hold: every option by its name, all optional. */
export type CrawlConfigInput = {
  readonly [Name in OptionName as Options[Name] extends { readonly isFlagOnly: true }
    ? never
    : Name]?: OptionValue<Options[Name]> | undefined;
};

/** The rows in their order, with their names. */
export const OPTION_LIST: readonly (readonly [OptionName, AnyOption])[] = Object.entries(
  OPTIONS,
) as unknown as readonly (readonly [OptionName, AnyOption])[];
