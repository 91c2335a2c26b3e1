// The browser pool as a shard sees it (between steps 11 and 12, docs/RENDERING.md): a port like those of ports.ts, so that a test or the
// simulator can play it. A rendering starts from the stored bytes of a page; what the page then asks for comes back as `wanted`, and is
// fetched by the owner of its host like everything else: the browser itself reaches no network. Outcomes are values; nothing here throws.

import type { MonotonicMs } from '../base/units.ts';

/** Why a rendering gave no document. */
export const RENDER_FAILURES = ['unavailable', 'timeout', 'out-of-memory', 'crashed'] as const;
export type RenderFailure = (typeof RENDER_FAILURES)[number];

/** Which bound ended a rendering whose document was taken as it stood. */
export const RENDER_CUTS = ['time', 'requests', 'bytes'] as const;
export type RenderCut = (typeof RENDER_CUTS)[number];

/** A page to be rendered, as it is stored. */
export interface RenderJob {
  /** Unique per shard and run. */
  readonly renderId: number;
  readonly url: string;
  /** Flat list, as stored. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Uint8Array;
}

/** Something a page asks for while it is rendered: always a GET. */
export interface WantedResource {
  /** Unique per shard and run. */
  readonly resourceId: number;
  readonly renderId: number;
  /** Absolute http(s) URL without fragment. */
  readonly url: string;
  /** It lies on another host than the page: nothing that the operator has set for its host, a login say, is sent. */
  readonly isForeign: boolean;
  /** Nobody waits for the answer any more after this. */
  readonly untilMs: MonotonicMs;
}

/** What became of a wanted resource. `reason` of a refusal is a short name, for counters and logs. */
export type ResourceAnswer =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Flat list; only what a browser needs of it. */
      readonly headers: readonly string[];
      /** Decoded, whole. */
      readonly body: Uint8Array;
    }
  | { readonly kind: 'refused'; readonly reason: ResourceRefusal };

export type ResourceRefusal =
  | 'robots'
  | 'robots-unreachable'
  | 'address'
  | 'opt-out'
  | 'busy'
  | 'late'
  | 'elsewhere'
  | 'failed';

export type RenderOutcome =
  | {
      readonly kind: 'rendered';
      /** The document as HTML in UTF-8. */
      readonly dom: Uint8Array;
      readonly cut: RenderCut | undefined;
      /** Where the page wanted to go by script, or called itself in the end; undefined when that is its own URL. */
      readonly movedTo: string | undefined;
      /** Requests of the page that were let through, answers from the cache included. */
      readonly requests: number;
      readonly elapsedMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly failure: RenderFailure;
      /** For people, at most 200 characters. */
      readonly detail: string;
      readonly elapsedMs: number;
    };

export interface RenderPort {
  /** Starts a rendering. `wanted` any number of times, then `ended` once; never within the call. */
  render(
    job: RenderJob,
    told: {
      readonly wanted: (resource: WantedResource) => void;
      readonly ended: (outcome: RenderOutcome) => void;
    },
  ): void;
  /** Hands in what a wanted resource came to. Answers that nobody waits for are ignored. */
  supply(resourceId: number, answer: ResourceAnswer): void;
}
