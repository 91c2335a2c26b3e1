// Servers that lie, dribble, flood and break off: the scripted cases of http.json that concern the fetcher (named in brackets), and field bugs
// of sections 3 and 5. Each must end in time and within memory, as the right outcome.

import { ok, strictEqual } from 'node:assert';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FetchOutcome } from '../../../src/actors/ports.ts';
import type { FetchLimits } from '../../../src/net/fetch-limits.ts';
import { failureOf, fetchOnce, loopbackFetcher, responseOf } from '../../support/fetching.ts';
import { type Script, ScriptedServer } from '../../support/scripted-server.ts';

const MIB = 1_048_576;

async function fetchFrom(
  context: TestContext,
  script: Script,
  limits: Partial<FetchLimits> = {},
): Promise<{ outcome: FetchOutcome; server: ScriptedServer; tookMs: number }> {
  const server = await ScriptedServer.listen(script);
  const fetcher = loopbackFetcher({ limits });
  context.after(async () => {
    fetcher.close();
    await server.close();
  });
  const startedMs = performance.now();
  const outcome = await fetchOnce(fetcher, server.url());
  return { outcome, server, tookMs: performance.now() - startedMs };
}

const sending = (text: string | Buffer): Script => ({ onRequest: (socket) => socket.end(text) });

/** Writes pieces for ever, as fast as they are taken. */
function flood(socket: Socket, piece: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** Writes one piece each few milliseconds until the other side has had enough. */
function dribble(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

test('UndiciFetcher.start cuts an endless body at its bound, within memory [http-310]', async (t) => {
  const before = process.memoryUsage().rss;
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const { outcome } = await fetchFrom(t, {
    onRequest: (socket) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      flood(socket, chunk);
    },
  });
  const response = responseOf(outcome);
  strictEqual(response.truncated, 'length');
  strictEqual(response.payload.length, 16 * MIB);
  ok(process.memoryUsage().rss - before < 200 * MIB);
});

test('UndiciFetcher.start ends endless headers as too large, in few or in tiny pieces [http-311]', async (t) => {
  for (const piece of ['X-Header: value\r\n'.repeat(500), 'X: y\r\n'.repeat(10), 'x'.repeat(50)]) {
    const { outcome, tookMs } = await fetchFrom(t, {
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, piece);
      },
    });
    strictEqual(failureOf(outcome).failure, 'headers-too-large');
    ok(tookMs < 5_000, `${tookMs} ms`);
  }
});

test('UndiciFetcher.start ends an endless chunk extension [http-313]', async (t) => {
  const { outcome, tookMs } = await fetchFrom(t, {
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;');
      flood(socket, 'x'.repeat(65_536));
    },
  });
  strictEqual(failureOf(outcome).failure, 'protocol-error');
  ok(tookMs < 10_000, `${tookMs} ms`);
});

test('UndiciFetcher.start ends endless trailers', async (t) => {
  const { outcome } = await fetchFrom(t, {
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n');
      flood(socket, 'X-Trailer: value\r\n'.repeat(500));
    },
  });
  strictEqual(failureOf(outcome).failure, 'headers-too-large');
});

test('UndiciFetcher.start gives silence up [http-315]', async (t) => {
  const { outcome, tookMs } = await fetchFrom(t, {}, { headersTimeoutMs: 300 });
  strictEqual(failureOf(outcome).failure, 'timeout');
  ok(tookMs < 2_000, `${tookMs} ms`);
});

test('UndiciFetcher.start ends a body of one byte now and then by its deadline, and keeps what came (field bug N4)', async (t) => {
  const { outcome, tookMs } = await fetchFrom(
    t,
    {
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
        dribble(socket, 'x', 20);
      },
    },
    { deadlineMs: 600, idleTimeoutMs: 300 },
  );
  const response = responseOf(outcome);
  strictEqual(response.truncated, 'time');
  ok(response.body.length > 5);
  ok(tookMs < 2_000, `${tookMs} ms`);
});

test('UndiciFetcher.start ends headers of one byte now and then by its deadline', async (t) => {
  const { outcome } = await fetchFrom(
    t,
    {
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        dribble(socket, 'y', 20);
      },
    },
    { deadlineMs: 500 },
  );
  strictEqual(failureOf(outcome).failure, 'timeout');
});

test('UndiciFetcher.start gives a body up that stops in the middle', async (t) => {
  const { outcome } = await fetchFrom(
    t,
    { onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc') },
    { idleTimeoutMs: 300 },
  );
  const response = responseOf(outcome);
  strictEqual(response.truncated, 'time');
  strictEqual(Buffer.from(response.body).toString(), 'abc');
});

test('UndiciFetcher.start skips interim responses, 100 Continue too, but not for ever', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab';
  const { outcome } = await fetchFrom(t, sending(interim + final));
  strictEqual(responseOf(outcome).status, 200);
  strictEqual(Buffer.from(responseOf(outcome).body).toString(), 'ab');
  const pieces = await fetchFrom(t, {
    onRequest: async (socket) => {
      for (const character of interim + final) {
        socket.write(character);
        await new Promise(setImmediate);
      }
    },
  });
  strictEqual(Buffer.from(responseOf(pieces.outcome).body).toString(), 'ab');
  const endless = await fetchFrom(t, { onRequest: (socket) => flood(socket, interim) });
  strictEqual(failureOf(endless.outcome).failure, 'protocol-error');
});

test('UndiciFetcher.start refuses a protocol switch nobody asked for', async (t) => {
  const { outcome } = await fetchFrom(
    t,
    sending('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nab'),
  );
  strictEqual(failureOf(outcome).failure, 'protocol-error');
});

test('UndiciFetcher.start reads a head with repairable faults, however it is cut into packets', async (t) => {
  const text = 'HTTP/1.1 200 OK\nContent-Length : 4\nA: b\n c\n\nbody';
  for (const size of [1, 7, 1_000]) {
    const { outcome } = await fetchFrom(t, {
      onRequest: async (socket) => {
        for (let at = 0; at < text.length; at += size) {
          socket.write(text.slice(at, at + size));
          await new Promise(setImmediate);
        }
      },
    });
    const response = responseOf(outcome);
    strictEqual(Buffer.from(response.body).toString(), 'body');
    strictEqual(response.headers[3], 'b c');
  }
});

test('UndiciFetcher.start marks a body cut by a reset, also when the connection was to end it', async (t) => {
  for (const field of [
    'Content-Length: 900\r\n',
    'Connection: close\r\n',
    'Transfer-Encoding: chunked\r\n',
  ]) {
    const data = field.includes('chunked') ? '5\r\nhello\r\n' : 'hello';
    const { outcome } = await fetchFrom(t, {
      onRequest: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${field}\r\n${data}`, () => {
          setTimeout(() => socket.resetAndDestroy(), 30);
        });
      },
    });
    const response = responseOf(outcome);
    strictEqual(response.truncated, 'disconnect', field);
    strictEqual(Buffer.from(response.body).toString(), 'hello', field);
  }
});

test('UndiciFetcher.start calls an answer that never began a reset, and a redirect cut after its head a redirect', async (t) => {
  for (const text of [
    '',
    'HTTP/1.1 200 OK\r\nContent-',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
  ]) {
    const { outcome } = await fetchFrom(t, sending(text));
    strictEqual(failureOf(outcome).failure, 'reset', text);
  }
  const { outcome } = await fetchFrom(
    t,
    sending('HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 500\r\n\r\n'),
  );
  strictEqual(responseOf(outcome).status, 301);
  strictEqual(responseOf(outcome).truncated, 'disconnect');
});

test('UndiciFetcher.start keeps no answer with broken chunks', async (t) => {
  for (const chunks of [
    '5\r\nhelloXX5\r\nworld\r\n0\r\n\r\n',
    '5\r\nhello\r\nzz\r\n',
    '-1\r\n',
    'fffffffffffffffff\r\n',
    '5 5\r\nhello\r\n0\r\n\r\n',
  ]) {
    const { outcome } = await fetchFrom(
      t,
      sending(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`),
    );
    strictEqual(failureOf(outcome).failure, 'protocol-error', chunks);
  }
});

test('UndiciFetcher.start cuts compression bombs at its bound, within memory [http-350] (field bug N3)', async (t) => {
  const before = process.memoryUsage().rss;
  const zeros = Buffer.alloc(256 * MIB);
  const bombs = {
    br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    gzip: gzipSync(zeros, { level: 9 }),
    'gzip, gzip': gzipSync(gzipSync(zeros, { level: 9 })),
  };
  const made = process.memoryUsage().rss;
  for (const [coding, bomb] of Object.entries(bombs)) {
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bomb.length}\r\n\r\n`;
    const { outcome } = await fetchFrom(t, sending(Buffer.concat([Buffer.from(head), bomb])));
    const response = responseOf(outcome);
    strictEqual(response.truncated, 'length', coding);
    ok(response.body.length <= 32 * MIB, coding);
    ok(bomb.equals(response.payload), coding);
  }
  ok(process.memoryUsage().rss - Math.max(before, made) < 200 * MIB);
});

test('UndiciFetcher.start marks a truncated compressed body as truncated', async (t) => {
  const coded = gzipSync('hello '.repeat(5_000) + Math.PI);
  for (const [declared, sent] of [
    [coded.length, coded.length - 20],
    [coded.length - 20, coded.length - 20],
  ] as const) {
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${declared}\r\n\r\n`;
    const { outcome } = await fetchFrom(
      t,
      sending(Buffer.concat([Buffer.from(head), coded.subarray(0, sent)])),
    );
    const response = responseOf(outcome);
    strictEqual(response.truncated, 'disconnect');
    ok(response.body.length > 10_000);
    strictEqual(response.payload.length, sent);
  }
});

test('UndiciFetcher.start leaves a body of unknown coding as it is, and fails for a chain of codings', async (t) => {
  const body = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n';
  const unknown = responseOf(
    (await fetchFrom(t, sending(`${body}Content-Encoding: rot13\r\n\r\nab`))).outcome,
  );
  strictEqual(unknown.body, unknown.payload);
  const chain = await fetchFrom(
    t,
    sending(`${body}Content-Encoding: ${'gzip,'.repeat(9)}gzip\r\n\r\nab`),
  );
  strictEqual(failureOf(chain.outcome).failure, 'protocol-error');
});

test('UndiciFetcher.start returns a redirect to itself as an answer, without following it (field bugs D1, D3)', async (t) => {
  const { outcome, server } = await fetchFrom(
    t,
    sending('HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n'),
  );
  strictEqual(responseOf(outcome).status, 302);
  strictEqual(server.requests.length, 1);
});

test('UndiciFetcher.start takes a 401 without challenge for an answer (field bug N7)', async (t) => {
  const { outcome } = await fetchFrom(t, sending('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n'));
  strictEqual(responseOf(outcome).status, 401);
});
