// The dashboard's live stream: server-sent events (HTML Standard, section 9.2). A new watcher first
// gets the last ten minutes, then the news of each second. Watchers are few, and one that does not
// read is dropped; the browser connects again by itself.

import type { ServerResponse } from 'node:http';
import type { CrawlWatch } from './crawl-watch.ts';
import { ANSWER_BYTES_MAX } from './debug-protocol.ts';
import { boundedPlain } from './plain-value.ts';

/** Bytes a watcher may leave unread: about a minute of news. */
const UNREAD_BYTES_MAX = 1_048_576;

/** See the head of this file. */
export class EventStreams {
  readonly #watch: CrawlWatch;
  readonly #streamsMax: number;
  readonly #responses = new Set<ServerResponse>();

  constructor(watch: CrawlWatch, streamsMax: number) {
    this.#watch = watch;
    this.#streamsMax = streamsMax;
    watch.listen((news) => this.#send('news', news));
  }

  get isFull(): boolean {
    return this.#responses.size >= this.#streamsMax;
  }

  get count(): number {
    return this.#responses.size;
  }

  /** Makes the response a stream, whose headers are set already. Ends with its connection. */
  open(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.#responses.add(response);
    response.on('close', () => this.#responses.delete(response));
    const latest = this.#watch.latest();
    response.write(eventText('history', this.#watch.points()));
    if (latest.kind === 'answered') response.write(eventText('news', latest.value));
  }

  close(): void {
    for (const response of this.#responses) response.destroy();
  }

  #send(name: string, value: unknown): void {
    if (this.#responses.size === 0) return;
    const text = eventText(name, value);
    for (const response of this.#responses) {
      if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
      else response.write(text);
    }
  }
}

/** JSON has no line ends of its own, so an event is one line of data. */
function eventText(name: string, value: unknown): string {
  const { value: plain } = boundedPlain(value, ANSWER_BYTES_MAX);
  return `event: ${name}\ndata: ${JSON.stringify(plain)}\n\n`;
}
