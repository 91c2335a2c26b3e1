// Kinds of what may be sent to some hosts beside the ordinary request (hostOverrides; step 9 of a URL's life): fields, a login, cookies.
// These are secrets as a rule: nothing here repeats a value in what it says, and redact-config.ts leaves them out of everything that is shown.
// Bounded as HTTP fields are; what frames the message, names its host or decides about caches is the fetcher's own.

import { isIP } from 'node:net';
import { parseProxy } from '../base/proxy-target.ts';
import { type Reading, text, type ValueKind } from './value-kind.ts';

/** Fields by name, as they are sent. */
export type RequestHeaders = Readonly<Record<string, string>>;

const FIELDS_MAX = 32;
const VALUE_MAX = 4_096;
/** token of RFC 9110 §5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** field-content of RFC 9110 §5.5, ASCII. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/**
 * Names that an operator may not set: RFC 9110 §7.2, §7.6.1, §8.6, §12.5.3, §13.1; RFC 9112 §6; the crawler's identity; and login and
 * cookies.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer', 'via'],
  ...['content-length', 'transfer-encoding', 'expect', 'range', 'accept-encoding', 'user-agent'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'],
  ...['authorization', 'proxy-authorization', 'cookie', 'http2-settings'],
]);
const EXPECTED =
  `an object of at most ${FIELDS_MAX} field names and printable ASCII values, none of which ` +
  'frames the request or has an option of its own (login, cookies)';

/** Further fields of a request. */
export const HEADERS: ValueKind<RequestHeaders> = {
  expected: EXPECTED,
  placeholder: '',
  isList: false,
  read: readHeaders,
  readText: () => ({ expected: EXPECTED }),
};

/** `user:password` (RFC 7617 §2: the user has no colon). */
export const LOGIN = text({
  expected: "'user:password' in visible ASCII",
  placeholder: 'USER:PASSWORD',
  parse: (value) =>
    /^[\x20-\x39\x3b-\x7e]{1,255}:[\x20-\x7e]{0,255}$/.test(value) ? value : undefined,
});

/** `name=value; name=value` (RFC 6265 §4.2.1). */
export const COOKIES = text({
  expected: "cookies as 'name=value; name=value'",
  placeholder: 'COOKIES',
  parse: (value) => {
    const pair = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e"]*$/;
    const isGood = value.length <= VALUE_MAX && value.split('; ').every((part) => pair.test(part));
    return isGood ? value : undefined;
  },
});

/** A proxy that takes CONNECT. */
export const PROXY = text({
  expected: "'http://ADDRESS:PORT' or 'http://user:password@ADDRESS:PORT', an address and no name",
  placeholder: 'http://ADDRESS:PORT',
  parse: (value) => {
    const proxy = parseProxy(value);
    return proxy !== undefined && isIP(proxy.host) !== 0 ? value : undefined;
  },
});

function readHeaders(value: unknown): Reading<RequestHeaders> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { expected: EXPECTED };
  }
  const fields = Object.entries(value);
  const isGood = fields.every(
    ([name, content]) =>
      NAME.test(name) &&
      !RESERVED.has(name.toLowerCase()) &&
      typeof content === 'string' &&
      content.length <= VALUE_MAX &&
      VALUE.test(content),
  );
  if (!isGood || fields.length > FIELDS_MAX) return { expected: EXPECTED };
  return { value: Object.fromEntries(fields) as RequestHeaders };
}
