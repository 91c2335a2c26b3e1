// Changing the crawl over HTTP (`--http-operate`): who may, and what. A browser can be made to send requests by any page its user visits,
// so a request has to show what such a page cannot: the token of this run, which lies in a file of mode 0600 and is kept by no cookie; a
// content type that another origin may not send without asking first (Fetch Standard, CORS-safelisted request-header); our own origin; and
// a Host that no DNS rebinding can produce. Every act goes through the verbs of the debug socket, is bounded as there, and is audited.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type AnswerServices, answerRequest } from './answer-request.ts';
import { isLoopback } from './http-address.ts';
import { type Answer, refused } from './operator.ts';
import { prepare } from './verb-table.ts';

/** Verbs that may be sent; what else there is stays with the debug socket. */
export const HTTP_VERBS: readonly string[] = [
  'pause',
  'resume',
  'delay',
  'block',
  'inject',
  'checkpoint',
];

/** Bytes of a request: room for a thousand URLs of ordinary length. */
export const OPERATE_BYTES_MAX = 262_144;
/** Words of a request; the verbs have narrower bounds of their own. */
const WORDS_MAX = 1_001;

/** Why a request is turned away before it is read. */
export interface OperateRefusal {
  readonly status: 401 | 403 | 415 | 421;
  readonly reason: string;
}

/** What a request has to match. */
export interface OperateAccess {
  /** The secret of this run, at least 32 characters. */
  readonly token: string;
  /** Where the server is bound. */
  readonly boundHost: string;
}

/** Judges the head of a request; undefined when it may be read. The token is compared in constant time. */
export function operateRefusal(
  access: OperateAccess,
  headers: IncomingHttpHeaders,
): OperateRefusal | undefined {
  if (!isHostTrusted(access.boundHost, headers.host)) {
    return { status: 421, reason: 'open the dashboard by its address: this name is not trusted' };
  }
  const site = headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin';
  if (isForeign || !isOwnOrigin(headers)) {
    return { status: 403, reason: 'this request comes from another site' };
  }
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
    return { status: 415, reason: 'send application/json' };
  }
  const given = /^Bearer ([\x21-\x7e]{1,200})$/.exec(headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digestOf(given), digestOf(access.token))) {
    return { status: 401, reason: 'the token is not that of this run; see DIR/http-token' };
  }
  return undefined;
}

/** Reads a request that was let in and does what it says. Never rejects. */
export async function operateByHttp(
  services: AnswerServices,
  request: IncomingMessage,
): Promise<Answer<unknown>> {
  const body = await bodyOf(request);
  const words = body === undefined ? undefined : wordsOf(body);
  if (words === undefined) {
    return refused('usage', 'send {"verb": …, "args": [texts]} of bounded length');
  }
  const [verb = '', ...args] = words;
  if (!HTTP_VERBS.includes(verb)) {
    return refused('unsupported', `over HTTP only ${HTTP_VERBS.join(', ')} may be sent`);
  }
  const prepared = prepare(verb, args);
  if (prepared.kind === 'refused') return prepared;
  const signal = new AbortController().signal;
  return answerRequest(services, { verb, args }, { tell: () => {}, signal });
}

/** Loopback names, textual addresses and the very name the server is bound to: none of them can be rebound to us by a stranger. */
function isHostTrusted(boundHost: string, header: string | undefined): boolean {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const name = match?.[1] ?? match?.[2];
  if (name === undefined) return false;
  return isLoopback(name) || (!isLoopback(boundHost) && (isIP(name) !== 0 || name === boundHost));
}

/** No Origin (a program), or one whose host is the Host that was asked. `null` is a stranger's. */
function isOwnOrigin({ origin, host }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return true;
  return origin === `http://${host}` || origin === `https://${host}`;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Undefined when it is too long or breaks off. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      length += (chunk as Buffer).length;
      if (length > OPERATE_BYTES_MAX) return undefined;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // The client went away in the middle: there is nothing to do.
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function wordsOf(body: string): string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { verb, args = [] } = value as { readonly verb?: unknown; readonly args?: unknown };
  if (typeof verb !== 'string' || !Array.isArray(args) || args.length >= WORDS_MAX)
    return undefined;
  const texts = args as unknown[];
  return texts.every((text) => typeof text === 'string') ? [verb, ...texts] : undefined;
}
