// How the fetcher treats connections: kept, reused, bounded, given up; what it sends; when it says so.

import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { FetchOutcome } from '../../../src/actors/ports.ts';
import { AddressGuard } from '../../../src/net/address-guard.ts';
import { FETCH_LIMITS } from '../../../src/net/fetch-limits.ts';
import type { UndiciFetcher, UndiciFetcherOptions } from '../../../src/net/undici-fetcher.ts';
import {
  failureOf,
  fetchOnce,
  loopbackFetcher,
  requestFor,
  responseOf,
  USER_AGENT,
} from '../../support/fetching.ts';
import {
  page,
  type Script,
  ScriptedServer,
  type SeenRequest,
} from '../../support/scripted-server.ts';

async function using(
  context: TestContext,
  script: Script,
  options: Partial<UndiciFetcherOptions> = {},
): Promise<{ server: ScriptedServer; fetcher: UndiciFetcher }> {
  const server = await ScriptedServer.listen(script);
  const fetcher = loopbackFetcher(options);
  context.after(async () => {
    fetcher.close();
    await server.close();
  });
  return { server, fetcher };
}

const answering: Script = { onRequest: (socket) => socket.write(page('<p>hello</p>')) };

test('UndiciFetcher.start sends no login to a host for a page of another host', async (t) => {
  const settingsOf = () => ({ login: 'bot:secret', cookies: 'a=b' });
  const { server, fetcher } = await using(t, answering, { settingsOf });
  await fetchOnce(fetcher, server.url('/own'), { purpose: 'resource' });
  await fetchOnce(fetcher, server.url('/foreign'), { purpose: 'resource', isForeign: true });
  const sent = server.requests.map(({ head }) => /^(authorization|cookie):/im.test(head));
  deepStrictEqual(sent, [true, false]);
});

test('UndiciFetcher.start reports the request head to the byte, and sends who we are', async (t) => {
  const { server, fetcher } = await using(t, answering, { from: 'crawl@example.org' });
  const response = responseOf(
    await fetchOnce(fetcher, server.url('/a?b=[c]|d'), {
      etag: 'W/"v1"',
      lastModified: 'Wed, 21 Oct 2015 07:28:00 GMT',
    }),
  );
  strictEqual(response.requestHead, server.requests[0]?.head);
  const lines = response.requestHead.split('\r\n');
  strictEqual(lines[0], 'GET /a?b=[c]|d HTTP/1.1');
  for (const line of [
    `host: 127.0.0.1:${server.port}`,
    `User-Agent: ${USER_AGENT}`,
    'From: crawl@example.org',
    'If-None-Match: W/"v1"',
    'If-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT',
  ]) {
    ok(lines.includes(line), line);
  }
  ok(/^Accept-Encoding: gzip, deflate, br/m.test(response.requestHead));
});

test('UndiciFetcher.start delivers the head as received', async (t) => {
  const head =
    'HTTP/1.1 404 Nicht  gefunden \xfc\r\nX-Mixed-CASE:  caf\xe9 \r\nx-mixed-case: 2\r\nContent-Length: 0\r\n\r\n';
  const { server, fetcher } = await using(t, {
    onRequest: (socket) => socket.write(Buffer.from(head, 'latin1')),
  });
  const response = responseOf(await fetchOnce(fetcher, server.url()));
  strictEqual(response.status, 404);
  strictEqual(response.reason, 'Nicht  gefunden \xfc');
  deepStrictEqual(response.headers, [
    'X-Mixed-CASE',
    'caf\xe9',
    'x-mixed-case',
    '2',
    'Content-Length',
    '0',
  ]);
  strictEqual(response.address, '127.0.0.1');
  strictEqual(response.body, response.payload);
});

test('UndiciFetcher.start keeps one connection to a host over many requests', async (t) => {
  const { server, fetcher } = await using(t, answering);
  for (let round = 0; round < 20; round += 1) {
    const response = responseOf(await fetchOnce(fetcher, server.url(`/${round}`)));
    strictEqual(Buffer.from(response.body).toString(), '<p>hello</p>');
  }
  strictEqual(server.connections, 1);
  strictEqual(server.requests.length, 20);
});

test('UndiciFetcher.start takes the next address when one cannot be reached', async (t) => {
  const { server, fetcher } = await using(t, answering);
  const url = server.url().replace('127.0.0.1', 'two.test');
  // Nothing listens on 127.0.0.2.
  const response = responseOf(
    await fetchOnce(fetcher, url, { addresses: ['127.0.0.2', '127.0.0.1'] }),
  );
  strictEqual(response.address, '127.0.0.1');
  const failure = failureOf(
    await fetchOnce(fetcher, url.replace('two', 'three'), { addresses: ['127.0.0.2'] }),
  );
  strictEqual(failure.failure, 'connect-refused');
  strictEqual(failure.address, '127.0.0.2');
});

test('UndiciFetcher.start connects anew when the address is no longer among those resolved', async (t) => {
  const { server, fetcher } = await using(t, answering);
  const url = server.url().replace('127.0.0.1', 'moving.test');
  responseOf(await fetchOnce(fetcher, url));
  responseOf(await fetchOnce(fetcher, url, { addresses: ['127.0.0.2', '127.0.0.1'] }));
  strictEqual(server.connections, 1);
  strictEqual(
    failureOf(await fetchOnce(fetcher, url, { addresses: ['127.0.0.2'] })).failure,
    'connect-refused',
  );
});

test('UndiciFetcher.start connects to no address the guard forbids, whatever the resolver said (DNS rebinding)', async (t) => {
  const { server, fetcher } = await using(t, answering, {
    guard: new AddressGuard(['127.0.0.1/32']),
  });
  for (const address of [
    '127.0.0.3',
    '169.254.169.254',
    '::1',
    '10.0.0.5',
    '0.0.0.0',
    'localhost',
    '',
  ]) {
    const url = `http://public.test:${server.port}/`;
    const failure = failureOf(await fetchOnce(fetcher, url, { addresses: [address] }));
    strictEqual(failure.failure, 'address-forbidden', address);
  }
  strictEqual(server.connections, 0);
  const url = `http://public.test:${server.port}/`;
  responseOf(await fetchOnce(fetcher, url, { addresses: ['10.0.0.5', '127.0.0.1'] }));
});

test('UndiciFetcher.start uses a new connection when the server closed the kept one just then (http-320)', async (t) => {
  const { server, fetcher } = await using(t, {
    onRequest: (socket, { connection, nth }) => {
      if (connection === 0 && nth === 1) socket.destroy();
      else socket.write(page('ok'));
    },
  });
  responseOf(await fetchOnce(fetcher, server.url('/1')));
  strictEqual(responseOf(await fetchOnce(fetcher, server.url('/2'))).status, 200);
  strictEqual(server.connections, 2);
  strictEqual(server.requests.length, 3);
});

test('UndiciFetcher.start repeats a request neither twice nor on a fresh connection', async (t) => {
  const { server, fetcher } = await using(t, {
    onRequest: (socket, { nth, connection }) => {
      if (connection === 0 && nth === 0) socket.write(page('ok'));
      else socket.destroy();
    },
  });
  responseOf(await fetchOnce(fetcher, server.url('/1')));
  strictEqual(failureOf(await fetchOnce(fetcher, server.url('/2'))).failure, 'reset');
  strictEqual(server.requests.length, 3);
  strictEqual(failureOf(await fetchOnce(fetcher, server.url('/3'))).failure, 'reset');
  strictEqual(server.requests.length, 4);
});

test('UndiciFetcher.start survives a server that promises to keep a connection and closes it (http-354)', async (t) => {
  const closing: Script = {
    onRequest: (socket) => socket.end(page('ok', 'Connection: keep-alive\r\n')),
  };
  const { server, fetcher } = await using(t, closing);
  for (let round = 0; round < 5; round += 1) {
    strictEqual(responseOf(await fetchOnce(fetcher, server.url())).status, 200);
  }
  // Asked at once, before the end is seen, a request may be lost on the dying connection and is then sent once more.
  ok(server.requests.length < 10, `${server.requests.length} requests`);
});

test('UndiciFetcher.start never takes bytes behind one answer for the next one', async (t) => {
  const { server, fetcher } = await using(t, {
    onRequest: (socket, { nth, connection }) => {
      const extra = page('stolen');
      socket.write(nth === 0 && connection === 0 ? page('first') + extra : page('second'));
    },
  });
  strictEqual(
    Buffer.from(responseOf(await fetchOnce(fetcher, server.url('/1'))).body).toString(),
    'first',
  );
  strictEqual(
    Buffer.from(responseOf(await fetchOnce(fetcher, server.url('/2'))).body).toString(),
    'second',
  );
  strictEqual(server.connections, 2);
});

test('UndiciFetcher.start does not reconnect for ever to a server that speaks first and closes (http-322)', async (t) => {
  for (const greeting of ['SSH-2.0-x\r\n', page('too early')]) {
    const { server, fetcher } = await using(t, { onConnect: (socket) => socket.end(greeting) });
    const outcome = await fetchOnce(fetcher, server.url());
    if (outcome.kind === 'response') strictEqual(Buffer.from(outcome.body).toString(), 'too early');
    ok(server.connections <= 3, `${server.connections} connections`);
  }
});

test('UndiciFetcher.release closes an idle connection and no busy one', async (t) => {
  const { server, fetcher } = await using(t, answering);
  responseOf(await fetchOnce(fetcher, server.url()));
  const open = fetchOnce(fetcher, server.url());
  fetcher.release(`http://127.0.0.1:${server.port}`);
  responseOf(await open);
  strictEqual(server.connections, 1);
  fetcher.release(`http://127.0.0.1:${server.port}`);
  fetcher.release('http://unknown.test');
  strictEqual(fetcher.clients, 0);
  responseOf(await fetchOnce(fetcher, server.url()));
  strictEqual(server.connections, 2);
});

test('UndiciFetcher keeps no more idle clients than its limit, and closes the least recently used', async (t) => {
  const { server, fetcher } = await using(t, answering, { limits: { clientsMax: 4 } });
  const url = (index: number): string => `http://h${index}.test:${server.port}/`;
  for (let index = 0; index < 12; index += 1) responseOf(await fetchOnce(fetcher, url(index)));
  strictEqual(fetcher.clients, 4);
  strictEqual(server.connections, 12);
  responseOf(await fetchOnce(fetcher, url(8)));
  strictEqual(server.connections, 12);
  const together = Array.from({ length: 10 }, (_, index) => fetchOnce(fetcher, url(20 + index)));
  for (const outcome of await Promise.all(together)) responseOf(outcome);
  ok(fetcher.clients <= 10);
});

test('UndiciFetcher.abort ends a request in every phase, once, and ignores unknown ids', async (t) => {
  const sockets: Socket[] = [];
  const { server, fetcher } = await using(t, {
    onRequest: (socket, { head }: SeenRequest) => {
      sockets.push(socket);
      if (head.startsWith('GET /head ')) socket.write('HTTP/1.1 200 OK\r\n');
      if (head.startsWith('GET /body '))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc');
    },
  });
  for (const path of ['/now', '/silent', '/head', '/body']) {
    const outcomes: FetchOutcome[] = [];
    const request = requestFor(server.url(path));
    const before = server.requests.length;
    await new Promise<void>((resolve) => {
      fetcher.start(request, (outcome) => {
        outcomes.push(outcome);
        resolve();
      });
      strictEqual(outcomes.length, 0);
      const abort = (): void => {
        if (path !== '/now' && server.requests.length === before) setImmediate(abort);
        else fetcher.abort(request.fetchId);
      };
      abort();
    });
    fetcher.abort(request.fetchId);
    fetcher.abort(-1);
    strictEqual(failureOf(outcomes[0] as FetchOutcome).failure, 'aborted', path);
    strictEqual(outcomes.length, 1);
    strictEqual(fetcher.size, 0);
  }
});

test('UndiciFetcher.close ends all requests as aborted, later ones too', async (t) => {
  const { server, fetcher } = await using(t, {});
  const open = [fetchOnce(fetcher, server.url()), fetchOnce(fetcher, 'http://other.test/')];
  fetcher.close();
  for (const outcome of await Promise.all(open)) strictEqual(failureOf(outcome).failure, 'aborted');
  strictEqual(failureOf(await fetchOnce(fetcher, server.url())).failure, 'aborted');
});

test('UndiciFetcher.start asks mayRequest before connecting and again before sending', async (t) => {
  let answers = [false];
  const { server, fetcher } = await using(t, answering, {
    mayRequest: () => answers.shift() ?? true,
  });
  strictEqual(failureOf(await fetchOnce(fetcher, server.url())).failure, 'aborted');
  strictEqual(server.connections, 0);
  answers = [true, false];
  strictEqual(failureOf(await fetchOnce(fetcher, server.url())).failure, 'aborted');
  strictEqual(server.requests.length, 0);
  responseOf(await fetchOnce(fetcher, server.url()));
});

test('UndiciFetcher.start fails for what is no http URL, and with no address, without throwing', async (t) => {
  const { fetcher } = await using(t, {});
  for (const url of ['', 'x', 'ftp://a.test/', 'http://', 'http://a.test:99999/']) {
    strictEqual(failureOf(await fetchOnce(fetcher, url)).failure, 'protocol-error', url);
  }
  strictEqual(
    failureOf(await fetchOnce(fetcher, 'http://a.test/', { addresses: [] })).failure,
    'dns-failed',
  );
});

test('UndiciFetcher.start measures from before the connection to the last byte', async (t) => {
  const { server, fetcher } = await using(t, {
    onRequest: (socket) => {
      setTimeout(() => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
        setTimeout(() => socket.write('ab'), 60);
      }, 60);
    },
  });
  const before = performance.now();
  const response = responseOf(await fetchOnce(fetcher, server.url()));
  ok(response.startedMs >= before);
  ok(response.responseMs >= 55, `${response.responseMs}`);
  const wholeMs = response.endedMs - response.startedMs;
  ok(wholeMs - response.responseMs >= 55, `${wholeMs}`);
  ok(response.endedMs <= performance.now());
});

test('UndiciFetcher.start bounds a body by its purpose', async (t) => {
  const body = 'x'.repeat(5_000);
  const { server, fetcher } = await using(
    t,
    { onRequest: (socket) => socket.write(page(body)) },
    {
      limits: {
        bodies: {
          ...FETCH_LIMITS.bodies,
          robots: { payloadBytesMax: 1_000, decodedBytesMax: 1_000 },
        },
      },
    },
  );
  const robots = responseOf(await fetchOnce(fetcher, server.url(), { purpose: 'robots' }));
  strictEqual(robots.truncated, 'length');
  strictEqual(robots.body.length, 1_000);
  const whole = responseOf(await fetchOnce(fetcher, server.url()));
  strictEqual(whole.truncated, undefined);
  strictEqual(whole.body.length, 5_000);
});
