// The command line, by commander, made from the table of options and the list of commands (DESIGN.md §9). It only takes the line apart: values
// are checked together with the config file (config/resolve-config.ts). Whatever is wrong becomes a CrawlError `usage`; what commander
// would print itself (help, version) is handed back as text.

import { Command, CommanderError, Option } from 'commander';
import { CrawlError } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { type AnyOption, OPTION_GROUPS } from '../config/option.ts';
import { OPTION_LIST, type OptionName } from '../config/options.ts';
import type { FlagTexts } from '../config/resolve-config.ts';
import { COMMANDS, type CommandEntry } from './command-list.ts';
import { HELP_AFTER, HELP_BEFORE } from './help-text.ts';

/** A command line, taken apart. */
export type ParsedArguments =
  /** Help or the version, for standard output. */
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'crawl';
      readonly words: readonly string[];
      readonly flags: FlagTexts;
      readonly configPath: string | undefined;
    }
  | {
      readonly kind: 'command';
      readonly entry: CommandEntry;
      readonly words: readonly string[];
      readonly options: Readonly<Record<string, string | true>>;
      readonly flags: FlagTexts;
      readonly configPath: string | undefined;
    };

type Values = Readonly<Record<string, readonly string[] | undefined>>;

/** Columns of help: wide enough for its longest flags beside a readable text, and the same in a pipe. */
const HELP_COLUMNS = 110;
const CONFIG_FLAG = '--config';
const CONFIG_DOC = 'File of options (default ./cluster.config.ts, when there is one).';
/** Gathers what followed an option each time it was given; '' where it takes no value. */
const gather = (value: string | undefined, before: readonly string[] | undefined) => [
  ...(before ?? []),
  value ?? '',
];

/** Attribute name of each option of the table that has a flag. */
const ATTRIBUTES: ReadonlyMap<string, OptionName> = new Map(
  OPTION_LIST.flatMap(([name, { flag }]) =>
    flag === undefined ? [] : [[attributeOf(flag), name] as const],
  ),
);

/**
 * Takes a command line apart.
 * @param argv without the program and the script
 * @throws CrawlError `usage` for an unknown option, a missing value, a word too many
 */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  let printed = '';
  let parsed: ParsedArguments | undefined;
  const program = crawlProgram((words, values) => {
    const { flags, configPath } = sorted(values, undefined);
    parsed = { kind: 'crawl', words, flags, configPath };
  });
  for (const entry of COMMANDS) {
    addCommand(program, entry, (words, values) => {
      const before = sorted(valuesOf(program), entry);
      refuseOptions(before.options, entry);
      const own = sorted(values, entry);
      const configPath = own.configPath ?? before.configPath;
      const flags = { ...before.flags, ...own.flags };
      parsed = { kind: 'command', entry, words, options: own.options, flags, configPath };
    });
  }
  for (const each of [program, ...program.commands]) {
    each.exitOverride();
    each.configureOutput({
      writeOut: (text) => {
        printed += text;
      },
      writeErr: () => undefined,
      getOutHelpWidth: () => HELP_COLUMNS,
    });
  }
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'text', text: printed };
    throw usageError(error);
  }
  // Every line that commander accepts reaches one of the actions above.
  if (parsed === undefined) throw new CrawlError('usage', 'nothing to do');
  return parsed;
}

type Action = (words: readonly string[], values: Values) => void;

function crawlProgram(action: Action): Command {
  const program = new Command('node cluster.js')
    .description(HELP_BEFORE)
    .usage('[options] [seed-url...]\n       node cluster.js <command> [options]')
    .argument('[seed-url...]', 'where to start; without a scheme https is meant')
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'Print this, or the help of a command.')
    .version(VERSION, '-V, --version', 'Print the version.')
    .addHelpText('after', HELP_AFTER)
    .action((words: string[]) => action(words, valuesOf(program)));
  for (const group of OPTION_GROUPS) {
    for (const [, row] of OPTION_LIST) {
      if (row.group === group && row.flag !== undefined) {
        program.addOption(tableOption(row).helpGroup(`${group}:`));
      }
    }
  }
  program.addOption(repeatable(`${CONFIG_FLAG} <FILE>`, CONFIG_DOC).helpGroup('Operation:'));
  return program;
}

function addCommand(program: Command, entry: CommandEntry, action: Action): void {
  const command = program
    .command(`${entry.name}${entry.words === '' ? '' : ` ${entry.words}`}`)
    .description(entry.doc)
    .helpOption('-h, --help', 'Print this.')
    .action(() => action(command.args, valuesOf(command)));
  for (const [name, row] of OPTION_LIST) {
    if (!entry.configOptions.includes(name)) continue;
    // The crawl's last line is one thing, a command's whole answer another.
    command.addOption(tableOption(name === 'json' ? { ...row, doc: 'Answer in JSON.' } : row));
  }
  for (const { flag, placeholder, doc } of entry.ownOptions) {
    command.addOption(repeatable(placeholder === '' ? flag : `${flag} <${placeholder}>`, doc));
  }
  if (entry.readsConfigFile) command.addOption(repeatable(`${CONFIG_FLAG} <FILE>`, CONFIG_DOC));
  if (entry.passesOptions === true) command.allowUnknownOption();
}

function tableOption(row: AnyOption): Option {
  const { flag, kind, doc } = row;
  const flags = kind.placeholder === '' ? `${flag}` : `${flag} <${kind.placeholder}>`;
  const fallback = defaultText(row);
  return repeatable(flags, fallback === '' ? doc : `${doc} Default: ${fallback}.`);
}

function repeatable(flags: string, doc: string): Option {
  return new Option(flags, doc).argParser(gather);
}

/** The default as it is written in help; empty where there is none worth a word. */
function defaultText(row: AnyOption): string {
  if (row.defaultText !== '') return row.defaultText === 'none' ? '' : row.defaultText;
  const isSilent = row.default === false || Array.isArray(row.default);
  return isSilent ? '' : String(row.default);
}

/** What was given, by attribute name. */
function valuesOf(command: Command): Values {
  return command.opts<Values>();
}

/**
 * Sorts what was given into options of the table and a command's own, which may be spelt the same: `audit --min-gap` is its own.
 * @param entry undefined for the crawl, which takes the whole table
 */
function sorted(
  values: Values,
  entry: CommandEntry | undefined,
): {
  readonly flags: FlagTexts;
  readonly options: Readonly<Record<string, string | true>>;
  readonly configPath: string | undefined;
} {
  const flags: Partial<Record<OptionName, readonly string[]>> = {};
  const options: Record<string, string | true> = {};
  let configPath: string | undefined;
  for (const [attribute, texts] of Object.entries(values)) {
    if (texts === undefined) continue;
    const last = texts.at(-1) ?? '';
    const name = ATTRIBUTES.get(attribute);
    const isTaken =
      entry === undefined || (name !== undefined && entry.configOptions.includes(name));
    if (attribute === attributeOf(CONFIG_FLAG)) configPath = last;
    else if (name !== undefined && isTaken) flags[name] = texts;
    else options[attribute] = last === '' ? true : last;
  }
  return { flags, options, configPath };
}

/** Options that stood before a command and that it does not take would be lost without a word. */
function refuseOptions(options: Readonly<Record<string, unknown>>, entry: CommandEntry): void {
  const [attribute] = Object.keys(options);
  if (attribute === undefined) return;
  const flag = flagOf(attribute);
  const isOwn = entry.ownOptions.some((own) => own.flag === flag);
  const what = isOwn
    ? `${flag} of ${entry.name} must follow it`
    : `${flag} is no option of ${entry.name}`;
  throw new CrawlError('usage', what, {
    remedy: `See node cluster.js ${entry.name} --help.`,
  });
}

/** `--min-gap` → `minGap`, as commander names it. */
function attributeOf(flag: string): string {
  return flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function flagOf(attribute: string): string {
  return `--${attribute.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `error: unknown option '--max-page'\n(Did you mean --max-pages?)` in one line. */
function usageError(error: CommanderError): CrawlError {
  const [what = '', hint = ''] = error.message.split('\n');
  const suggestion = /^\(Did you mean (.*)\?\)$/.exec(hint)?.[1];
  const text = what.replace(/^error: /, '').replaceAll("'", '');
  return new CrawlError(
    'usage',
    suggestion === undefined ? text : `${text}; did you mean ${suggestion}?`,
    { remedy: 'See node cluster.js --help.' },
  );
}
