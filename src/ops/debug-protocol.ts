// The words of the debug socket (docs/DEBUG-SOCKET.md): how a line is read as a request and an
// answer written, as JSON or as text. A line that starts with `{` is JSON and is answered in JSON;
// any other is words and is answered as text that ends in an empty line.

import { type Answer, type Refusal, refused, type TraceEvent } from './operator.ts';
import { boundedPlain, type Plain } from './plain-value.ts';
import { splitWords } from './split-words.ts';
import { textOf } from './text-form.ts';

/** Longest line of a request, bytes. */
export const LINE_BYTES_MAX = 65_536;
/** Longest answer, bytes, about. */
export const ANSWER_BYTES_MAX = 1_048_576;
/** Words of a request, at most. */
const WORDS_MAX = 2_000;

/** What a client chose to tell its requests apart. */
export type RequestId = string | number | null;

/** How a request was written, and so its answer is. */
export interface RequestForm {
  readonly form: 'json' | 'text';
  readonly id: RequestId;
}

/** A request as read from a line. */
export interface DebugRequest extends RequestForm {
  readonly verb: string;
  readonly args: readonly string[];
}

/** One answer line of the JSON form. */
export type AnswerLine = { readonly id: RequestId } & (
  | { readonly ok: true; readonly value: Plain; readonly truncated?: true }
  | { readonly ok: false; readonly code: string; readonly error: string }
  | { readonly event: Plain }
);

/** A line that is no request. */
export interface Misread extends RequestForm {
  readonly refusal: Refusal;
}

/** Reads a line. Undefined for a blank one. Never throws. */
export function readRequest(line: string): DebugRequest | Misread | undefined {
  const text = line.trim();
  if (text === '') return undefined;
  if (text.startsWith('{')) return readJson(text);
  const words = splitWords(text);
  if (words === undefined) {
    return { form: 'text', id: null, refusal: refused('usage', 'a quote is not closed') };
  }
  const [verb = '', ...args] = words;
  return { form: 'text', id: null, verb, args: args.slice(0, WORDS_MAX) };
}

/** Writes an answer, with its line ends. */
export function writeAnswer({ form, id }: RequestForm, answer: Answer<unknown>): string {
  if (answer.kind === 'refused') {
    const { code, reason } = answer;
    if (form === 'json') return jsonLine({ id, ok: false, code, error: reason });
    return `${textOf(`error: ${reason} (${code})`)}\n\n`;
  }
  const { value, truncated } = boundedPlain(answer.value, ANSWER_BYTES_MAX);
  if (form === 'json') {
    return jsonLine(truncated ? { id, ok: true, value, truncated } : { id, ok: true, value });
  }
  return `${cutText(textOf(value), truncated)}\n\n`;
}

/** Writes one event of a trace. */
export function writeEvent({ form, id }: RequestForm, event: TraceEvent): string {
  const { value } = boundedPlain(event, LINE_BYTES_MAX);
  if (form === 'json') return jsonLine({ id, event: value });
  const at = new Date(event.at).toISOString();
  return `${textOf(`${at} ${event.turnMs.toFixed(3)} ms ${event.kind} ${event.text}`)}\n`;
}

function jsonLine(answer: AnswerLine): string {
  return `${JSON.stringify(answer)}\n`;
}

/** Alignment can make a table several times as long as its values. */
function cutText(text: string, truncated: boolean): string {
  const isLong = text.length > ANSWER_BYTES_MAX;
  const kept = isLong ? text.slice(0, text.lastIndexOf('\n', ANSWER_BYTES_MAX)) : text;
  return isLong || truncated ? `${kept}\n(truncated)` : kept;
}

function readJson(text: string): DebugRequest | Misread {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    return misread(null, 'a line that starts with { must be one JSON object');
  }
  if (typeof request !== 'object' || request === null) return misread(null, 'not an object');
  const { id = null, verb, args = [], options = {} } = request as Record<string, unknown>;
  if (!isRequestId(id)) return misread(null, 'id must be a text or a number');
  if (typeof verb !== 'string') return misread(id, 'verb must be a text');
  const words = wordsOf(args, options);
  if (words === undefined) {
    return misread(id, 'args must be a list of texts, options an object of texts, numbers or true');
  }
  return { form: 'json', id, verb, args: words };
}

function misread(id: RequestId, reason: string): Misread {
  return { form: 'json', id, refusal: refused('usage', reason) };
}

function isRequestId(id: unknown): id is RequestId {
  if (id === null || typeof id === 'number') return true;
  return typeof id === 'string' && id.length <= 200;
}

function wordsOf(args: unknown, options: unknown): string[] | undefined {
  if (!Array.isArray(args) || args.length > WORDS_MAX) return undefined;
  if (typeof options !== 'object' || options === null) return undefined;
  const words: string[] = [];
  for (const word of args as unknown[]) {
    if (typeof word !== 'string' && typeof word !== 'number') return undefined;
    words.push(String(word));
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === true) words.push(`--${name}`);
    else if (typeof value === 'string' || typeof value === 'number')
      words.push(`--${name}=${value}`);
    else if (value !== false) return undefined;
  }
  return words;
}
