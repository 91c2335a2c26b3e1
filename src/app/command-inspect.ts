// `node cluster.js inspect [verb…]`: the client of the debug socket (DESIGN.md §9, §10). One verb
// and its answer; `watch SECONDS verb…` again and again; `top` on a terminal as a live view; a
// prompt when there is no verb.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandInput } from './command.ts';
import { prompt } from './inspect-prompt.ts';
import { InspectSession, type InspectStreams } from './inspect-session.ts';
import { liveTop } from './inspect-top.ts';

/** What the command line said. */
export interface InspectOptions {
  /** Verb and its words; none for the prompt. */
  readonly words: readonly string[];
  /** Path of the socket of the crawl. */
  readonly socketPath: string;
  readonly json: boolean;
  /** Ends a watch or a live view; those of a terminal also end by Ctrl-C. */
  readonly signal?: AbortSignal;
}

/** `node cluster.js inspect [verb…]`, as `main` calls it. */
export function commandInspect({ words, options, config }: CommandInput): Promise<number> {
  const json = options.json === true || config.json;
  return inspect({ words, socketPath: config.debugSocket, json }, process);
}

/** Longest pause of a `watch`, seconds. */
const WATCH_SECONDS_MAX = 3_600;

/**
 * Runs the command. Resolves to its exit status: 0, 1 for what the crawl could not answer, 2 for a mistake in the request.
 * @throws CrawlError usage (exit 2) when no crawl is running there, its socket may not be opened, or it ends meanwhile
 */
export async function inspect(options: InspectOptions, streams: InspectStreams): Promise<number> {
  const { words, socketPath, json } = options;
  const session = new InspectSession(socketPath, json, streams);
  // `inspect tree | head` closes our stdout: nobody reads on, so there is nothing more to say.
  streams.stdout.once('error', () => session.close());
  try {
    if (words.length === 0) return await prompt(session, streams);
    if (words[0] === 'watch') return await watch(session, options, streams);
    if (words[0] === 'top' && words.length <= 2 && !json && streams.stdout.isTTY === true) {
      return await liveTop(session, words[1], streams);
    }
    return await session.run(words);
  } finally {
    session.close();
  }
}

/** Prints the answer every so many seconds; on a terminal each in place of the one before. */
async function watch(
  session: InspectSession,
  { words, json, signal }: InspectOptions,
  streams: InspectStreams,
): Promise<number> {
  const [, text = '', ...verb] = words;
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= WATCH_SECONDS_MAX) || verb.length === 0) {
    streams.stderr.write(
      `error: usage: watch SECONDS VERB… (0.1 to ${WATCH_SECONDS_MAX} seconds)\n`,
    );
    return 2;
  }
  const clear = streams.stdout.isTTY === true && !json ? '\u001b[H\u001b[2J' : '';
  while (signal?.aborted !== true) {
    streams.stdout.write(clear);
    const status = await session.run(verb);
    if (status !== 0) return status;
    if (clear === '' && !json) streams.stdout.write('\n');
    await sleep(seconds * 1_000, undefined, signal === undefined ? {} : { signal }).catch(() => {
      // Aborted: the loop ends.
    });
  }
  return 0;
}
