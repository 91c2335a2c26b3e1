// The prompt of `inspect`: history and completion by readline, one verb a line. Without a terminal
// it reads verbs from a pipe, so a session can be scripted; the exit status is then that of the
// last verb that failed.

import { createInterface, type Interface } from 'node:readline';
import { CrawlError } from '../base/errors.ts';
import { splitWords } from '../ops/split-words.ts';
import { completionsOf } from '../ops/verb-table.ts';
import type { InspectSession, InspectStreams } from './inspect-session.ts';

const HISTORY_MAX = 500;
const LEAVING = new Set(['quit', 'exit', 'q']);

/** Runs the prompt until it is left. Resolves to the exit status. @throws CrawlError when no crawl is running at the start */
export async function prompt(session: InspectSession, streams: InspectStreams): Promise<number> {
  const { stdin, stdout, stderr } = streams;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  const hello = await session.ask(['help']);
  if (isTerminal && hello.ok) stderr.write('Connected. `help` lists the verbs, `quit` leaves.\n');
  const lines = createInterface({
    input: stdin,
    ...(isTerminal ? { output: stdout } : {}),
    terminal: isTerminal,
    prompt: 'hostler> ',
    historySize: HISTORY_MAX,
    removeHistoryDuplicates: true,
    completer: complete,
  });
  lines.on('SIGINT', () => lines.close());
  const status = await converse(session, lines, { isTerminal, stderr });
  lines.close();
  return status;
}

/** The completions of a line, and the part of it that they complete. */
export function complete(line: string): [string[], string] {
  const words = line
    .split(/\s+/)
    .filter((word, index, all) => word !== '' || index === all.length - 1);
  const last = words.at(-1) ?? '';
  return [completionsOf(words).map((word) => `${word} `), last];
}

async function converse(
  session: InspectSession,
  lines: Interface,
  { isTerminal, stderr }: { isTerminal: boolean; stderr: InspectStreams['stderr'] },
): Promise<number> {
  let status = 0;
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const words = splitWords(line);
    if (words !== undefined && LEAVING.has(words[0] ?? '')) break;
    if (words === undefined) stderr.write('error: a quote is not closed\n');
    else if (words.length > 0) status = (await runLine(session, words, stderr)) || status;
    if (isTerminal) lines.prompt();
  }
  return isTerminal ? 0 : status;
}

/** A crawl that ends does not end the prompt: it may come back. */
async function runLine(
  session: InspectSession,
  words: readonly string[],
  stderr: InspectStreams['stderr'],
): Promise<number> {
  if (words[0] === 'watch') {
    stderr.write('error: watch runs from the command line: inspect watch SECONDS VERB…\n');
    return 2;
  }
  try {
    return await session.run(words);
  } catch (thrown) {
    if (!(thrown instanceof CrawlError)) throw thrown;
    stderr.write(`error: ${thrown.message}. ${thrown.remedy}\n`);
    return thrown.exitStatus;
  }
}
