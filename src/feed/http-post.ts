// One POST of NDJSON to somebody else's server, with its answers sorted by what a sink does about them: taken, busy, or refused for good.

import { CrawlError } from '../base/errors.ts';
import { SinkBusy } from './sink.ts';

const TIMEOUT_MS = 60_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Statuses that may pass: RFC 9110 §15.5.9, RFC 6585 §4, and all of 5xx. */
const BUSY = new Set([408, 425, 429]);

/**
 * @param url where to; credentials in it are sent as Basic authorization
 * @returns the answer's text, for a status of 2xx
 * @throws SinkBusy when it may work later; CrawlError config for another answer
 */
export async function postLines(url: URL, lines: string): Promise<string> {
  const headers: Record<string, string> = { 'content-type': 'application/x-ndjson' };
  const target = new URL(url);
  if (target.username !== '') {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
    target.username = '';
    target.password = '';
  }
  const answer = await send(target, { method: 'POST', headers, body: lines });
  const { status } = answer;
  if (status >= 200 && status < 300) return readText(target, answer);
  await answer.body?.cancel();
  const text = `${target.host} answers ${status}`;
  if (BUSY.has(status) || status >= 500) throw new SinkBusy(text, retryAfterMs(answer));
  throw new CrawlError('config', text, {
    remedy: 'Check the address and what the server expects; the feed goes on from here.',
  });
}

async function send(target: URL, request: RequestInit): Promise<Response> {
  try {
    return await fetch(target, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw new SinkBusy(`${target.host}: ${reasonOf(error)}`);
  }
}

async function readText(target: URL, answer: Response): Promise<string> {
  const length = Number(answer.headers.get('content-length') ?? 0);
  if (length > ANSWER_BYTES_MAX) throw new SinkBusy(`${target.host} answers ${length} bytes`);
  try {
    return await answer.text();
  } catch (error) {
    throw new SinkBusy(`${target.host}: ${reasonOf(error)}`);
  }
}

function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? Math.max(seconds, 0) * 1_000 : 0;
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
