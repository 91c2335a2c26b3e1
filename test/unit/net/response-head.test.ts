import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { type ResponseHead, readResponseHead } from '../../../src/net/response-head.ts';

function finalHead(text: string): ResponseHead {
  const reading = readResponseHead(text);
  if (reading.kind !== 'final') throw new Error(JSON.stringify(reading));
  return reading.head;
}
const kind = (text: string): string => readResponseHead(text).kind;

test('readResponseHead gives status, reason and fields as received and leaves a sound head alone', () => {
  const head = finalHead(
    'HTTP/1.1 200 All  good\r\nX-a:  b \t\r\nx-A:\r\nContent-Length: 5\r\n\r\n',
  );
  deepStrictEqual(head, {
    status: 200,
    reason: 'All  good',
    headers: ['X-a', 'b', 'x-A', '', 'Content-Length', '5'],
    contentLength: 5,
    repaired: undefined,
  });
  strictEqual(finalHead('HTTP/1.1 200\r\n\r\n').reason, '');
  strictEqual(finalHead('HTTP/1.0 999 \xc7a\r\n\r\n').reason, '\xc7a');
});

test('readResponseHead repairs what RFC 9112 lets a user agent repair', () => {
  const fixed = 'HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n';
  strictEqual(finalHead('HTTP/1.1 200 OK\nA: b\nC: d\n\n').repaired, fixed);
  strictEqual(finalHead('HTTP/1.1 200 OK\r\nA : b\r\nC: d\r\n\r\n').repaired, fixed);
  strictEqual(finalHead('HTTP/1.1 200 OK\r\nA: b\r\nnonsense\r\nC: d\r\n\r\n').repaired, fixed);
  strictEqual(finalHead('HTTP/1.1 200 OK\r\nA: b\r\n: x\r\nC: d\r\n\r\n').repaired, fixed);
  const folded = finalHead('HTTP/1.1 200 OK\r\nA: b\r\n \t c\r\n\r\n');
  deepStrictEqual(folded.headers, ['A', 'b c']);
  const control = finalHead('HTTP/1.1 200 OK\r\nA: b\x01c\r\n\r\n');
  deepStrictEqual(control.headers, ['A', 'b\x01c']);
  strictEqual(control.repaired, 'HTTP/1.1 200 OK\r\nA: b c\r\n\r\n');
});

test('readResponseHead takes chunked over a length, and equal lengths for one (RFC 9112 §6.3)', () => {
  const both = finalHead(
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: Chunked\r\n\r\n',
  );
  strictEqual(both.contentLength, undefined);
  strictEqual(both.repaired, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n');
  for (const lengths of ['Content-Length: 5\r\ncontent-length: 5', 'Content-Length: 5, 5']) {
    const head = finalHead(`HTTP/1.1 200 OK\r\n${lengths}\r\n\r\n`);
    strictEqual(head.contentLength, 5);
    strictEqual(head.repaired, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  }
  for (const status of [204, 304]) {
    const head = finalHead(`HTTP/1.1 ${status} X\r\nContent-Length: 500\r\n\r\n`);
    strictEqual(head.contentLength, undefined);
    strictEqual(head.repaired, `HTTP/1.1 ${status} X\r\n\r\n`);
  }
});

test('readResponseHead never guesses where a message ends', () => {
  for (const field of [
    'Content-Length: crap',
    'Content-Length: -6',
    'Content-Length: +6',
    'Content-Length:',
    'Content-Length: 6badness',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: 5,',
    'Content-Length: 1\r\n 2',
    'Content-Length: 9999999999999999',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: identityx',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding:\r\n chunked',
  ]) {
    strictEqual(kind(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`), 'broken', field);
  }
});

test('readResponseHead tells interim responses and broken heads from final ones', () => {
  for (const status of [100, 102, 103, 199])
    strictEqual(kind(`HTTP/1.1 ${status} X\r\n\r\n`), 'interim');
  for (const line of [
    'HTTP/1.1 101 X',
    'HTTP/1.1 099 X',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/01.1 200 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 200OK',
    'ICY 200 OK',
    'HTTP/1.1 200 O\rK',
    'HTTP/1.1 200 O\0K',
  ]) {
    strictEqual(kind(`${line}\r\n\r\n`), 'broken', line);
  }
  for (const field of ['A: b\0c', 'A\0: b', 'A: b\rc', 'x\0y', ' \0']) {
    strictEqual(
      kind(`HTTP/1.1 200 OK\r\nZ: y\r\n${field}\r\n\r\n`),
      'broken',
      JSON.stringify(field),
    );
  }
});
