// What an operator may change on a running crawl (DESIGN.md §10), as plain data: one union for the
// socket, the dashboard and the audit log. Whether an operation is possible now is the
// Operator's to say.

/** Whom a pause is for. An IP is paused with all hosts that share it. */
export type PauseTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'ip'; readonly address: string };

/** Names pino knows (src/app sets the level). */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** All log levels, the most talkative first. */
export const LOG_LEVELS: readonly LogLevel[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
];

/** See the head of this file. Times are milliseconds since the epoch. */
export type Operation =
  | { readonly kind: 'pause'; readonly target: PauseTarget }
  | { readonly kind: 'resume'; readonly target: PauseTarget }
  /** `gapMs` undefined gives the gap back to the rule; a Crawl-delay always holds. */
  | { readonly kind: 'set-delay'; readonly host: string; readonly gapMs: number | undefined }
  | { readonly kind: 'block'; readonly host: string; readonly untilMs: number }
  | { readonly kind: 'inject'; readonly urls: readonly string[] }
  | { readonly kind: 'refresh-robots'; readonly host: string }
  | { readonly kind: 'flush-dns'; readonly host: string }
  | { readonly kind: 'checkpoint' }
  /** Read the configuration, the opt-out file and the table of autonomous systems again. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'set-log-level'; readonly level: LogLevel }
  | { readonly kind: 'move'; readonly partition: number; readonly node: string }
  /** Stop starting requests on a node (undefined: this one) and hand its partitions over. */
  | { readonly kind: 'drain'; readonly node: string | undefined };

/** By which door an act came. */
export type OperationSource = 'debug-socket' | 'http' | 'signal';

/** One line of the audit log about an operator's act. */
export interface OperationEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Where it came from. */
  readonly source: OperationSource;
  readonly operation: Operation;
  /** `done`, or the code of the refusal. */
  readonly outcome: string;
  /** What was done, or why it was not. */
  readonly text: string;
}
