// One event of the change feed as consumers get it (DESIGN.md §1, §7): what the crawl wrote down, and what the stored bytes say. Every line of
// `feed` is a FeedRecord; sinks that index get the page's text beside it.

import {
  type ChangeEvent,
  type ChangeKind,
  type FeedPlace,
  placeText,
} from '../actors/change-event.ts';
import type { StoredBody } from '../actors/ports.ts';
import { pageText } from '../domain/page-text.ts';

/** An event as JSON. Absent fields are not known, or say nothing of this kind of event. */
export interface FeedRecord {
  /** Where to go on after this event. */
  readonly cursor: string;
  readonly kind: ChangeKind;
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
  readonly status: number;
  readonly contentType: string;
  /** Hex SHA-1 of the decoded body; empty when there is none. */
  readonly digest: string;
  readonly bytes: number;
  /** Where the answer lies: a WARC file by its number and the record in it; of a copy, those of the first. */
  readonly warc?: { readonly file: number; readonly record: number };
  /** URL of the page that this one is a copy of. */
  readonly duplicateOf?: string;
  /** Where a page that is gone leads to now. */
  readonly redirectTo?: string;
  /** Of new and changed pages whose bytes are here. */
  readonly title?: string;
  readonly language?: string;
  /** Characters of visible text. */
  readonly textLength?: number;
  readonly outlinks?: number;
  /** The page asks not to be indexed. */
  readonly noindex?: true;
}

/** A record with the text that is indexed. */
export interface FeedDocument {
  readonly record: FeedRecord;
  /** Undefined for what is no page of text, and for events that bring no new text. */
  readonly text: string | undefined;
}

/** True when the event brings bytes that are worth reading. */
export function bringsText({ kind }: ChangeEvent): boolean {
  return kind === 'new' || kind === 'changed';
}

/**
 * Makes the document of an event.
 * @param next the place after it
 * @param stored the page's answer, for events that bring text; undefined when it is not to be had
 * @param productToken whose robots directives count besides those for everybody
 */
export function feedDocument(
  event: ChangeEvent,
  next: FeedPlace,
  stored: StoredBody | undefined,
  productToken: string,
): FeedDocument {
  const { kind, row } = event;
  const { pointer, duplicateOf, redirectTo, url } = row;
  const page = stored === undefined ? undefined : pageText({ url, ...stored }, productToken);
  const record: FeedRecord = {
    cursor: placeText(next),
    kind,
    url,
    fetchedAt: new Date(row.fetchedAt).toISOString(),
    status: row.status,
    contentType: row.contentType,
    digest: row.contentDigest,
    bytes: row.bodyBytes,
    ...(pointer === undefined ? {} : { warc: { file: pointer.file, record: pointer.record } }),
    ...(duplicateOf === undefined ? {} : { duplicateOf }),
    ...(redirectTo === undefined ? {} : { redirectTo }),
    ...(page?.title === undefined ? {} : { title: page.title }),
    ...(page?.language === undefined ? {} : { language: page.language }),
    ...(page === undefined ? {} : { textLength: page.text.length, outlinks: page.outlinks }),
    ...(page?.noindex === true ? { noindex: true as const } : {}),
  };
  return { record, text: page?.text };
}
