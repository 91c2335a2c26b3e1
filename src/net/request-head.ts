// The request as it is sent (step 9 of a URL's life): the fields we add, and the text of the whole head for the WARC record. undici
// writes the request line, Host and Connection itself; the text here repeats its form to the byte, and a test compares them on the wire.
// Identity is plain: the product token with a contact in User-Agent, From where the operator wants it (RFC 9110 §10.1.2, §10.1.5).

import { parseUrl } from '../base/parse-url.ts';
import { parseHttpDate } from '../domain/http-date.ts';
import { ACCEPT_ENCODING } from './content-decoding.ts';

/** Where a URL is asked for. */
export interface RequestTarget {
  /** Scheme, host and port if it is not the default one, as URL.origin. */
  readonly origin: string;
  readonly secure: boolean;
  /** Host as URL.hostname: an IPv6 literal in brackets. */
  readonly hostname: string;
  /** Value of the Host field. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
}

/** HTML first, everything else welcome: what is not wanted is decided by the answer's own type. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** entity-tag of RFC 9110 §8.8.3. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const ENTITY_TAG_MAX = 1_024;
/** URLs that need no rewriting: a lower-case ASCII name, perhaps a port without leading zeros, printable ASCII behind it. */
const PLAIN_URL = /^(https?):\/\/([a-z0-9._-]+)(?::([1-9]\d{0,4}))?(\/[\x21\x22\x24-\x7e]*)?$/;
/** A host whose last label is a number is an IPv4 address in some spelling: for the URL parser. */
const NUMERIC_HOST = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/;

/**
 * Takes a URL apart.
 * @param url absolute http(s) URL
 * @returns undefined when it is none; credentials in it are dropped; never throws
 */
export function requestTarget(url: string): RequestTarget | undefined {
  const plain = PLAIN_URL.exec(url);
  if (plain === null) return parsedTarget(url);
  const hostname = plain[2] as string;
  const secure = plain[1] === 'https';
  const defaultPort = secure ? 443 : 80;
  const port = plain[3] === undefined ? defaultPort : Number(plain[3]);
  // A default port is not written, one beyond 65535 is none.
  const isOdd = port > 65_535 || (plain[3] !== undefined && port === defaultPort);
  if (isOdd || NUMERIC_HOST.test(hostname)) return parsedTarget(url);
  const host = plain[3] === undefined ? hostname : `${hostname}:${plain[3]}`;
  const path = plain[4] ?? '/';
  return { origin: `${plain[1]}://${host}`, secure, hostname, host, port, path };
}

function parsedTarget(url: string): RequestTarget | undefined {
  const parsed = parseUrl(url);
  if (parsed === undefined) return undefined;
  const { origin, protocol, hostname, host, port, pathname, search } = parsed;
  const secure = protocol === 'https:';
  if ((!secure && protocol !== 'http:') || hostname === '') return undefined;
  const number = port === '' ? (secure ? 443 : 80) : Number(port);
  return { origin, secure, hostname, host, port: number, path: `${pathname}${search}` };
}

/**
 * The fields sent with every request, as a flat list.
 * @param from mail address for From; undefined leaves it out
 */
export function standingFields(userAgent: string, from: string | undefined): readonly string[] {
  const fields = ['User-Agent', userAgent, 'Accept', ACCEPT, 'Accept-Encoding', ACCEPT_ENCODING];
  if (from !== undefined) fields.push('From', from);
  return fields;
}

/**
 * The standing fields plus the validators that may be sent (RFC 9110 §13.1): an entity tag by its grammar and unchanged, a date that is one.
 * A malformed validator is left out: a full answer is better than a wrong "not modified".
 */
export function requestFields(
  standing: readonly string[],
  etag: string | undefined,
  lastModified: string | undefined,
): readonly string[] {
  if (etag === undefined && lastModified === undefined) return standing;
  const fields = [...standing];
  if (etag !== undefined && etag.length <= ENTITY_TAG_MAX && ENTITY_TAG.test(etag)) {
    fields.push('If-None-Match', etag);
  }
  if (lastModified !== undefined && parseHttpDate(lastModified) !== undefined) {
    fields.push('If-Modified-Since', lastModified);
  }
  return fields;
}

/** The head as undici 7 writes it for a GET on a kept connection, ending in an empty line. */
export function requestHead(target: RequestTarget, fields: readonly string[]): string {
  let text = `GET ${target.path} HTTP/1.1\r\nhost: ${target.host}\r\nconnection: keep-alive\r\n`;
  for (let index = 0; index < fields.length; index += 2) {
    text += `${fields[index]}: ${fields[index + 1]}\r\n`;
  }
  return `${text}\r\n`;
}
