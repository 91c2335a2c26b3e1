// Decides for each page of a group whether its content is already stored, appends its WARC members, and remembers what the transaction has to
// put (step 10). A page whose decoded body is stored already is a duplicate: its row points at the first copy, and if the payload is the same
// byte for byte a revisit record is written in place of a second copy (WARC 1.1 §6.7.2 compares payloads, so a different compression of
// the same text is archived whole). Duplicates within the group count too. A duplicate on the same host is not parsed: its links are known,
// but for relative ones below another folder, which is how an endless tree is made. One on another host is: there all of its relative links
// are other pages, and the stub at the root of a whole site may be the stub of many.

import type { PageReceipt, ParsePurpose } from '../actors/ports.ts';
import { wallMs } from '../base/units.ts';
import type { DedupeFacts, PackedPage, PlacedPage } from './batch-codec.ts';
import type { PackedEvent } from './feed-log.ts';
import { packEvents } from './feed-log.ts';
import { hostOfKey, idKey, urlOfKey } from './keys.ts';
import { placePage } from './page-codec.ts';
import type { DigestRow } from './row-codec.ts';
import { decodeDigestRow, encodeDigestRow, encodeUnparsed } from './row-codec.ts';
import type { Tables } from './tables.ts';
import { buildRevisitMember } from './warc-record.ts';
import type { WarcWriter } from './warc-writer.ts';

/** Places the pages of one group; made anew after each commit. */
export class PagePlacement {
  readonly #tables: Tables;
  readonly #archive: WarcWriter;
  /** First copies of this group, by content digest as Latin-1 text. */
  readonly #digests = new Map<string, { readonly key: Buffer; readonly row: DigestRow }>();
  readonly #placed: PlacedPage[] = [];
  /** Final rows of the pages above, as far as they were asked for. */
  readonly #finished: Buffer[] = [];
  #nextUnparsedId: number;

  constructor(tables: Tables, archive: WarcWriter, nextUnparsedId: number) {
    this.#tables = tables;
    this.#archive = archive;
    this.#nextUnparsedId = nextUnparsedId;
  }

  get nextUnparsedId(): number {
    return this.#nextUnparsedId;
  }

  /** Appends a page's records and decides what becomes of it. */
  place(page: PackedPage): PageReceipt {
    const first = this.#firstCopy(page);
    const placed =
      first === undefined || page.dedupe === undefined
        ? this.#placeNew(page)
        : this.#placeDuplicate(page, page.dedupe, first);
    if (page.key !== undefined) this.#placed.push(placed);
    return { unparsedId: placed.unparsedId, duplicateOf: placed.duplicateOf };
  }

  /** Puts page, digest and unparsed rows; inside the commit's transaction. */
  putRows(): void {
    const { pages, digests, unparsed, renders } = this.#tables;
    for (const { placed, row } of this.#rows()) {
      const { page, pointer, unparsedId } = placed;
      const key = page.key as Buffer;
      (page.rendered ? renders : pages).putSync(key, row);
      if (unparsedId === 0 || pointer === undefined) continue;
      const { partition, hostKey } = hostOfKey(key);
      const { url, depth, hops } = page;
      const purpose = purposeOf(page);
      const waiting = { hostKey, urlKey: urlOfKey(key), url, depth, hops, purpose, pointer };
      unparsed.putSync(idKey(unparsedId), encodeUnparsed(waiting, partition));
    }
    for (const { key, row } of this.#digests.values()) {
      digests.putSync(key, encodeDigestRow(row));
    }
  }

  /** What the change feed tells of this group; one block, in the order of the pages. */
  feedBlock(): Buffer | undefined {
    const events: PackedEvent[] = [];
    for (const { placed, row } of this.#rows()) {
      const { change, url } = placed.page;
      if (change === undefined) continue;
      const isCopy = placed.duplicateOf !== undefined && placed.duplicateOf !== url;
      const kind = isCopy && change !== 'unchanged' ? 'duplicate' : change;
      events.push({ kind, row });
    }
    return packEvents(events);
  }

  /** Each page of the group with the final bytes of its row. */
  *#rows(): Generator<{ readonly placed: PlacedPage; readonly row: Buffer }> {
    for (const [at, placed] of this.#placed.entries()) {
      const { page, pointer, duplicateOf } = placed;
      const other = duplicateOf === page.url ? undefined : duplicateOf;
      this.#finished[at] ??= placePage(page.row, pointer, other);
      yield { placed, row: this.#finished[at] };
    }
  }

  /** The first copy of this page's content, if it makes this page a duplicate: a copy whose links nobody follows does not spare a parse. */
  #firstCopy(page: PackedPage): DigestRow | undefined {
    if (page.dedupe === undefined) return undefined;
    const { contentDigest } = page.dedupe;
    const inGroup = this.#digests.get(contentDigest.toString('latin1'))?.row;
    const row = inGroup ?? this.#storedCopy(contentDigest);
    return row !== undefined && (row.parsed || !page.parse) ? row : undefined;
  }

  #storedCopy(contentDigest: Buffer): DigestRow | undefined {
    const value = this.#tables.digests.get(contentDigest);
    return value === undefined ? undefined : decodeDigestRow(value);
  }

  #placeNew(page: PackedPage): PlacedPage {
    const [response, ...others] = page.members;
    if (response === undefined) {
      return { page, pointer: undefined, duplicateOf: undefined, unparsedId: 0 };
    }
    const { file, record } = this.#archive.append(response);
    for (const member of others) this.#archive.append(member);
    if (page.keepsPointer) {
      return { page, pointer: undefined, duplicateOf: undefined, unparsedId: 0 };
    }
    const pointer = { file, record };
    if (page.dedupe !== undefined) this.#remember(page, page.dedupe, pointer);
    const unparsedId = page.parse && page.key !== undefined ? this.#nextUnparsedId++ : 0;
    return { page, pointer, duplicateOf: undefined, unparsedId };
  }

  #placeDuplicate(page: PackedPage, facts: DedupeFacts, first: DigestRow): PlacedPage {
    const [response, ...others] = page.members;
    const same = facts.payloadDigest === first.payloadDigest;
    this.#archive.append(same ? frameRevisit(page, facts, first) : (response as Buffer));
    for (const member of others) this.#archive.append(member);
    const isParsed = page.parse && (page.parseCopy || originOf(page.url) !== originOf(first.url));
    const unparsedId = isParsed && page.key !== undefined ? this.#nextUnparsedId++ : 0;
    return { page, pointer: first.pointer, duplicateOf: first.url, unparsedId };
  }

  #remember(page: PackedPage, facts: DedupeFacts, pointer: DigestRow['pointer']): void {
    const key = facts.contentDigest;
    this.#digests.set(key.toString('latin1'), {
      key,
      row: {
        pointer,
        url: page.url,
        fetchedAt: page.fetchedAt,
        recordId: facts.responseId,
        payloadDigest: facts.payloadDigest,
        parsed: page.parse,
      },
    });
  }
}

function purposeOf({ sitemap, rendered }: PackedPage): ParsePurpose {
  if (rendered) return 'rendered';
  return sitemap ? 'sitemap' : 'page';
}

/** Scheme, host and port of a URL that was fetched. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end === -1 ? url : url.slice(0, end);
}

function frameRevisit(page: PackedPage, facts: DedupeFacts, first: DigestRow): Uint8Array {
  return buildRevisitMember({
    url: page.url,
    fetchedAt: wallMs(page.fetchedAt),
    warcinfoId: undefined,
    response: facts.head,
    refersTo: { url: first.url, date: wallMs(first.fetchedAt), recordId: first.recordId },
    payloadDigest: facts.payloadDigest,
    profile: 'identical-payload-digest',
    recordId: facts.responseId,
  });
}
