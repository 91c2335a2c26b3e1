// A tunnel through an operator's proxy (hostOverrides `proxy`; step 9): CONNECT of RFC 9110 §9.3.6, for http and https alike, so that the proxy
// sees bytes and not requests. It is told the address that we resolved and the guard has admitted, never the name: what may be reached is
// decided here (I13), and the proxy's own address is the operator's word. Nothing here starts a timer; the owner of the socket ends it.

import { isIPv6, type Socket } from 'node:net';
import type { ProxyTarget } from '../base/proxy-target.ts';

/** The head of an answer to CONNECT; proxies add a few fields. */
const HEAD_BYTES_MAX = 8_192;
const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})/;

/**
 * Asks the proxy at the other end of a connected socket for a way to an address.
 * @param done called once, unless the socket ends before: undefined when the tunnel stands, else why not. No byte behind the head is lost: a
 *   proxy that sends one is refused, since nobody behind it was asked anything yet
 */
export function openTunnel(
  socket: Socket,
  to: { readonly address: string; readonly port: number },
  proxy: ProxyTarget,
  done: (problem: string | undefined) => void,
): void {
  let head = Buffer.alloc(0);
  const read = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
      head = Buffer.concat([head, chunk as Buffer]);
      const end = head.indexOf(HEAD_END);
      if (end === -1 && head.length <= HEAD_BYTES_MAX) continue;
      socket.removeListener('readable', read);
      done(end === -1 ? 'its answer has no end' : problemOf(head, end + HEAD_END.length));
      return;
    }
  };
  socket.on('readable', read);
  const address = isIPv6(to.address) ? `[${to.address}]` : to.address;
  const authority = `${address}:${to.port}`;
  const login =
    proxy.login === undefined
      ? ''
      : `Proxy-Authorization: Basic ${Buffer.from(proxy.login, 'latin1').toString('base64')}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`);
}

function problemOf(head: Buffer, end: number): string | undefined {
  const line = head.subarray(0, end).toString('latin1').split('\r\n')[0] ?? '';
  const status = STATUS_LINE.exec(line)?.[1];
  if (status === undefined) return 'it does not speak HTTP';
  if (!status.startsWith('2')) return `it answered ${status}`;
  return head.length > end ? 'it sent more than was asked for' : undefined;
}
