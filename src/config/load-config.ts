// Loads the configuration of a run: the config file by jiti, so that it may be TypeScript and needs no build, then flags over it
// (DESIGN.md §9). ./cluster.config.ts is read when it exists; a file named with --config must exist. The file is the operator's own code.

import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from './options.ts';
import { type FlagTexts, resolveConfig } from './resolve-config.ts';

/** Read when no other is named. */
export const CONFIG_FILE_DEFAULT = 'cluster.config.ts';

/**
 * Loads, checks and completes a configuration.
 * @param sources.flags what the command line set
 * @param sources.configPath the file of --config; undefined: the default one, when it exists
 * @throws CrawlError `usage` or `config`: one line for each problem
 */
export async function loadConfig(
  sources: {
    readonly flags?: FlagTexts | undefined;
    readonly configPath?: string | undefined;
  } = {},
): Promise<CrawlConfig> {
  const fileName = sources.configPath ?? CONFIG_FILE_DEFAULT;
  const isThere = await isReadable(fileName, sources.configPath !== undefined);
  const config = isThere
    ? resolveConfig({ flags: sources.flags, file: await loadFile(fileName), fileName })
    : resolveConfig({ flags: sources.flags });
  await checkFile('--ca', config.caFile);
  return config;
}

/** Whether the file can be read; only a file that nobody asked for may be absent. */
async function isReadable(fileName: string, isRequired: boolean): Promise<boolean> {
  try {
    await access(fileName, constants.R_OK);
    return true;
  } catch (error) {
    if (!isRequired && (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    const flag = isRequired ? '--config ' : '';
    throw new CrawlError('config', `${flag}${fileName}: ${reasonOf(error)}`, {
      remedy: 'Name a readable file of options, or leave --config out.',
      cause: error,
    });
  }
}

async function loadFile(fileName: string): Promise<unknown> {
  // An operator's file may lie anywhere; it finds the typed helper under the package's name all the same.
  const helper = fileURLToPath(new URL('./define-config.js', import.meta.url));
  try {
    const jiti = createJiti(import.meta.url, {
      alias: { 'hostler/config': helper },
      // Read anew when it is reloaded.
      moduleCache: false,
      // jiti keeps what it compiled in a file that others may read; a file with secrets is compiled each time.
      fsCache: !mayHoldSecrets(await readFile(fileName, 'utf8')),
    });
    const loaded: unknown = await jiti.import(resolve(fileName));
    return defaultOf(loaded, fileName);
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    throw new CrawlError('config', `${fileName}: cannot be loaded: ${reasonOf(error)}`, {
      remedy: 'It is TypeScript or JavaScript that exports its options by default.',
      cause: error,
    });
  }
}

/** Settings of hosts that are secret (request-setting-kinds.ts), outside of comments. */
function mayHoldSecrets(source: string): boolean {
  return source
    .split('\n')
    .some((line) => !/^\s*\/\//.test(line) && /\b(?:headers|login|cookies)\b/.test(line));
}

function defaultOf(loaded: unknown, fileName: string): unknown {
  if (typeof loaded === 'object' && loaded !== null && 'default' in loaded) return loaded.default;
  throw new CrawlError('config', `${fileName}: exports no options`, {
    remedy: 'Write export default defineConfig({ … }).',
  });
}

/** A file that an option names must be readable now, not when the first page needs it. */
async function checkFile(flag: string, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    throw new CrawlError('config', `${flag} ${path}: ${reasonOf(error)}`, {
      remedy: 'Name a readable PEM file.',
      cause: error,
    });
  }
}

/** The first line of what went wrong, in words where the system has only a code. */
function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
      return 'it may not be read';
    default:
      return String(error instanceof Error ? error.message : error)
        .split('\n', 1)[0]!
        .slice(0, 300);
  }
}
