// What an operator sees of a running crawl on standard error (DESIGN.md §9): a bar on a terminal, one JSON object a second for scripts, or
// nothing. Log lines and the bar share a terminal, so lines are printed above it.

import type { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';

/** A crawl at one moment. */
export interface ProgressSnapshot {
  /** Stored pages with status 200: what `--max-pages` counts. */
  readonly pages: number;
  /** URLs fetched, whatever came of them. */
  readonly fetched: number;
  /** URLs waiting. */
  readonly queued: number;
  /** Requests under way. */
  readonly inFlight: number;
  /** Hosts that may be asked now. */
  readonly hostsReady: number;
  /** Hosts whose gap, robots.txt, DNS or backoff is waited for. */
  readonly hostsWaiting: number;
  /** Lately. */
  readonly pagesPerSecond: number;
  /** Received. */
  readonly bytes: number;
  /** Since the start of this run. */
  readonly seconds: number;
  /** `--max-pages`; undefined when there is none. */
  readonly limit: number | undefined;
}

/** `--progress`. */
export type ProgressMode = 'auto' | 'bar' | 'json' | 'none';

/** Standard error, or a stream in its place. */
export type ProgressStream = Writable & { readonly isTTY?: boolean };

/** A way of showing. */
export interface ProgressDisplay {
  show(snapshot: ProgressSnapshot): void;
  /** Prints whole lines without spoiling what is shown. */
  writeAbove(text: string): void;
  /** Leaves the terminal as it was. */
  stop(): void;
}

/** Shows a crawl that is watched in a loop. */
export interface Progress {
  /** To be called as often as one likes; the snapshot is only taken when the last one was shown a second ago. */
  show(snapshot: () => ProgressSnapshot): void;
  /** Prints whole lines without spoiling what is shown; for the log. */
  writeAbove(text: string): void;
  /** Leaves the terminal as it was. */
  close(): void;
}

/**
 * Makes the progress of a mode.
 * @param options.stream default standard error; `intervalMs` default 1,000; `nowMs` default performance.now
 */
export function createProgress(
  mode: ProgressMode,
  options: {
    readonly stream?: ProgressStream;
    readonly intervalMs?: number;
    readonly nowMs?: () => number;
  } = {},
): Progress {
  const { intervalMs = 1_000, nowMs = () => performance.now() } = options;
  const display = createDisplay(mode, options.stream ?? process.stderr);
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show(snapshot) {
      const now = nowMs();
      if (now - shownMs < intervalMs) return;
      shownMs = now;
      display.show(snapshot());
    },
    writeAbove: (text) => display.writeAbove(text),
    close: () => display.stop(),
  };
}

/** The display of a mode; `auto` is a bar on a terminal and nothing elsewhere. */
export function createDisplay(mode: ProgressMode, stream: ProgressStream): ProgressDisplay {
  const isBar = mode === 'bar' || (mode === 'auto' && stream.isTTY === true);
  if (isBar) return new BarDisplay(stream);
  const isJson = mode === 'json';
  return {
    show: (snapshot) => {
      if (isJson) stream.write(`${JSON.stringify({ kind: 'progress', ...snapshot })}\n`);
    },
    writeAbove: (text) => void stream.write(text),
    stop: () => undefined,
  };
}

const BAR_FORMAT =
  '{bar} {share}% | {pages} pages | {rate}/s | {queued} queued, {inFlight} in flight' +
  ' | hosts {hostsReady} ready, {hostsWaiting} waiting | {size} | {time}';

/** A bar towards `--max-pages`, or towards the end of what is known. */
class BarDisplay implements ProgressDisplay {
  readonly #stream: ProgressStream;
  readonly #bar: SingleBar;
  #isStarted = false;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
    this.#bar = new SingleBar(
      {
        format: BAR_FORMAT,
        stream,
        barsize: 20,
        // The cursor and the signals stay the crawl's own: Ctrl-C must checkpoint.
        hideCursor: false,
        gracefulExit: false,
        noTTYOutput: true,
        notTTYSchedule: 1_000,
        forceRedraw: true,
        emptyOnZero: true,
      },
      Presets.shades_classic,
    );
  }

  show(snapshot: ProgressSnapshot): void {
    const { value, total } = extentOf(snapshot);
    const payload = payloadOf(snapshot);
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#bar.start(total, value, payload);
      return;
    }
    this.#bar.setTotal(total);
    this.#bar.update(value, payload);
  }

  writeAbove(text: string): void {
    // To the start of the line, and erase it (ECMA-48 EL); the bar is drawn anew below in a moment.
    this.#stream.write(this.#isStarted && this.#stream.isTTY === true ? `\r\x1b[2K${text}` : text);
  }

  stop(): void {
    if (this.#isStarted) this.#bar.stop();
  }
}

function extentOf(snapshot: ProgressSnapshot): { readonly value: number; readonly total: number } {
  const { pages, fetched, queued, inFlight, limit } = snapshot;
  if (limit !== undefined) return { value: Math.min(pages, limit), total: limit };
  return { value: fetched, total: fetched + queued + inFlight };
}

function payloadOf(snapshot: ProgressSnapshot): object {
  const { value, total } = extentOf(snapshot);
  return {
    ...snapshot,
    share: total === 0 ? 0 : Math.floor((value / total) * 100),
    rate: snapshot.pagesPerSecond.toFixed(snapshot.pagesPerSecond < 10 ? 1 : 0),
    size: bytesText(snapshot.bytes),
    time: timeText(snapshot.seconds),
  };
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${UNITS[unit]}`;
}

function timeText(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const pad = (value: number): string => String(value).padStart(2, '0');
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(whole % 60)}`
    : `${minutes}:${pad(whole % 60)}`;
}
