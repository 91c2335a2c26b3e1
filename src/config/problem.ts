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

/** A value as it is shown in a problem: one line, at most 80 characters. Never throws. */
export function shown(value: unknown): string {
  let text: string;
  try {
    text =
      typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    text = typeof value;
  }
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
