// The file of domains whose owners asked to be left alone (config `optOutFile`; DESIGN.md §4, step 5): one domain a line, # starts a comment.
// It belongs to the operator, not to a crawl, so it outlives crawls. A line that is no domain is reported and passed over: the others
// must hold all the same.

import { readFileSync } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import { DOMAIN } from '../config/text-kinds.ts';

/** What a file says. */
export interface OptOutText {
  readonly domains: readonly string[];
  /** Lines that are no domain, as `line 3: "…"`; at most PROBLEMS_MAX of them. */
  readonly problems: readonly string[];
}

const PROBLEMS_MAX = 20;

/** Reads the text of a file. Never throws. `http://example.com/` counts as its host, since that is what people paste. */
export function parseOptOut(text: string): OptOutText {
  const domains: string[] = [];
  const problems: string[] = [];
  for (const [at, line] of text.split(/\r\n|\r|\n/).entries()) {
    const word = line
      .replace(/^\uFEFF/, '')
      .replace(/#.*$/, '')
      .trim();
    if (word === '') continue;
    const name = word
      .replace(/^https?:\/\//i, '')
      .replace(/\/.*$/, '')
      .replace(/^\*\./, '');
    const reading = DOMAIN.read(name.toLowerCase());
    if ('value' in reading) domains.push(reading.value);
    else if (problems.length < PROBLEMS_MAX) {
      problems.push(`line ${at + 1}: "${word.slice(0, 80)}" is not ${reading.expected}`);
    }
  }
  return { domains, problems };
}

/** Reads the file. @throws CrawlError config when it cannot be read */
export function readOptOutFile(path: string): OptOutText {
  try {
    return parseOptOut(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new CrawlError('config', `optOutFile: ${path} cannot be read: ${String(cause)}`, {
      remedy: 'Create it (it may be empty), or leave optOutFile out.',
      cause,
    });
  }
}
