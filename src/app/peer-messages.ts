// What one shard accepts from another: the shapes of ShardPeerMessage, checked as every message is that was decoded (DESIGN.md §3).

import type { RemoteBatch, RoutedLink, ShardPeerMessage } from '../actors/messages.ts';

/** Links in a batch that are accepted; senders make batches of 500. */
const LINKS_MAX = 4_096;
/** Keys of settled URLs in a batch that are accepted; senders send 8,192. */
const KEYS_MAX = 65_536;
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
    case 'ask-resource':
      return isResourceAsk(value.ask) && isHost(value.host);
    case 'resource-answered':
      return isCount(value.askId) && isRecord(value.answer);
    default:
      return false;
  }
}

/** What a batch between machines may be; that its hosts are of its partition is for the reader to see. */
export function isRemoteBatch(value: unknown): value is RemoteBatch {
  if (!isRecord(value) || !isLinks(value.links)) return false;
  const { known } = value;
  return Array.isArray(known) && known.length <= KEYS_MAX && known.every(isKey);
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

function isAsk(value: unknown): value is Record<string, unknown> {
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

function isResourceAsk(value: unknown): boolean {
  if (!isAsk(value)) return false;
  return typeof value.untilMs === 'number' && typeof value.isForeign === 'boolean';
}
