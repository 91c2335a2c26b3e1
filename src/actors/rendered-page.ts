// The document that a browser made of a page, as it is staged (step 10, docs/RENDERING.md): a checkpoint beside that of the plain page, whose
// row tells why the page was rendered and what that has brought, and whose body is parsed like any stored page once it is durable. Pure.

import { monotonicMs, type PartitionIndex, type WallMs } from '../base/units.ts';
import type { RenderReason } from '../domain/render-need.ts';
import type { Outlinks } from './page-outlinks.ts';
import type { PageToParse } from './parse-stage.ts';
import type { FetchResponse, PageCheckpoint } from './ports.ts';
import type { RenderOutcome } from './render-port.ts';
import type { RenderFacts } from './rows.ts';

/** What the serialiser writes. */
export const DOM_HEADERS: readonly string[] = ['Content-Type', 'text/html; charset=utf-8'];

export interface RenderedPage {
  readonly page: PageToParse;
  readonly partition: PartitionIndex;
  readonly reason: RenderReason;
  readonly outcome: RenderOutcome;
  readonly wallNow: WallMs;
  /** Reads a body's links and words; undefined when that failed. */
  readonly read: (page: PageToParse) => Outlinks | undefined;
}

/** The checkpoint of a rendering; of one that failed, without a document. */
export function renderedCheckpoint(rendered: RenderedPage): PageCheckpoint {
  const { page, partition, outcome, wallNow } = rendered;
  const { hostKey, urlKey, url, depth, hops } = page;
  const isDocument = outcome.kind === 'rendered';
  return {
    ...{ hostKey, partition, urlKey, url, depth, hops },
    fetchedAt: wallNow,
    response: isDocument ? responseOf(outcome.dom, outcome.cut) : undefined,
    failure: undefined,
    redirectTo: isDocument ? outcome.movedTo : undefined,
    parse: isDocument,
    purpose: 'rendered',
    prior: undefined,
    parseCopy: false,
    render: factsOf(rendered),
  };
}

function factsOf({ page, reason, outcome, read }: RenderedPage): RenderFacts {
  const plain = read(page);
  const plainWords = plain?.text?.simhash.features ?? 0;
  const common = { reason, plainWords, elapsedMs: Math.round(outcome.elapsedMs) };
  if (outcome.kind === 'failed') {
    return { ...common, outcome: outcome.failure, words: 0, links: 0, newLinks: 0, requests: 0 };
  }
  const after = read({ ...page, headers: DOM_HEADERS, body: outcome.dom });
  const before = new Set(plain?.references ?? []);
  const references = [...(after?.references ?? [])];
  return {
    ...common,
    outcome: outcome.cut === undefined ? 'whole' : `cut-${outcome.cut}`,
    words: after?.text?.simhash.features ?? 0,
    links: references.length,
    newLinks: references.filter((reference) => !before.has(reference)).length,
    requests: outcome.requests,
  };
}

/** In the form of an answer, so that it takes the same way to the archive and back. */
function responseOf(dom: Uint8Array, cut: string | undefined): FetchResponse {
  const none = monotonicMs(0);
  return {
    ...{ kind: 'response', status: 200, reason: 'OK', headers: DOM_HEADERS },
    ...{ payload: dom, body: dom, requestHead: '', address: '' },
    truncated: cut === undefined ? undefined : cut === 'time' ? 'time' : 'unspecified',
    ...{ startedMs: none, responseMs: 0, endedMs: none },
  };
}
