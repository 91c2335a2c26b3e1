// What the forms of `inspect` share: a connection to the crawl's debug socket that
// comes back when the crawl dropped it for being idle, and the way an answer is
// printed.

import type { Writable } from 'node:stream';
import { DebugClient, type FinalLine } from '../ops/debug-client.ts';
import type { Plain } from '../ops/plain-value.ts';
import { textOf } from '../ops/text-form.ts';

/** Where `inspect` reads and writes. */
export interface InspectStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: Writable;
}

/** Exit status of an answer that was refused (DESIGN.md §9): 2 for a mistake in the request, 1 for all else. */
export function exitStatusOf(answer: FinalLine): number {
  if (answer.ok) return 0;
  return answer.code === 'usage' ? 2 : 1;
}

/** See the head of this file. */
export class InspectSession {
  readonly #path: string;
  readonly #streams: InspectStreams;
  readonly #json: boolean;
  #client: DebugClient | undefined;

  constructor(path: string, json: boolean, streams: InspectStreams) {
    this.#path = path;
    this.#json = json;
    this.#streams = streams;
  }

  /**
   * Asks, connecting first where needed.
   * @throws CrawlError usage when no crawl listens, or it ended meanwhile
   */
  async ask(words: readonly string[], told?: (event: Plain) => void): Promise<FinalLine> {
    if (this.#client?.isOpen !== true) this.#client = await DebugClient.connect(this.#path);
    return this.#client.ask(words, told);
  }

  /** Asks and prints: answers to stdout, refusals to stderr. Resolves to the exit status. */
  async run(words: readonly string[]): Promise<number> {
    const { stdout, stderr } = this.#streams;
    const answer = await this.ask(words, (event) => stdout.write(`${this.#written(event)}\n`));
    if (answer.ok) {
      const more = answer.truncated === true && !this.#json ? '\n(truncated)' : '';
      stdout.write(`${this.#written(answer.value)}${more}\n`);
    } else if (this.#json) {
      stdout.write(`${JSON.stringify({ code: answer.code, error: answer.error })}\n`);
    } else {
      stderr.write(`${textOf(`error: ${answer.error}`)}\n`);
    }
    return exitStatusOf(answer);
  }

  close(): void {
    this.#client?.close();
  }

  #written(value: Plain): string {
    return this.#json ? JSON.stringify(value) : textOf(value);
  }
}
