// The change feed into OpenSearch or Elasticsearch by the `_bulk` API, which both have alike: a document for each page under its URL, replaced
// when it changes, deleted when it is gone. The answer tells of each item: those that were turned away for want of room are sent again,
// one that the index refuses for good is told of and passed over, since it would hold up all others for ever.
// Source: the Bulk API pages of both products.

import { createHash } from 'node:crypto';
import type { FeedDocument } from './feed-document.ts';
import { postLines } from './http-post.ts';
import { searchAction } from './search-action.ts';
import { type Sink, SinkBusy } from './sink.ts';

const PORTION_MAX = 200;
/** Longest `_id`, bytes; longer URLs stand under their hash. */
const ID_BYTES_MAX = 512;

interface BulkItem {
  readonly status?: number;
  readonly error?: unknown;
  readonly _id?: string;
}

export class OpenSearchSink implements Sink {
  readonly name: string;
  readonly portionMax = PORTION_MAX;
  readonly #url: URL;
  readonly #index: string;
  readonly #refused: (text: string) => void;

  /**
   * @param base server and index: `http://localhost:9200/pages`
   * @param refused told of documents that the index refuses for good
   */
  constructor(base: URL, refused: (text: string) => void) {
    const path = base.pathname.split('/').filter((part) => part !== '');
    this.#index = path.pop() ?? 'pages';
    this.#url = new URL(`/${[...path, '_bulk'].join('/')}`, base);
    this.#url.username = base.username;
    this.#url.password = base.password;
    this.#refused = refused;
    this.name = `index ${this.#index} at ${base.host}`;
  }

  async deliver(documents: readonly FeedDocument[]): Promise<void> {
    const lines = documents.map((document) => this.#lines(document)).join('');
    if (lines === '') return;
    const answer = readAnswer(this.name, await postLines(this.#url, lines));
    if (answer.errors !== true) return;
    for (const item of answer.items ?? []) {
      for (const [action, { status = 0, error, _id }] of Object.entries(item)) {
        if (status < 300 || (action === 'delete' && status === 404)) continue;
        if (status === 429 || status >= 500) throw new SinkBusy(`${this.name} answers ${status}`);
        this.#refused(`${_id}: ${status} ${JSON.stringify(error).slice(0, 300)}`);
      }
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #lines(document: FeedDocument): string {
    const { record, text } = document;
    const target = { _index: this.#index, _id: idOf(record.url) };
    const action = searchAction(document);
    if (action === 'leave') return '';
    if (action === 'remove') return `${JSON.stringify({ delete: target })}\n`;
    const { cursor: _, ...fields } = record;
    return `${JSON.stringify({ index: target })}\n${JSON.stringify({ ...fields, text })}\n`;
  }
}

interface BulkAnswer {
  readonly errors?: boolean;
  readonly items?: readonly Readonly<Record<string, BulkItem>>[];
}

function readAnswer(name: string, text: string): BulkAnswer {
  try {
    return JSON.parse(text) as BulkAnswer;
  } catch {
    throw new SinkBusy(`${name} answers no JSON`);
  }
}

function idOf(url: string): string {
  if (Buffer.byteLength(url) <= ID_BYTES_MAX) return url;
  return `sha256:${createHash('sha256').update(url).digest('hex')}`;
}
