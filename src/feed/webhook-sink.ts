// The change feed to a webhook: portions of events as NDJSON in a POST; an answer of 2xx acknowledges all of them.

import type { FeedDocument } from './feed-document.ts';
import { postLines } from './http-post.ts';
import type { Sink } from './sink.ts';

const PORTION_MAX = 100;

export class WebhookSink implements Sink {
  readonly name: string;
  readonly portionMax = PORTION_MAX;
  readonly #url: URL;

  constructor(url: URL) {
    this.#url = url;
    this.name = `webhook ${url.host}${url.pathname}`;
  }

  async deliver(documents: readonly FeedDocument[]): Promise<void> {
    const lines = documents.map(({ record }) => `${JSON.stringify(record)}\n`).join('');
    await postLines(this.#url, lines);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
