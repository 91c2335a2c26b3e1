// The rules about a single WARC record (ISO 28500:2017 §4–§6), for warc-check.ts. Each check takes the parsed record and reports by rule id;
// none throws, none trusts a length it did not compare with the bytes.

import { createHash } from 'node:crypto';
import { fieldValue, fieldValues, parseHeaderLines } from './header-lines.ts';
import { base32 } from './warc-digest.ts';

/** A record that could be delimited. */
export interface FoundRecord {
  /** WARC-Type in lower case, `''` when absent. */
  readonly type: string;
  readonly fields: readonly string[];
  readonly block: Buffer;
  /** Offset just after the record's two closing CRLFs. */
  readonly end: number;
}

type Report = (rule: string, text: string) => void;

const RECORD_END = Buffer.from('\r\n\r\n', 'latin1');
/** Types that must name their target (§5.13). */
const TARGET_REQUIRED = new Set([
  'response',
  'resource',
  'request',
  'revisit',
  'conversion',
  'continuation',
]);
/** Types that may not name a concurrent record (§5.7). */
const NO_CONCURRENT = new Set(['warcinfo', 'conversion', 'continuation']);
const REVISIT_PROFILES =
  /^http:\/\/netpreserve\.org\/warc\/1\.[01]\/(?:revisit\/)?(?:identical-payload-digest|server-not-modified)$/;
const DIGEST_LENGTHS: Readonly<Record<string, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha512: 64,
};

/**
 * Checks the record that begins at `start`.
 * @returns undefined when its end cannot be told, so that nothing after it can be judged
 */
export function checkRecord(bytes: Buffer, start: number, report: Report): FoundRecord | undefined {
  const versionLine = bytes.toString('latin1', start, start + 10);
  if (!/^WARC\/1\.[01]\r\n$/.test(versionLine)) {
    report('version-line', `the record begins with ${JSON.stringify(versionLine)}`);
    if (!versionLine.startsWith('WARC/')) return undefined;
  }
  const head = parseHeaderLines(bytes, start, 'utf8');
  if (head === undefined) {
    report('header-crlf', 'no empty line closes the header');
    return undefined;
  }
  if (hasBareLineFeed(bytes, start, head.end))
    report('header-crlf', 'a header line ends in a bare LF');
  const lengthText = fieldValue(head.fields, 'content-length');
  if (lengthText === undefined || !/^\d{1,15}$/.test(lengthText)) {
    report('content-length', `Content-Length is ${lengthText ?? 'missing'}`);
    return undefined;
  }
  const blockEnd = head.end + Number(lengthText);
  if (blockEnd > bytes.length) {
    report('content-length', `the block ends ${blockEnd - bytes.length} bytes early`);
    return undefined;
  }
  const type = (fieldValue(head.fields, 'warc-type') ?? '').toLowerCase();
  const block = bytes.subarray(head.end, blockEnd);
  const found = { type, fields: head.fields, block, end: blockEnd + RECORD_END.length };
  checkFields(found, versionLine.startsWith('WARC/1.0'), report);
  checkDigests(found, report);
  return checkEnd(bytes, blockEnd, report) ? found : undefined;
}

/** After the block come two CRLFs, then another record or the end. Anything else means that the length is wrong. */
function checkEnd(bytes: Buffer, blockEnd: number, report: Report): boolean {
  const close = bytes.subarray(blockEnd, blockEnd + RECORD_END.length);
  if (close.equals(RECORD_END)) {
    const follows = bytes.toString('latin1', blockEnd + 4, blockEnd + 9);
    if (follows === '' || follows === 'WARC/') return true;
    report('record-end', 'more than two CRLFs, or slack, after the block');
    return false;
  }
  const later = bytes.indexOf('\r\n\r\nWARC/', blockEnd, 'latin1');
  const slack = (later < 0 ? bytes.length - RECORD_END.length : later) - blockEnd;
  if (slack > 0) report('content-length', `the block has ${slack} bytes more than Content-Length`);
  report('record-end', 'the block is not followed by two CRLFs');
  return false;
}

function hasBareLineFeed(bytes: Buffer, start: number, end: number): boolean {
  for (let at = bytes.indexOf(10, start); at >= 0 && at < end; at = bytes.indexOf(10, at + 1)) {
    if (at === start || bytes[at - 1] !== 13) return true;
  }
  return false;
}

function checkFields(found: FoundRecord, isVersion10: boolean, report: Report): void {
  const { type, fields } = found;
  const value = (name: string): string | undefined => fieldValue(fields, name);
  if (type === '') report('type', 'WARC-Type is missing');
  const id = value('warc-record-id');
  if (id === undefined || !isBracketedUri(id)) {
    report('record-id', `WARC-Record-ID is ${id ?? 'missing'}`);
  }
  checkDate(value('warc-date'), isVersion10, report);
  const target = value('warc-target-uri');
  if (TARGET_REQUIRED.has(type) && target === undefined) {
    report('target-uri-required', `a ${type} record has no WARC-Target-URI`);
  }
  if (type === 'warcinfo' && target !== undefined) {
    report('target-uri-required', 'a warcinfo record has a WARC-Target-URI');
  }
  if (target !== undefined && !/^<?[A-Za-z][\w+.-]*:[^\s<>]*>?$/.test(target)) {
    report('target-uri', `WARC-Target-URI is ${JSON.stringify(target)}`);
  }
  checkConcurrent(found, report);
  checkContentType(found, report);
  if (type === 'revisit' && !REVISIT_PROFILES.test(value('warc-profile') ?? '')) {
    report('revisit-profile', `WARC-Profile is ${value('warc-profile') ?? 'missing'}`);
  }
  const truncated = value('warc-truncated');
  if (truncated !== undefined && !/^(?:length|time|disconnect|unspecified)$/.test(truncated)) {
    report('truncated', `WARC-Truncated is ${truncated}`);
  }
}

/** In angle brackets, a scheme, no blanks (§5.2; RFC 3986 §3). */
function isBracketedUri(text: string): boolean {
  return /^<[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x3b\x3d\x3f-\x7e]+>$/.test(text);
}

/** W3CDTF in UTC (§5.4); fractions only in 1.1. */
function checkDate(date: string | undefined, isVersion10: boolean, report: Report): void {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/.exec(date ?? '');
  const instant = match === null ? Number.NaN : Date.parse(`${match[1]}Z`);
  if (match === null || Number.isNaN(instant)) {
    report('date', `WARC-Date is ${date ?? 'missing'}`);
    return;
  }
  if (new Date(instant).toISOString().slice(0, 19) !== match[1])
    report('date', `${date} is no date`);
  if (isVersion10 && match[2] !== undefined) report('date', `${date} has a fraction in WARC/1.0`);
}

function checkConcurrent(found: FoundRecord, report: Report): void {
  const targets = fieldValues(found.fields, 'warc-concurrent-to');
  if (targets === '') return;
  if (NO_CONCURRENT.has(found.type)) {
    report('concurrent-to', `a ${found.type} record has WARC-Concurrent-To`);
  }
  if (!targets.split(', ').every(isBracketedUri)) {
    report('concurrent-to', `WARC-Concurrent-To is ${targets}`);
  }
}

function checkContentType(found: FoundRecord, report: Report): void {
  const { type, fields, block } = found;
  const contentType = (fieldValue(fields, 'content-type') ?? '').toLowerCase().replace(/\s/g, '');
  const target = fieldValue(fields, 'warc-target-uri') ?? '';
  const isHttp = /^<?https?:/i.test(target) && block.length > 0;
  if ((type === 'response' || type === 'revisit') && isHttp) {
    if (!/^application\/http;msgtype="?response"?$/.test(contentType)) {
      report('http-content-type', `Content-Type is ${contentType}`);
    }
  }
  if (
    type === 'request' &&
    isHttp &&
    !/^application\/http;msgtype="?request"?$/.test(contentType)
  ) {
    report('http-content-type', `Content-Type is ${contentType}`);
  }
  if (type === 'warcinfo' && contentType !== 'application/warc-fields') {
    report('warcinfo-first', `Content-Type of warcinfo is ${contentType}`);
  }
  if (type === 'warcinfo' && !/^format:/im.test(block.toString('utf8'))) {
    report('warcinfo-first', 'warcinfo names no format');
  }
}

function checkDigests(found: FoundRecord, report: Report): void {
  const { type, fields, block } = found;
  const blockDigest = fieldValue(fields, 'warc-block-digest');
  if (blockDigest !== undefined && digestHolds(blockDigest, block) === false) {
    report('block-digest', `${blockDigest} is not the digest of the block`);
  }
  const payloadDigest = fieldValue(fields, 'warc-payload-digest');
  if (payloadDigest === undefined || type === 'revisit') return;
  if (type === 'warcinfo' || type === 'metadata') {
    report('payload-digest', `a ${type} record has no payload to digest`);
    return;
  }
  const payload = payloadOf(found);
  if (type === 'request' && payload.length === 0) {
    report('payload-digest', 'a request without body has no payload to digest');
  }
  if (digestHolds(payloadDigest, payload) === false) {
    report('payload-digest', `${payloadDigest} is not the digest of the payload`);
  }
}

/**
 * The HTTP entity body, or the block of a record that holds no HTTP message. The payload is what remains after the transfer coding is
 * removed (§5.9), so a digest over chunked bytes is wrong even where the block was archived chunked.
 */
function payloadOf(found: FoundRecord): Buffer {
  const contentType = fieldValue(found.fields, 'content-type') ?? '';
  if (!/^application\/http\b/i.test(contentType)) return found.block;
  const head = parseHeaderLines(found.block, 0, 'latin1');
  if (head === undefined) return found.block.subarray(found.block.length);
  const entity = found.block.subarray(head.end);
  const isChunked = /\bchunked\b/i.test(fieldValues(head.fields, 'transfer-encoding'));
  return (isChunked ? removeChunks(entity) : undefined) ?? entity;
}

/** The data of a chunked body (RFC 9112 §7.1); undefined when it is not one, as when a writer removed the chunks but kept the header. */
function removeChunks(entity: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = entity.indexOf('\r\n', at, 'latin1');
    if (lineEnd < 0 || lineEnd - at > 1_000) return undefined;
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i.exec(entity.toString('latin1', at, lineEnd));
    if (size === null) return undefined;
    const bytes = Number.parseInt(size[1]!, 16);
    if (bytes === 0) return Buffer.concat(parts);
    const from = lineEnd + 2;
    if (entity.toString('latin1', from + bytes, from + bytes + 2) !== '\r\n') return undefined;
    parts.push(entity.subarray(from, from + bytes));
    at = from + bytes + 2;
  }
}

/** Whether a labelled digest (base32 or hexadecimal) is that of the bytes; undefined for algorithms that are not known here. */
function digestHolds(labelled: string, bytes: Buffer): boolean | undefined {
  const colon = labelled.indexOf(':');
  const algorithm = labelled.slice(0, Math.max(0, colon)).toLowerCase().replace('-', '');
  const length = DIGEST_LENGTHS[algorithm];
  if (colon < 0 || length === undefined) return colon < 0 ? false : undefined;
  const digest = createHash(algorithm).update(bytes).digest();
  const value = labelled.slice(colon + 1);
  if (value.length === length * 2) return value.toLowerCase() === digest.toString('hex');
  return value.toUpperCase().replace(/=+$/, '') === base32(digest);
}
