// Builds WARC 1.1 records (ISO 28500:2017), each as one whole gzip member, from what a fetch brought. Step 10 of a URL's life, run on the
// shard threads so that the storage thread only appends: one copy, one CRC and the digests, nothing else that grows with the page.
// The archived HTTP head is the received one less Transfer-Encoding, since the payload is stored de-chunked, and with the Content-Length
// that is true of the stored payload. Payload digests are taken after de-chunking and before content decoding (WARC 1.1 §5.9).
// Nothing received can break the framing: line ends inside header values become blanks.

import { randomUUID } from 'node:crypto';
import type { FetchResponse } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import type { WallMs } from '../base/units.ts';
import { labelledDigest, sha1 } from './warc-digest.ts';
import { gzipStored } from './warc-gzip.ts';

/** What a revisit record keeps of an answer: its head and who gave it. */
export type ResponseHead = Pick<FetchResponse, 'status' | 'reason' | 'headers' | 'address'>;

/** `response` and `request` are whole gzip members, each in an ArrayBuffer of its own. */
export interface ResponseMembers {
  readonly response: Uint8Array;
  readonly request: Uint8Array;
  /** WARC-Record-ID of the response, with its angle brackets. */
  readonly responseId: string;
  /** `sha1:` and base32, over the payload as stored. */
  readonly payloadDigest: string;
  /** Hexadecimal SHA-1 of the decoded body. */
  readonly contentDigest: string;
}

/** A record before it becomes a gzip member: its bytes in pieces, one after the other. */
export type RecordParts = readonly Uint8Array[];

/** As ResponseMembers, not yet packed. */
export interface ResponseRecords
  extends Pick<ResponseMembers, 'responseId' | 'payloadDigest' | 'contentDigest'> {
  readonly response: RecordParts;
  readonly request: RecordParts;
}

/** What is common to every record about one fetch. */
interface RecordOrigin {
  /** The URL as sent: absolute. */
  readonly url: string;
  readonly fetchedAt: WallMs;
  /**
   * WARC-Record-ID of the warcinfo record that describes the file, or undefined to leave it to the file's first record
   * (WARC 1.1 §5.16), which is right whichever file the record ends in.
   */
  readonly warcinfoId: string | undefined;
}

/** A revisit: an answer whose payload is already stored (WARC 1.1 §6.7). */
export interface RevisitInput extends RecordOrigin {
  readonly response: ResponseHead;
  /** The record first stored; `date` is its WARC-Date instant, to the millisecond. */
  readonly refersTo: {
    readonly url: string;
    readonly date: WallMs;
    readonly recordId?: string | undefined;
  };
  /** Digest of the stored payload; undefined only when it is not known for a server-not-modified revisit. */
  readonly payloadDigest: string | undefined;
  readonly profile: RevisitProfile;
  /** The id to use, when a request record already names it; a new one otherwise. */
  readonly recordId?: string | undefined;
}

export type RevisitProfile = 'identical-payload-digest' | 'server-not-modified';

/** The prefix of the 1.1 revisit profiles (WARC 1.1 §6.7.2, §6.7.3). */
export const REVISIT_PROFILE_PREFIX = 'http://netpreserve.org/warc/1.1/revisit/';

const RECORD_END = Buffer.from('\r\n\r\n', 'latin1');
const NOTHING = Buffer.alloc(0);

/** A new WARC-Record-ID: a random UUID as URN in angle brackets (WARC 1.1 §5.2). */
export function newRecordId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/** An instant as WARC-Date writes it: W3CDTF in UTC with milliseconds (WARC 1.1 §5.4), as precise as our clock. */
export function warcDate(at: WallMs): string {
  // The records of one exchange carry one date; a Date costs a microsecond.
  if (at !== lastDate.at) lastDate = { at, text: new Date(at).toISOString() };
  return lastDate.text;
}

let lastDate = { at: Number.NaN, text: '' };

/**
 * The response record and the request record that belongs to it (WARC-Concurrent-To). Never throws for anything received.
 * @param input `response.payload` is the de-chunked message body; `response.body` its decoded form
 */
export function buildResponseMembers(
  input: RecordOrigin & { readonly response: FetchResponse },
): ResponseMembers {
  const records = responseRecords(input);
  const response = gzipStored(records.response);
  const { responseId, payloadDigest, contentDigest } = records;
  return {
    responseId,
    payloadDigest,
    contentDigest,
    response,
    request: gzipStored(records.request),
  };
}

/** As `buildResponseMembers`, the records left in parts. */
export function responseRecords(
  input: RecordOrigin & { readonly response: FetchResponse },
): ResponseRecords {
  const { response } = input;
  const payloadHash = sha1(response.payload);
  const payloadDigest = labelledDigest(payloadHash);
  const contentHash = response.body === response.payload ? payloadHash : sha1(response.body);
  const responseId = newRecordId();
  const block = [encodeHttpHead(response, response.payload.byteLength), response.payload];
  const fields =
    addressField(response.address) +
    (hasPayload(response) ? `WARC-Payload-Digest: ${payloadDigest}\r\n` : '') +
    (response.truncated === undefined ? '' : `WARC-Truncated: ${response.truncated}\r\n`) +
    'Content-Type: application/http; msgtype=response\r\n';
  return {
    response: recordParts(recordStart('response', responseId, input) + fields, block),
    request: requestRecord({
      url: input.url,
      fetchedAt: input.fetchedAt,
      warcinfoId: input.warcinfoId,
      requestHead: response.requestHead,
      address: response.address,
      concurrentTo: responseId,
    }),
    responseId,
    payloadDigest,
    contentDigest: contentHash.toString('hex'),
  };
}

/**
 * The request record of an exchange. It has no payload and therefore no payload digest (WARC 1.1 §5.9).
 * @param input `requestHead` is the request as sent, ending in an empty line; `concurrentTo` the id of the response or revisit
 */
export function requestRecord(
  input: RecordOrigin & {
    readonly requestHead: string;
    readonly address: string;
    readonly concurrentTo: string;
  },
): RecordParts {
  const fields =
    `WARC-Concurrent-To: ${input.concurrentTo}\r\n` +
    addressField(input.address) +
    'Content-Type: application/http; msgtype=request\r\n';
  const block = Buffer.from(toByteString(input.requestHead), 'latin1');
  return recordParts(recordStart('request', newRecordId(), input) + fields, [block]);
}

/**
 * A revisit record: the HTTP head as received, no payload (WARC 1.1 §6.7). With `identical-payload-digest` the payload left out is
 * declared by WARC-Truncated: length, as §6.7.2 asks. With `server-not-modified` the digest is that of the copy stored before, never
 * that of the empty body of the 304.
 * The digest compared must be the payload's: equal decoded bodies with unequal payloads are not this kind of revisit.
 */
export function revisitRecord(input: RevisitInput): RecordParts {
  const identical = input.profile === 'identical-payload-digest';
  assert(!identical || input.payloadDigest !== undefined, () => 'revisit without its digest');
  const { refersTo } = input;
  const fields =
    addressField(input.response.address) +
    `WARC-Profile: ${REVISIT_PROFILE_PREFIX}${input.profile}\r\n` +
    (refersTo.recordId === undefined ? '' : `WARC-Refers-To: ${refersTo.recordId}\r\n`) +
    `WARC-Refers-To-Target-URI: ${fieldUri(refersTo.url)}\r\n` +
    `WARC-Refers-To-Date: ${warcDate(refersTo.date)}\r\n` +
    (input.payloadDigest === undefined ? '' : `WARC-Payload-Digest: ${input.payloadDigest}\r\n`) +
    (identical ? 'WARC-Truncated: length\r\n' : '') +
    'Content-Type: application/http; msgtype=response\r\n';
  const start = recordStart('revisit', input.recordId ?? newRecordId(), input);
  return recordParts(start + fields, [encodeHttpHead(input.response, undefined)]);
}

/**
 * A conversion record (WARC 1.1 §6.8): the document that a browser made of a stored page.
 * @param input `response.payload` the document; `refersTo` the id of the record it was made from, or of the first with the same content
 */
export function conversionRecord(
  input: RecordOrigin & {
    readonly response: FetchResponse;
    readonly refersTo: string | undefined;
  },
): { readonly record: RecordParts; readonly contentDigest: string } {
  const { payload, truncated } = input.response;
  const hash = sha1(payload);
  const fields =
    (input.refersTo === undefined ? '' : `WARC-Refers-To: ${input.refersTo}\r\n`) +
    `WARC-Payload-Digest: ${labelledDigest(hash)}\r\n` +
    (truncated === undefined ? '' : `WARC-Truncated: ${truncated}\r\n`) +
    'Content-Type: text/html; charset=utf-8\r\n';
  const record = recordParts(recordStart('conversion', newRecordId(), input) + fields, [payload]);
  return { record, contentDigest: hash.toString('hex') };
}

/** `revisitRecord` as a gzip member. */
export function buildRevisitMember(input: RevisitInput): Uint8Array {
  return gzipStored(revisitRecord(input));
}

/**
 * A metadata record about another record (WARC 1.1 §6.6), for example how a URL was found.
 * @param input `concurrentTo` the id of the record described; `fields` name and value pairs of the block, application/warc-fields
 */
export function buildMetadataMember(
  input: RecordOrigin & {
    readonly concurrentTo: string;
    readonly fields: readonly (readonly [name: string, value: string])[];
  },
): Uint8Array {
  const head =
    `${recordStart('metadata', newRecordId(), input)}WARC-Concurrent-To: ${input.concurrentTo}\r\n` +
    'Content-Type: application/warc-fields\r\n';
  return buildMember(head, [encodeWarcFields(input.fields)]);
}

/**
 * The warcinfo record that begins every file (WARC 1.1 §6.2).
 * @param input `filename` as the file will be called when closed; `fields` the block: software, format, robots …
 */
export function buildWarcinfoMember(input: {
  readonly recordId: string;
  readonly filename: string;
  readonly date: WallMs;
  readonly fields: readonly (readonly [name: string, value: string])[];
}): Uint8Array {
  const head =
    `WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: ${input.recordId}\r\n` +
    `WARC-Date: ${warcDate(input.date)}\r\nWARC-Filename: ${fieldText(input.filename)}\r\n` +
    'Content-Type: application/warc-fields\r\n';
  return buildMember(head, [encodeWarcFields(input.fields)]);
}

function recordStart(type: string, recordId: string, origin: RecordOrigin): string {
  return (
    `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: ${recordId}\r\n` +
    `WARC-Date: ${warcDate(origin.fetchedAt)}\r\nWARC-Target-URI: ${fieldUri(origin.url)}\r\n` +
    (origin.warcinfoId === undefined ? '' : `WARC-Warcinfo-ID: ${origin.warcinfoId}\r\n`)
  );
}

/** A record as one gzip member. */
function buildMember(fields: string, block: readonly Uint8Array[]): Uint8Array {
  return gzipStored(recordParts(fields, block));
}

/** Adds block digest, length and the empty line: head, block and record end. */
function recordParts(fields: string, block: readonly Uint8Array[]): RecordParts {
  let blockBytes = 0;
  for (const part of block) blockBytes += part.byteLength;
  const head = Buffer.from(
    `${fields}WARC-Block-Digest: ${labelledDigest(sha1(...block))}\r\n` +
      `Content-Length: ${blockBytes}\r\n\r\n`,
    'latin1',
  );
  return [head, ...block, RECORD_END];
}

/** Whether the answer can have content at all: 1xx, 204 and 304 cannot (RFC 9110 §6.4.1). */
function hasPayload(response: FetchResponse): boolean {
  const { status } = response;
  const bodiless = status < 200 || status === 204 || status === 304;
  return !bodiless || response.payload.byteLength > 0;
}

/**
 * The HTTP head to archive. `payloadBytes` replaces the received Content-Length (repeated ones collapse into one) and is added when
 * there was none, except where content is impossible; undefined (a revisit) keeps what was received.
 */
function encodeHttpHead(head: ResponseHead, payloadBytes: number | undefined): Buffer {
  const { headers } = head;
  let text = `HTTP/1.1 ${head.status} ${toByteString(head.reason, true)}\r\n`;
  let lengthWritten = payloadBytes === undefined;
  const clean = !UNSAFE_IN_LINE.test(headers.join(''));
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index]!;
    let value = headers[index + 1]!;
    if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') continue;
    if (payloadBytes !== undefined && name.length === 14) {
      if (name.toLowerCase() === 'content-length') {
        if (lengthWritten) continue;
        lengthWritten = true;
        value = String(payloadBytes);
      }
    }
    text += clean
      ? `${name}: ${value}\r\n`
      : `${toByteString(name, true)}: ${toByteString(value, true)}\r\n`;
  }
  const bodiless = head.status < 200 || head.status === 204 || head.status === 304;
  if (!lengthWritten && !(bodiless && payloadBytes === 0)) {
    text += `Content-Length: ${payloadBytes}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
}

const UNSAFE_IN_LINE = /[\r\n\0]|[^\x00-\xff]/;
const LINE_BREAKS = /[\r\n\0]+/g;
const OUTSIDE_LATIN1 = /[^\x00-\xff]/;

/**
 * A string whose characters are bytes. Characters of Latin-1 are the bytes received; text with any other character did not come off
 * a wire as it is, and becomes UTF-8.
 * @param oneLine true to turn line ends and NUL into blanks, so that a value cannot end its header
 */
function toByteString(text: string, oneLine = false): string {
  const line = oneLine ? text.replace(LINE_BREAKS, ' ') : text;
  return OUTSIDE_LATIN1.test(line) ? Buffer.from(line, 'utf8').toString('latin1') : line;
}

/** A field value of ours as UTF-8 bytes on one line (WARC 1.1 §4: header values are UTF-8). */
function fieldText(text: string): string {
  return Buffer.from(text.replace(LINE_BREAKS, ' '), 'utf8').toString('latin1');
}

const OUTSIDE_URI = /[^\x21-\x7e]/;

/** A legal URI for a header: blanks, controls and what is not ASCII are percent-encoded as UTF-8 (RFC 3986 §2.1). */
function fieldUri(url: string): string {
  if (!OUTSIDE_URI.test(url)) return url;
  let text = '';
  for (const byte of Buffer.from(url, 'utf8')) {
    const plain = byte > 0x20 && byte < 0x7f;
    text += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

function addressField(address: string): string {
  return address === '' ? '' : `WARC-IP-Address: ${fieldText(address)}\r\n`;
}

function encodeWarcFields(fields: readonly (readonly [string, string])[]): Buffer {
  let text = '';
  for (const [name, value] of fields) text += `${name}: ${value.replace(LINE_BREAKS, ' ')}\r\n`;
  return text === '' ? NOTHING : Buffer.from(text, 'utf8');
}
