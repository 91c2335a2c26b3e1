// What is wrong with a configuration: every problem is one line that says where and what; they are gathered, so that an operator meets all of
// them at once, and thrown as one CrawlError (exit 2).

import { CrawlError } from '../base/errors.ts';

/** One thing that is wrong. */
export interface Problem {
  /** `usage`: on the command line · `config`: in the config file. */
  readonly code: 'usage' | 'config';
  /** Where and what, without a final stop: `--min-gap fast: must be an integer from 0 to 3600000`. */
  readonly text: string;
}

/** Problems shown; the rest is counted. */
const SHOWN_MAX = 20;

/**
 * Ends with all problems in one error; returns when there are none.
 * @throws CrawlError `usage` when all are on the command line, else `config`; one line a problem
 */
export function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const isUsage = problems.every(({ code }) => code === 'usage');
  const lines = problems.slice(0, SHOWN_MAX).map(({ text }) => text);
  if (problems.length > SHOWN_MAX) lines.push(`and ${problems.length - SHOWN_MAX} more problems`);
  throw new CrawlError(isUsage ? 'usage' : 'config', lines.join('\n'), {
    remedy: isUsage
      ? 'See node cluster.js --help.'
      : 'docs/CONFIGURATION.md lists every option with its bounds.',
  });
}

/** Characters of a value that are shown. */
const SHOWN_CHARS_MAX = 80;

/** A value as it is shown in a problem: one line, quoted when it is text, not much over 80 characters. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  try {
    return cut(JSON.stringify(value) ?? String(value));
  } catch {
    return typeof value;
  }
}

function cut(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX - 3)}...` : text;
}
