// Trouble in our own world (disk, socket, configuration): the second of the three kinds of error in STYLE.md. Such an error is thrown
// only at the edge of the process and always carries what happened, where, and what the operator can do about it.

/** Stable codes; scripts and alerts may rely on them. */
export type CrawlErrorCode =
  | 'usage'
  | 'config'
  | 'seeds'
  | 'disk-full'
  | 'disk'
  | 'data-damaged'
  | 'data-locked'
  | 'data-version'
  | 'bus'
  | 'network'
  | 'internal';

/** The exit status of each kind of trouble (DESIGN.md §9). */
export const EXIT_STATUS: Readonly<Record<CrawlErrorCode, number>> = {
  usage: 2,
  config: 2,
  seeds: 2,
  'disk-full': 3,
  disk: 3,
  'data-damaged': 4,
  'data-locked': 4,
  'data-version': 4,
  bus: 5,
  network: 70,
  internal: 70,
};

/** An error of our own world. `message` says what and where; `remedy` says what to do. */
export class CrawlError extends Error {
  override readonly name = 'CrawlError';
  readonly code: CrawlErrorCode;
  /** One sentence for the operator; empty when nothing can be done. */
  readonly remedy: string;
  /** True when the same call may succeed later without anybody acting. */
  readonly retriable: boolean;

  constructor(
    code: CrawlErrorCode,
    message: string,
    options: { remedy?: string; retriable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = options.remedy ?? '';
    this.retriable = options.retriable ?? false;
  }

  /** The exit status a process should end with when this error reaches the top. */
  get exitStatus(): number {
    return EXIT_STATUS[this.code];
  }
}
