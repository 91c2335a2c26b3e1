// Kinds of text that options take: patterns, networks, addresses, domains, User-Agents. Each check is as strict as its user in the crawl, so
// that a wrong value is refused here, in one line, and not later in a thread. Invariants: never throws; linear time but for the operator's
// own regular expressions, which are only compiled.

import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { parseUrl } from '../base/parse-url.ts';
import { text } from './value-kind.ts';

/** Longest path a Unix socket can be bound to, in bytes: `sun_path` has 108 with the final NUL (unix(7)). */
export const SOCKET_PATH_BYTES_MAX = 107;

/** Visible ASCII with single spaces, as a field value may have it (RFC 9110 §5.5). */
const FIELD_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const MAIL = /^[^\s@()<>,;:"[\]\\]+@[^\s@()<>,;:"[\]\\]+$/;

/** A path; not checked here. */
export const PATH = text({
  expected: 'a path',
  placeholder: 'FILE',
  parse: (value) => (value.length > 0 && !value.includes('\0') ? value : undefined),
});

/** A path of a folder; not checked here. */
export const DIRECTORY = { ...PATH, placeholder: 'DIR' };

/** A path that a Unix socket can be bound to. */
export const SOCKET_PATH = text({
  expected: `a path of at most ${SOCKET_PATH_BYTES_MAX} bytes, the longest a Unix socket can have`,
  placeholder: 'PATH',
  parse: (value) => {
    const isShort = Buffer.byteLength(value) <= SOCKET_PATH_BYTES_MAX;
    return isShort && value.length > 0 && !value.includes('\0') ? value : undefined;
  },
});

/** The name of a node, also of a folder. */
export const NODE_NAME = text({
  expected: 'a name of letters, digits, dots and hyphens (at most 63)',
  placeholder: 'NAME',
  parse: (value) => (/^[a-z0-9][a-z0-9.-]{0,62}$/i.test(value) ? value : undefined),
});

/** A regular expression, compiled with the flag `u`. */
export const PATTERN = text({
  expected: 'a JavaScript regular expression (flag u)',
  placeholder: 'RE',
  parse: (value) => {
    try {
      new RegExp(value, 'u');
      return value;
    } catch {
      return undefined;
    }
  },
});

/** A User-Agent (RFC 9110 §10.1.5). */
export const USER_AGENT = text({
  expected: 'a User-Agent of 1 to 512 visible ASCII characters and spaces',
  placeholder: 'STR',
  parse: (value) => (value.length <= 512 && FIELD_VALUE.test(value) ? value : undefined),
});

/** Where a site's owner reaches the operator; it goes into the User-Agent in parentheses, hence none inside. */
export const CONTACT = text({
  expected: 'an http(s) URL or a mail address, without spaces or parentheses',
  placeholder: 'URL|MAIL',
  parse: (value) => {
    if (value.length > 256 || !FIELD_VALUE.test(value) || /[\s()]/.test(value)) return undefined;
    if (/^https?:\/\//i.test(value)) return parseUrl(value) === undefined ? undefined : value;
    return MAIL.test(value.replace(/^mailto:/i, '')) ? value : undefined;
  },
});

/** A mail address for the From field (RFC 9110 §10.1.2). */
export const MAIL_ADDRESS = text({
  expected: 'a mail address',
  placeholder: 'MAIL',
  parse: (value) =>
    value.length <= 254 && FIELD_VALUE.test(value) && MAIL.test(value) ? value : undefined,
});

/** A network in CIDR notation, or one address. */
export const NETWORK = text({
  expected: 'a network in CIDR notation such as 10.0.0.0/8 or fd00::/8',
  placeholder: 'CIDR',
  parse: (value) => (isNetwork(value) ? value : undefined),
});

function isNetwork(value: string): boolean {
  const slash = value.indexOf('/');
  const address = slash === -1 ? value : value.slice(0, slash);
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0) return false;
  if (slash === -1) return true;
  const prefix = value.slice(slash + 1);
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** Address and port of a DNS server. A name would need a resolver to find the resolver. */
export const DNS_SERVER = text({
  expected: 'a DNS server as address or address:port, such as 127.0.0.1:5353 or [::1]:53',
  placeholder: 'HOST:PORT',
  parse: (value) => {
    const local = value.replace(/^localhost(?=:|$)/i, '127.0.0.1');
    if (isIP(local) !== 0) return local;
    const endpoint = parseEndpoint(local);
    return endpoint !== undefined && isIP(endpoint.host) !== 0 && endpoint.port > 0
      ? local
      : undefined;
  },
});

/** Where to listen. */
export const ENDPOINT = text({
  expected: 'host:port, such as 127.0.0.1:8080 or [::1]:8080 (port 0: any free one)',
  placeholder: 'HOST:PORT',
  parse: (value) => (parseEndpoint(value) === undefined ? undefined : value),
});

/**
 * Takes `host:port` apart.
 * @returns host without brackets, port 0 … 65,535; undefined when it is none
 */
export function parseEndpoint(
  value: string,
): { readonly host: string; readonly port: number } | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(value);
  if (parts === null || Number(parts[3]) > 65_535) return undefined;
  const [, bracketed, plain] = parts;
  if (bracketed !== undefined) {
    return isIPv6(bracketed) ? { host: bracketed, port: Number(parts[3]) } : undefined;
  }
  const isBadAddress = /^[\d.]+$/.test(plain as string) && !isIPv4(plain as string);
  return isBadAddress ? undefined : { host: plain as string, port: Number(parts[3]) };
}

/** A domain: itself and everything below it. Kept in lower case, IDN as Punycode. */
export const DOMAIN = text({
  expected: 'a domain such as example.com (it covers all hosts below it)',
  placeholder: 'DOMAIN',
  parse: parseDomain,
});

/** A host, or with `*.` in front all hosts below a domain. */
export const HOST_PATTERN = text({
  expected: 'a host such as www.example.com, or *.example.com for all hosts below a domain',
  placeholder: 'PATTERN',
  parse: (value) => {
    if (!value.startsWith('*.')) return parseDomain(value);
    const domain = parseDomain(value.slice(2));
    return domain === undefined ? undefined : `*.${domain}`;
  },
});

function parseDomain(value: string): string | undefined {
  if (value.length === 0 || value.length > 253 || /[\s/:@?#*\\]/.test(value)) {
    return isIPv6(value) ? `[${value}]` : undefined;
  }
  const name = domainToASCII(value.replace(/\.$/, ''));
  return name === '' ? undefined : name;
}

/** The name of a query parameter; a final `*` stands for any ending. */
export const PARAMETER_NAME = text({
  expected: 'the name of a query parameter, perhaps ending in * for any ending',
  placeholder: 'NAME',
  parse: (value) => (/^[^\s*&=#]{1,100}\*?$/.test(value) ? value.toLowerCase() : undefined),
});

/** Hours of the day in UTC (domain/permitted-hours.ts reads them). */
export const DAY_HOURS = text({
  expected: 'hours of the day in UTC such as 22:00-06:00',
  placeholder: 'HH:MM-HH:MM',
  parse: (value) => {
    const isHours = /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(value);
    return isHours && value.slice(0, 5) !== value.slice(6) ? value : undefined;
  },
});
