// Seeds, the start of every URL's life (DESIGN.md §1): from the command line, or from a file or standard input with one URL a line. Files may
// have millions of lines and are streamed. A line without a scheme is read as people mean it: `example.com/a` is https, and localhost
// and IP addresses, which have no certificates, are http. Bad lines are told with their number and the others used.

import { createReadStream } from 'node:fs';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { CrawlError } from '../base/errors.ts';
import { LineSplitter } from '../base/line-splitter.ts';
import { canonicalize, type RejectionReason } from '../domain/canonical-url.ts';
import { resolveDocument } from '../domain/resolve-url.ts';

/** A seed as it will be requested, or why it is none (continues "is"). */
export type Seed = { readonly url: string } | { readonly problem: string };

/** Lines of a seeds file, counted. */
export interface SeedCounts {
  readonly good: number;
  readonly bad: number;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A host, perhaps a port, and the rest: what an address bar takes for an address and not for a search. */
const WITHOUT_SCHEME = /^(\[[0-9a-f:.]+\]|[^\s/?#:@[\]\\]+)(?::\d{1,5})?(?=[/?#]|$)/i;

const PROBLEMS: Readonly<Record<RejectionReason, string>> = {
  'not-http': 'not an http or https URL',
  invalid: 'not a URL',
  'too-long': 'too long for a URL',
  'host-too-long': 'not a URL: its host name is too long',
};

/**
 * Reads one seed.
 * @param text as typed; surrounding spaces are dropped
 * @returns the URL in its own spelling, absolute, without fragment. Never throws.
 */
export function readSeed(text: string): Seed {
  const url = withScheme(text.trim());
  if (url === undefined) return { problem: PROBLEMS.invalid };
  const canonical = canonicalize(url);
  if (canonical.kind === 'rejected') return { problem: PROBLEMS[canonical.reason] };
  return { url: resolveDocument(url, undefined) ?? canonical.canonical };
}

function withScheme(text: string): string | undefined {
  if (SCHEME.test(text)) return text;
  if (text.startsWith('//')) return `https:${text}`;
  const host = WITHOUT_SCHEME.exec(text)?.[1];
  // `mailto:a@b` and `data:…` have a scheme of another kind: the URL parser says so.
  if (host === undefined) return /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : undefined;
  if (/^(?:.+\.)?localhost\.?$/i.test(host) || isIP(host) !== 0 || host.startsWith('[')) {
    return `http://${text}`;
  }
  // One word is a mistyped command or a file name sooner than a host.
  return /[^.]\.[^.]/.test(host) ? `https://${text}` : undefined;
}

/**
 * The seeds of a run: those of the command line, then those of the file.
 * @param given absolute URLs
 * @param file of --seeds; undefined when there is none
 * @param report takes each line for the operator; by default standard error
 * @throws CrawlError `seeds`, as streamSeeds
 */
export async function readSeeds(
  given: readonly string[],
  file: string | undefined,
  report: (text: string) => void = reportError,
): Promise<string[]> {
  const seeds = [...given];
  if (file === undefined) return seeds;
  for await (const batch of streamSeeds(file, { report })) {
    for (const seed of batch) seeds.push(seed);
  }
  return seeds;
}

function reportError(text: string): void {
  process.stderr.write(`hostler: ${text}\n`);
}

/** Bad lines told one by one. */
const REPORTED_MAX = 10;
/** Longer than any URL that is accepted, in any encoding. */
const LINE_BYTES_MAX = 65_536;

/**
 * Streams the seeds of a file, in batches of the file's own order. Empty lines and comments (`#` at the start or after a space) are
 * nothing; a byte order mark and CRLF are taken off.
 * @param file a path, or `-` for `options.stdin`
 * @param options.report takes each line for the operator: at most eleven, without line end
 * @returns (at the end) how many lines were good and bad
 * @throws CrawlError `seeds` when the file cannot be read, or at its end when no line was good
 */
export async function* streamSeeds(
  file: string,
  options: { readonly report: (text: string) => void; readonly stdin?: Readable },
): AsyncGenerator<readonly string[], SeedCounts> {
  const name = file === '-' ? 'standard input' : file;
  const lines = new SeedLines(name, options.report);
  const input: Readable = file === '-' ? (options.stdin ?? process.stdin) : createReadStream(file);
  const splitter = new LineSplitter(LINE_BYTES_MAX);
  try {
    for await (const chunk of input) {
      const batch = lines.read(splitter.push(chunk as Buffer));
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
  const rest = lines.read(splitter.finish());
  if (rest.length > 0) yield rest;
  return lines.end();
}

/** Counts and reports while lines go by. */
class SeedLines {
  readonly #name: string;
  readonly #report: (text: string) => void;
  #line = 0;
  #good = 0;
  #bad = 0;

  constructor(name: string, report: (text: string) => void) {
    this.#name = name;
    this.#report = report;
  }

  read(lines: Iterable<{ readonly text: string } | { readonly tooLong: true }>): string[] {
    const urls: string[] = [];
    for (const line of lines) {
      this.#line += 1;
      const text = 'text' in line ? withoutComment(line.text, this.#line) : undefined;
      if (text === '') continue;
      const seed = text === undefined ? { problem: PROBLEMS['too-long'] } : readSeed(text);
      if ('url' in seed) urls.push(seed.url);
      else this.#complain(text ?? '', seed.problem);
    }
    this.#good += urls.length;
    return urls;
  }

  end(): SeedCounts {
    if (this.#bad > REPORTED_MAX) {
      this.#report(`${this.#name}: ${this.#bad} bad lines in all, the first ${REPORTED_MAX} shown`);
    }
    if (this.#good === 0) {
      const found = this.#bad === 0 ? 'no seed' : `no good seed among ${this.#bad} lines`;
      throw new CrawlError('seeds', `${this.#name}: ${found}`, {
        remedy: 'Give it one http(s) URL a line.',
      });
    }
    return { good: this.#good, bad: this.#bad };
  }

  #complain(text: string, problem: string): void {
    this.#bad += 1;
    if (this.#bad > REPORTED_MAX) return;
    const short = text.length > 100 ? `${text.slice(0, 97)}...` : text;
    this.#report(`${this.#name}:${this.#line}: ${JSON.stringify(short)} is ${problem}; skipped`);
  }
}

function withoutComment(text: string, line: number): string {
  const plain = line === 1 && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const comment = plain.search(/(?:^|\s)#/);
  return (comment === -1 ? plain : plain.slice(0, comment)).trim();
}

function unreadable(name: string, error: unknown): CrawlError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'ENOENT' ? 'there is no such file' : message;
  return new CrawlError('seeds', `--seeds ${name}: ${why}`, {
    remedy: 'Name a readable file, or - for standard input.',
    cause: error,
  });
}
