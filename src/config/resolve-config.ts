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
  const broken = new Set<OptionName>();
  const take = (
    name: OptionName,
    origin: Origin,
    reading: Reading<unknown>,
    place: string,
  ): void => {
    if ('expected' in reading) {
      const code = origin === 'flag' ? 'usage' : 'config';
      const { unit }: AnyOption = OPTIONS[name];
      const text = `${place}: must be ${reading.expected}${unit === undefined ? '' : ` (${unit})`}`;
      problems.push({ code, text });
      broken.add(name);
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
  for (const [key, value] of entriesOf(file)) {
    const name = FILE_NAMES.find((each) => each === key);
    if (name === undefined) {
      problems.push({ code: 'config', text: `${where}: ${problemOfKey(key)}` });
      continue;
    }
    const row: AnyOption = OPTIONS[name];
    const what = row.isSecret === true ? '' : `: ${shown(value)}`;
    take(name, 'file', row.kind.read(value), `${where}: ${name}${what}`);
  }
  const config = complete(values, [...origins.keys()], fileName);
  problems.push(...conflictsOf(config, { origins, broken, fileName: where }));
  throwProblems(problems);
  return config;
}

/** Keys that a config file may have. */
const FILE_NAMES: readonly OptionName[] = OPTION_LIST.filter(
  ([, row]) => row.isFlagOnly !== true,
).map(([name]) => name);

/** What the file sets; a key with the value undefined sets nothing. What is no object has one entry that no option is called by. */
function entriesOf(file: unknown): [string, unknown][] {
  if (file === undefined) return [];
  if (typeof file !== 'object' || file === null || Array.isArray(file)) return [['', file]];
  return Object.entries(file).filter(([, value]) => value !== undefined);
}

/** What is wrong with a key that no option of the file has. */
function problemOfKey(key: string): string {
  if (key === '') return 'must export an object of options: export default defineConfig({ … })';
  const known = OPTION_LIST.find(([name, { flag }]) => name === key || flag === `--${key}`);
  if (known?.[1].isFlagOnly === true) {
    return `${key}: can be set on the command line only (${known[1].flag})`;
  }
  const near = known?.[0] ?? suggest(key, FILE_NAMES);
  return `unknown option ${shown(key)}${near === undefined ? '' : `; did you mean ${near}?`}`;
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
