// Where an operator's proxy is (hostOverrides `proxy`; step 9 of a URL's life), read the same by the configuration and by the fetcher.

/** A proxy that takes CONNECT. */
export interface ProxyTarget {
  /** A textual address: no name is looked up on a crawl thread. */
  readonly host: string;
  /** 1 … 65535. */
  readonly port: number;
  /** `user:password` for Basic authentication (RFC 7617). */
  readonly login: string | undefined;
}

const PROXY =
  /^http:\/\/(?:([^@/\s:]+:[^@/\s]*)@)?(localhost|[0-9.]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})\/?$/;

/** Reads `http://user:password@ADDRESS:PORT`. @returns undefined for anything else; whether ADDRESS is one is for the caller to see */
export function parseProxy(text: string): ProxyTarget | undefined {
  const parts = PROXY.exec(text);
  if (parts === null) return undefined;
  const [, login, name = '', digits] = parts;
  const port = Number(digits);
  if (port < 1 || port > 65_535) return undefined;
  const host = name === 'localhost' ? '127.0.0.1' : name.replace(/^\[|\]$/g, '');
  return { host, port, login };
}
