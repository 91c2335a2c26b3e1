// From what an operator writes after `feed --to` to a sink (src/feed): `file:PATH`, the http or https URL of a webhook, `opensearch:URL` with the
// index as the last part of its path (Elasticsearch is the same), or `search` for the local index.

import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { parseUrl } from '../base/parse-url.ts';
import { FileSink } from '../feed/file-sink.ts';
import { OpenSearchSink } from '../feed/opensearch-sink.ts';
import { SearchIndex } from '../feed/search-index.ts';
import type { Sink } from '../feed/sink.ts';
import { WebhookSink } from '../feed/webhook-sink.ts';

/** A sink with the name under which its cursor is kept unless another is given. */
export interface NamedSink {
  readonly sink: Sink;
  readonly consumer: string;
}

/** The folder of the local index. */
export function searchFolder(dataDir: string): string {
  return join(dataDir, 'search');
}

/**
 * @param told what the operator should know of single documents; nothing fails
 * @throws CrawlError usage for a text that names no sink; disk, data-damaged
 */
export function openSink(text: string, dataDir: string, told: (line: string) => void): NamedSink {
  if (text === 'search') {
    return { sink: new SearchIndex(searchFolder(dataDir)), consumer: 'search' };
  }
  const [, kind = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (kind === 'file' && rest !== '') return { sink: new FileSink(rest), consumer: 'file' };
  if (kind === 'opensearch' || kind === 'elasticsearch') {
    return { sink: new OpenSearchSink(urlOf(rest, text), told), consumer: kind };
  }
  return { sink: new WebhookSink(urlOf(text, text)), consumer: 'webhook' };
}

function urlOf(url: string, text: string): URL {
  const parsed = parseUrl(url);
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return new URL(url);
  throw new CrawlError('usage', `--to ${text}: no sink`, {
    remedy: 'Use file:PATH, a webhook URL, opensearch:http://HOST:9200/INDEX, or search.',
  });
}
