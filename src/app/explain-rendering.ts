// What is known of the browser's part in one page, for `why` (docs/RENDERING.md): what came of its rendering, what rendering has been worth on its
// host, and, from the stored bytes, whether the page seems to need it at all.

import { outlinksOf } from '../actors/page-outlinks.ts';
import type { UrlPlace } from '../actors/ports.ts';
import type { PageRow } from '../actors/rows.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import { parseBase } from '../domain/base-url.ts';
import { isWorthRendering, type RenderMemory } from '../domain/render-memory.ts';
import { type RenderReason, renderReasonOf } from '../domain/render-need.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface WhyRendering {
  /** The row of what the browser made of the page; undefined when it was not rendered. */
  readonly row: PageRow | undefined;
  /** Where the document's record lies. */
  readonly record: { readonly name: string; readonly offset: number } | undefined;
  /** Undefined while no page of the host was rendered. */
  readonly host: RenderMemory | undefined;
}

export function renderingOf(store: ReadStore, keys: UrlPlace): WhyRendering | undefined {
  const row = store.rows.rendered(keys.hostKey, keys.partition, keys.urlKey);
  const host = store.rows.host(keys.hostKey, keys.partition)?.renders;
  if (row === undefined && host === undefined) return undefined;
  const record = row?.pointer === undefined ? undefined : store.place(row.pointer);
  return { row, record, host };
}

/** What detection says of a stored page; undefined for what is no page of text, or not here. */
export async function needOf(
  store: ReadStore,
  keys: Omit<UrlPlace, 'partition'>,
  row: PageRow | undefined,
): Promise<RenderReason | 'none' | undefined> {
  if (row?.pointer === undefined || row.status !== 200) return undefined;
  const base = parseBase(row.url);
  const stored = await store.body(row.pointer);
  if (base === undefined || stored === undefined) return undefined;
  const { hostKey, urlKey } = keys;
  const place = { unparsedId: 0, hostKey, urlKey, url: row.url, depth: 0, hops: 0 };
  const page = { ...place, purpose: 'page' as const, ...stored };
  const { text, references } = outlinksOf(page, base, PRODUCT_TOKEN);
  if (text === undefined) return undefined;
  const links = [...references].length;
  return renderReasonOf({ bytes: stored.body, words: text.simhash.features, links }) ?? 'none';
}

/** Lines of `why`: name and text. */
export function renderingRows(
  rendering: WhyRendering | undefined,
  need: RenderReason | 'none' | undefined,
): (readonly [name: string, text: string])[] {
  const rows: [string, string][] = [];
  if (need !== undefined) {
    rows.push(['browser', need === 'none' ? 'not needed' : `seems to need one: ${need}`]);
  }
  const { row, record, host } = rendering ?? {};
  const facts = row?.render;
  if (row !== undefined && facts !== undefined) {
    const at = new Date(row.fetchedAt).toISOString();
    const gain = `${facts.newLinks} new of ${facts.links} links, ${facts.plainWords} words before and ${facts.words} after`;
    const cost = `${facts.requests} requests, ${facts.elapsedMs} ms`;
    rows.push([
      'rendered',
      `${at}, because of ${facts.reason}: ${facts.outcome}; ${gain}; ${cost}`,
    ]);
    if (row.redirectTo !== undefined) rows.push(['moved to', row.redirectTo]);
    if (record !== undefined) rows.push(['document', `${record.name} at byte ${record.offset}`]);
  }
  if (host !== undefined) {
    const verdict = isWorthRendering(host) ? 'goes on' : 'only now and then: it gains nothing';
    rows.push([
      'renderings',
      `${host.gained} of ${host.tried} of the host gained something; ${verdict}`,
    ]);
  }
  return rows;
}
