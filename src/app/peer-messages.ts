// What one shard accepts from another: the shapes of ShardPeerMessage, checked as every message is that was decoded (DESIGN.md §3).

import type { RoutedLink, ShardPeerMessage } from '../actors/messages.ts';

/** Links in a batch that are accepted; senders make batches of 500. */
const LINKS_MAX = 4_096;
const URL_CHARS_MAX = 16_384;

export function isShardPeerMessage(value: unknown): value is ShardPeerMessage {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case 'offer-links':
      return isCount(value.from) && isCount(value.batch) && isLinks(value.links);
    case 'links-committed':
      return isCount(value.from) && isCount(value.through);
    case 'ask-robots':
      return isAsk(value.ask) && isHost(value.host);
    case 'robots-answered':
      return isCount(value.askId) && isRecord(value.answer);
    default:
      return false;
  }
}

function isLinks(value: unknown): value is readonly RoutedLink[] {
  return Array.isArray(value) && value.length <= LINKS_MAX && value.every(isLink);
}

function isLink(value: unknown): boolean {
  if (!isRecord(value) || !isHost(value)) return false;
  const { url, urlKey, depth, hops, purpose } = value;
  if (typeof url !== 'string' || url.length > URL_CHARS_MAX) return false;
  if (!isCount(depth) || !isCount(hops)) return false;
  return isKey(urlKey) && (purpose === 'page' || purpose === 'sitemap');
}

function isHost(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.host === 'string' &&
    isKey(value.hostKey) &&
    isCount(value.partition)
  );
}

function isAsk(value: unknown): boolean {
  return (
    isRecord(value) && isCount(value.from) && isCount(value.askId) && typeof value.url === 'string'
  );
}

/** msgpack decodes small 64-bit numbers as plain ones; keys are compared as bigint, so both senders and this check insist on it. */
function isKey(value: unknown): value is bigint {
  return typeof value === 'bigint';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
