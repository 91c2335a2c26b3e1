// What went wrong with a request, in the words of the failure table (domain/failure.ts): the one place where errors of sockets, TLS and
// undici are translated. Step 9 of a URL's life. Only the kind is acted upon; the text is for people and cut to 200 characters.

import type { FailureKind } from '../domain/failure.ts';

/** Longest `detail` of a FetchFailure, in characters (ports.ts). */
export const DETAIL_CHARACTERS_MAX = 200;

/** An error that already knows its kind. It carries no undici code, so that undici hands it on to the request instead of reconnecting. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly kind: FailureKind;
  /** The address that was being tried, if any. */
  readonly address: string | undefined;

  constructor(kind: FailureKind, detail: string, address?: string) {
    super(detail);
    this.kind = kind;
    this.address = address;
  }
}

/** Errors of system calls that are our own shortage, not the host's fault (errno(3)): descriptors, ports, buffers. */
const OWN_SHORTAGE = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** The code of an error of a socket, of TLS or of undici; empty when it has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** The text of anything thrown, cut to what a failure may carry. */
export function errorDetail(error: unknown): string {
  const text = error instanceof Error ? error.message || errorCode(error) : String(error);
  return text.slice(0, DETAIL_CHARACTERS_MAX);
}

/** The kind of an error that came before the TCP connection stood. */
export function connectFailureKind(error: unknown): FailureKind {
  const code = errorCode(error);
  if (code === 'ECONNREFUSED') return 'connect-refused';
  if (code === 'ETIMEDOUT') return 'connect-timeout';
  if (OWN_SHORTAGE.has(code)) return 'aborted';
  return 'connect-failed';
}

/** The kind of an error between the TCP connection and the end of the TLS handshake. */
export function handshakeFailureKind(error: unknown): FailureKind {
  const code = errorCode(error);
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'reset' : 'tls-failed';
}

/** The kind of an error once the request was on its way. */
export function exchangeFailureKind(error: unknown): FailureKind {
  if (error instanceof FetchError) return error.kind;
  if (isParserError(error)) return 'protocol-error';
  const code = errorCode(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers-too-large';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (code === 'ETIMEDOUT') return 'timeout';
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'aborted';
  if (code.startsWith('ERR_SSL')) return 'tls-failed';
  if (code === 'ERR_ASSERTION' || code.startsWith('UND_ERR_INVALID')) return 'protocol-error';
  return 'reset';
}

/** True when the connection ended under a message that was well-formed so far, as against one that broke the protocol. */
export function isDisconnect(error: unknown): boolean {
  if (error instanceof FetchError) return false;
  // llhttp calls the end of input within a chunked or counted message an invalid state at its end.
  if (isParserError(error)) return /EOF|end of/i.test((error as Error).message);
  const code = errorCode(error);
  return code !== 'UND_ERR_HEADERS_OVERFLOW' && exchangeFailureKind(error) === 'reset';
}

function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError';
}
