// The log (DESIGN.md §10): pino on standard error, one line an event, each with a stable `code` that alerts may rely on. For people on a
// terminal, JSON for machines. A code that repeats is limited, since a web crawl meets the same trouble ten thousand times a minute; what
// was held back is counted and told with the next line of that code. Invariants: bounded memory; logging never throws.

import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';

/** Least first; `silent` logs nothing. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Facts beside the text; plain data. An `Error` goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** How a log is made. */
export interface LogOptions {
  readonly level: LogLevel;
  /** Text for people in place of JSON. Default: when standard error is a terminal. */
  readonly isPretty?: boolean;
  /** Takes each line with its end. Default: standard error, synchronously, so that the last line before a crash is there. */
  readonly write?: (line: string) => void;
  /** Lines of one code let through in each window; the rest is counted. Default 20. */
  readonly linesPerWindow?: number;
  /** Default 10,000. */
  readonly windowMs?: number;
  /** Default Date.now. */
  readonly nowMs?: () => number;
}

interface CodeWindow {
  startMs: number;
  lines: number;
  suppressed: number;
}

const STDERR = 2;
/** Codes are constants of ours; more than this many means that something puts data into them. */
const CODES_MAX = 1_000;

/** Writes events. One for each thread. */
export class Log {
  readonly #pino: Logger;
  readonly #windows = new Map<string, CodeWindow>();
  readonly #linesPerWindow: number;
  readonly #windowMs: number;
  readonly #nowMs: () => number;

  constructor(options: LogOptions) {
    this.#linesPerWindow = options.linesPerWindow ?? 20;
    this.#windowMs = options.windowMs ?? 10_000;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#pino = pino(
      {
        level: options.level,
        base: null,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      destinationOf(options),
    );
  }

  get level(): LogLevel {
    return this.#pino.level as LogLevel;
  }

  /** Changes the level of this log, at once. */
  set level(level: LogLevel) {
    this.#pino.level = level;
  }

  /** Steps of single URLs. */
  trace(code: string, text: string, fields: LogFields = {}): void {
    this.#write('trace', code, text, fields);
  }

  /** What helps to find a fault. */
  debug(code: string, text: string, fields: LogFields = {}): void {
    this.#write('debug', code, text, fields);
  }

  /** What an operator likes to know. */
  info(code: string, text: string, fields: LogFields = {}): void {
    this.#write('info', code, text, fields);
  }

  /** What an operator should look at some time. */
  warn(code: string, text: string, fields: LogFields = {}): void {
    this.#write('warn', code, text, fields);
  }

  /** What an operator has to act upon. */
  error(code: string, text: string, fields: LogFields = {}): void {
    this.#write('error', code, text, fields);
  }

  /** Why the process ends. Never held back. */
  fatal(code: string, text: string, fields: LogFields = {}): void {
    this.#pino.fatal({ code, ...fields }, text);
  }

  /** Tells what was held back and not yet told; called before the process ends. */
  flush(): void {
    for (const [code, { suppressed }] of this.#windows) {
      if (suppressed > 0) this.#pino.warn({ code, suppressed }, 'further lines were held back');
    }
    this.#windows.clear();
  }

  #write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error',
    code: string,
    text: string,
    fields: LogFields,
  ): void {
    if (!this.#pino.isLevelEnabled(level)) return;
    const suppressed = this.#admit(code);
    if (suppressed === undefined) return;
    this.#pino[level]({ code, ...(suppressed > 0 ? { suppressed } : {}), ...fields }, text);
  }

  /** Lines of this code held back before this one; undefined when this one is held back too. */
  #admit(code: string): number | undefined {
    const nowMs = this.#nowMs();
    const window = this.#windows.get(code);
    if (window !== undefined && nowMs - window.startMs < this.#windowMs) {
      window.lines += 1;
      if (window.lines <= this.#linesPerWindow) return 0;
      window.suppressed += 1;
      return undefined;
    }
    if (this.#windows.size >= CODES_MAX) this.#windows.clear();
    this.#windows.set(code, { startMs: nowMs, lines: 1, suppressed: 0 });
    return window?.suppressed ?? 0;
  }
}

function destinationOf(options: LogOptions): DestinationStream {
  const { write, isPretty = process.stderr.isTTY === true } = options;
  if (!isPretty) return write === undefined ? destination({ dest: STDERR, sync: true }) : { write };
  const format = prettyFactory({
    colorize: process.stderr.isTTY === true,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    messageFormat: '{code}: {msg}',
    ignore: 'code',
  });
  const print = write ?? ((line: string): unknown => process.stderr.write(line));
  return { write: (line: string) => void print(format(line)) };
}
