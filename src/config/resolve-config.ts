// From flags and the object of the config file to a checked, complete configuration. A flag outranks the file. Everything is read before
// anything is complained about, so that all problems are told together. Pure but for the number of processors.

import { conflictsOf } from './conflicts.ts';
import { DERIVED_DEFAULTS } from './derived-defaults.ts';
import type { AnyOption } from './option.ts';
import { type CrawlConfig, OPTION_LIST, OPTIONS, type OptionName } from './options.ts';
import { type Problem, shown, throwProblems } from './problem.ts';
import { suggest } from './suggest.ts';
import type { Reading } from './value-kind.ts';

/** What followed each flag, by the option's name: one text for each time it was given, `''` for a flag without value. */
export type FlagTexts = Readonly<Partial<Record<OptionName, readonly string[]>>>;

/** Where a value came from. */
export type Origin = 'flag' | 'file';

/**
 * Builds the configuration.
 * @param sources.flags texts of the command line; absent: none
 * @param sources.file what the config file exports; absent: no file. May be anything: it is checked
 * @param sources.fileName how the file is called in messages
 * @throws CrawlError `usage` or `config`, with one line for each problem
 */
export function resolveConfig(
  sources: {
    readonly flags?: FlagTexts | undefined;
    readonly file?: unknown;
    readonly fileName?: string | undefined;
  } = {},
): CrawlConfig {
  const { flags = {}, file, fileName } = sources;
  const problems: Problem[] = [];
  const values = new Map<OptionName, unknown>();
  const origins = new Map<OptionName, Origin>();
  const take = (
    name: OptionName,
    origin: Origin,
    reading: Reading<unknown>,
    text: string,
  ): void => {
    if ('expected' in reading) {
      const code = origin === 'flag' ? 'usage' : 'config';
      problems.push({ code, text: `${text}: must be ${reading.expected}` });
    } else if (origins.get(name) !== 'flag') {
      values.set(name, reading.value);
      origins.set(name, origin);
    }
  };
  for (const [name, row] of OPTION_LIST) {
    const texts = flags[name];
    if (texts === undefined) continue;
    take(
      name,
      'flag',
      row.kind.readText(texts),
      `${row.flag ?? name} ${texts.map(shown).join(' ')}`,
    );
  }
  const where = fileName ?? 'the config file';
  for (const [name, value] of entriesOf(file, where, problems)) {
    const row: AnyOption = OPTIONS[name];
    take(name, 'file', row.kind.read(value), `${where}: ${name}: ${shown(value)}`);
  }
  const config = complete(values, [...origins.keys()], fileName);
  problems.push(...conflictsOf(config, origins, where));
  throwProblems(problems);
  return config;
}

/** The known keys of the file's object that have a value. */
function entriesOf(file: unknown, where: string, problems: Problem[]): [OptionName, unknown][] {
  if (file === undefined) return [];
  const complain = (text: string): void => {
    problems.push({ code: 'config', text: `${where}: ${text}` });
  };
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    complain('must export an object of options: export default defineConfig({ … })');
    return [];
  }
  const known: [OptionName, unknown][] = [];
  const names = OPTION_LIST.filter(([, row]) => row.isFlagOnly !== true).map(([name]) => name);
  for (const [key, value] of Object.entries(file)) {
    if (value === undefined) continue;
    const name = names.find((each) => each === key);
    if (name !== undefined) {
      known.push([name, value]);
      continue;
    }
    const byFlag = OPTION_LIST.find(([each, row]) => each === key || row.flag === `--${key}`);
    if (byFlag?.[1].isFlagOnly === true) {
      complain(`${key}: can be set on the command line only (${byFlag[1].flag})`);
      continue;
    }
    const near = byFlag?.[0] ?? suggest(key, names);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    complain(`unknown option ${shown(key)}${hint}`);
  }
  return known;
}

function complete(
  values: ReadonlyMap<OptionName, unknown>,
  explicit: readonly OptionName[],
  configFile: string | undefined,
): CrawlConfig {
  const config: Record<string, unknown> = { explicit, configFile };
  for (const [name, row] of OPTION_LIST) config[name] = values.get(name) ?? row.default;
  for (const [name, derive] of Object.entries(DERIVED_DEFAULTS)) {
    config[name] ??= derive(config as CrawlConfig);
  }
  return config as CrawlConfig;
}
