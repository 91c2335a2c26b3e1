// NDJSON in, NDJSON out (DESIGN.md §9): one answer line for each input line, in order, so that scripts and test suites can drive a command.
// A bad line gets an answer with `error` and stops nothing. Streaming with backpressure: memory holds one chunk, one line and its answer.

import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { type Line, LineSplitter } from '../base/line-splitter.ts';

/** Thrown by an answerer for an input it cannot use; its message becomes the line's `error`. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** One input object, as parsed. */
export type InputObject = Readonly<Record<string, unknown>>;

/** Output is handed on when this much has gathered, and at the end of each chunk of input. */
const FLUSH_CHARS = 65_536;

/**
 * Answers every line until the input ends.
 * @param answer one object for one object; may throw BadInput
 * @param streams.lineBytesMax longest line that is read; a longer one is answered by an error
 */
export async function answerLines(
  answer: (input: InputObject) => object,
  streams: {
    readonly input: Readable;
    readonly output: Writable;
    readonly lineBytesMax: number;
  },
): Promise<void> {
  const { input, output, lineBytesMax } = streams;
  const splitter = new LineSplitter(lineBytesMax);
  const answerLine = (line: Line): string =>
    'text' in line
      ? answerText(line.text, answer)
      : errorLine(`the line has more than ${lineBytesMax} bytes`);
  let gathered = '';
  const flush = async (): Promise<void> => {
    const text = gathered;
    gathered = '';
    if (text !== '' && !output.write(text)) await once(output, 'drain');
  };
  for await (const chunk of input) {
    for (const line of splitter.push(chunk as Buffer)) {
      gathered += answerLine(line);
      if (gathered.length >= FLUSH_CHARS) await flush();
    }
    await flush();
  }
  for (const line of splitter.finish()) gathered += answerLine(line);
  await flush();
}

function answerText(text: string, answer: (input: InputObject) => object): string {
  let input: unknown;
  try {
    input = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    return errorLine(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return errorLine('not a JSON object');
  }
  try {
    return `${JSON.stringify(answer(input as InputObject))}\n`;
  } catch (error) {
    // Anything else is a bug of ours and ends the command.
    if (error instanceof BadInput) return errorLine(error.message);
    throw error;
  }
}

function errorLine(text: string): string {
  return `${JSON.stringify({ error: text.slice(0, 300) })}\n`;
}

/**
 * A field that is text.
 * @returns undefined when absent or null
 * @throws BadInput when it is anything else
 */
export function textField(input: InputObject, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new BadInput(`${name} must be a string`);
}

/** A field that must be there. @throws BadInput */
export function requiredText(input: InputObject, name: string): string {
  const value = textField(input, name);
  if (value === undefined) throw new BadInput(`${name} is missing`);
  return value;
}

/**
 * Bytes, given as text under `name` or in base64 under `nameBase64`.
 * @throws BadInput when both or neither are there, or it is no base64
 */
export function bytesField(input: InputObject, name: string): Uint8Array {
  const plain = textField(input, name);
  const encoded = textField(input, `${name}Base64`);
  if (plain !== undefined && encoded !== undefined) {
    throw new BadInput(`${name} and ${name}Base64 exclude each other`);
  }
  if (plain !== undefined) return Buffer.from(plain, 'utf8');
  if (encoded === undefined) throw new BadInput(`${name} or ${name}Base64 is missing`);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(encoded)) throw new BadInput(`${name}Base64 is no base64`);
  return Buffer.from(encoded, 'base64');
}
