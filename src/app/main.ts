// The entry of the command line: takes the arguments apart, loads the configuration and the one command that was asked for, and turns whatever
// goes wrong into a line for the operator and an exit status (DESIGN.md §9). Standard output has answers only.

import { CrawlError } from '../base/errors.ts';
import { loadConfig } from '../config/load-config.ts';
import { resolveConfig } from '../config/resolve-config.ts';
import { suggest } from '../config/suggest.ts';
import { type ParsedArguments, parseArguments } from './arguments.ts';
import type { Command, CrawlCommand } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { readSeed } from './seeds.ts';

const STATUS_BUG = 70;

/**
 * Runs one command line.
 * @param argv without the program and the script
 * @returns the exit status. Never throws.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  try {
    return await run(parseArguments(argv));
  } catch (error) {
    process.stderr.write(errorText(error));
    return error instanceof CrawlError ? error.exitStatus : STATUS_BUG;
  }
}

async function run(parsed: ParsedArguments): Promise<number> {
  switch (parsed.kind) {
    case 'text':
      process.stdout.write(parsed.text);
      return 0;
    case 'crawl': {
      const seeds = seedsOf(parsed.words);
      const config = await loadConfig(parsed);
      const crawl = await loadFunction<CrawlCommand>('crawl');
      return crawl(config, seeds, () => loadConfig(parsed));
    }
    case 'command': {
      const { entry, words, options, flags } = parsed;
      const config = entry.readsConfigFile ? await loadConfig(parsed) : resolveConfig({ flags });
      const command = await loadFunction<Command>(entry.name);
      return command({ words, options, config });
    }
  }
}

/**
 * The seeds among the arguments, as absolute URLs.
 * @throws CrawlError `usage` naming each that is none
 */
function seedsOf(words: readonly string[]): string[] {
  const problems: string[] = [];
  const urls = words.flatMap((word) => {
    const seed = readSeed(word);
    if ('url' in seed) return [seed.url];
    const isWord = /^[a-z]+$/i.test(word);
    const near = isWord
      ? suggest(
          word,
          COMMANDS.map(({ name }) => name),
        )
      : undefined;
    const hint = near === undefined ? '' : `; did you mean the command ${near}?`;
    problems.push(`seed ${JSON.stringify(word.slice(0, 200))} is ${seed.problem}${hint}`);
    return [];
  });
  if (problems.length === 0) return urls;
  throw new CrawlError('usage', problems.join('\n'), {
    remedy: 'Seeds are http or https URLs, such as https://example.com/.',
  });
}

/** Loads `commandName` of `command-NAME`, and nothing of the other commands. */
async function loadFunction<Function>(name: string): Promise<Function> {
  const file = new URL(`./command-${name}.js`, import.meta.url);
  const loaded: Readonly<Record<string, unknown>> = await import(file.href);
  return loaded[`command${name.charAt(0).toUpperCase()}${name.slice(1)}`] as Function;
}

/** What the operator reads. */
function errorText(error: unknown): string {
  if (error instanceof CrawlError && error.exitStatus !== STATUS_BUG) {
    const lines = error.message.split('\n').map((line) => `hostler: ${line}\n`);
    return `${lines.join('')}${error.remedy === '' ? '' : `${error.remedy}\n`}`;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const what = error instanceof Error ? error.message : String(error);
  const request = 'This is a bug of ours: please report it with the lines below.';
  return `hostler: unexpected error: ${what}\n${request}\n${stack}\n`;
}
