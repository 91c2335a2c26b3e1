// The least HTTP/1.1 a test server needs to read: a request head without a body. Everything else is refused, since a crawler sends
// nothing else; that makes it several times cheaper than a general parser, and the web must not cost more than the crawler it serves.

/** What the web looks at in a request. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** Host header as sent, without the port. */
  readonly host: string;
  readonly userAgent: string;
  readonly ifNoneMatch: string;
  readonly acceptsGzip: boolean;
  /** The client keeps the connection. */
  readonly keepsAlive: boolean;
}

/**
 * Reads a head.
 * @param text up to but without the empty line, latin1
 * @returns null when it is not `GET` or `HEAD` with a path, has no Host or announces a body
 */
export function parseRequestHead(text: string): RequestHead | null {
  const lineEnd = text.indexOf('\r\n');
  const line = lineEnd < 0 ? text : text.slice(0, lineEnd);
  const [method = '', path = '', version = '', rest] = line.split(' ');
  if ((method !== 'GET' && method !== 'HEAD') || rest !== undefined) return null;
  if (!path.startsWith('/') || !version.startsWith('HTTP/1.')) return null;
  const head = {
    method,
    path,
    host: '',
    userAgent: '',
    ifNoneMatch: '',
    acceptsGzip: false,
    keepsAlive: version === 'HTTP/1.1',
  };
  for (let at = line.length + 2; at < text.length; ) {
    const next = text.indexOf('\r\n', at);
    const end = next < 0 ? text.length : next;
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) return null;
    const value = text.slice(colon + 1, end).trim();
    if (!readHeader(head, text.slice(at, colon).toLowerCase(), value)) return null;
    at = end + 2;
  }
  return head.host === '' ? null : head;
}

type WritableHead = { -readonly [Key in keyof RequestHead]: RequestHead[Key] };

function readHeader(head: WritableHead, name: string, value: string): boolean {
  switch (name) {
    case 'host':
      head.host = value.replace(/:\d+$/, '');
      return true;
    case 'user-agent':
      head.userAgent = value;
      return true;
    case 'if-none-match':
      head.ifNoneMatch = value;
      return true;
    case 'accept-encoding':
      head.acceptsGzip = /\bgzip\b/i.test(value);
      return true;
    case 'connection':
      head.keepsAlive = !/\bclose\b/i.test(value);
      return true;
    case 'content-length':
      return value === '0';
    case 'transfer-encoding':
      return false;
    default:
      return true;
  }
}
