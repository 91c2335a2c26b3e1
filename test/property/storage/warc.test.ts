// Random answers through our writer and back out of two readers: warcio, which shares no code with us, and our own.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { WARCParser } from 'warcio';
import type { FetchResponse } from '../../../src/actors/ports.ts';
import { BodyReader } from '../../../src/storage/body-reader.ts';
import { checkWarc } from '../../../src/storage/warc-check.ts';
import { compressWarc } from '../../../src/storage/warc-compress.ts';
import { base32 } from '../../../src/storage/warc-digest.ts';
import { gzipStored, readMember } from '../../../src/storage/warc-gzip.ts';
import { warcPaths } from '../../../src/storage/warc-names.ts';
import { parseRecord } from '../../../src/storage/warc-reader.ts';
import { buildResponseMembers } from '../../../src/storage/warc-record.ts';
import { answer, FETCHED_AT, newWriter } from '../../support/warc-fixtures.ts';

const CODINGS: Readonly<Record<string, (body: Uint8Array) => Uint8Array>> = {
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
  none: (body) => body,
};

const headerName = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/).map((name) => `X-${name}`);
/** Latin-1 without blanks at the ends, as an HTTP parser delivers it. */
const headerValue = fc.stringMatching(/^[!-~\x80-\xff]([ -~\x80-\xff]{0,40}[!-~\x80-\xff])?$/);

/** An answer as the fetcher gives it, with whatever a server can put into one. */
const answers: fc.Arbitrary<FetchResponse> = fc
  .record({
    status: fc.constantFrom(200, 200, 206, 301, 404, 500, 999),
    reason: fc.constantFrom('', 'OK', 'Très bien'),
    headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 8 }),
    body: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(fc.integer({ min: 60_000, max: 200_000 }), fc.nat(255)).map(([length, byte]) => {
        return new Uint8Array(length).fill(byte, 0, length >> 1);
      }),
    ),
    coding: fc.constantFrom(...Object.keys(CODINGS)),
    lengthHeader: fc.boolean(),
    chunked: fc.boolean(),
  })
  .map(({ body, coding, headers, lengthHeader, chunked, ...rest }) => {
    const payload = body.length === 0 ? body : CODINGS[coding]!(body);
    const flat = headers.flat();
    if (coding !== 'none') flat.push('Content-Encoding', coding);
    if (lengthHeader) flat.unshift('content-length', '12345');
    if (chunked) flat.push('Transfer-Encoding', 'chunked');
    return answer({ ...rest, headers: flat, payload, body });
  });

const urls = fc.webUrl({ withQueryParameters: true });

/** Our writer's archive of these answers, handed to `use`, and removed afterwards. */
async function withArchive(
  inputs: readonly { url: string; response: FetchResponse }[],
  use: (directory: string, members: ReturnType<typeof buildResponseMembers>[]) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hostler-warc-'));
  try {
    const writer = newWriter(directory);
    writer.open([]);
    const all = inputs.map((input) => {
      const members = buildResponseMembers({
        ...input,
        fetchedAt: FETCHED_AT,
        warcinfoId: undefined,
      });
      writer.append(members.response);
      writer.append(members.request);
      return members;
    });
    writer.sync();
    writer.close();
    await use(directory, all);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const inputs = fc.array(fc.record({ url: urls, response: answers }), {
  minLength: 1,
  maxLength: 4,
});

test('buildResponseMembers: warcio reads every record with the same URL, head, payload and digest', async () => {
  await fc.assert(
    fc.asyncProperty(inputs, async (pages) => {
      await withArchive(pages, async (directory, members) => {
        const path = warcPaths(directory, 'hostler', 0).closed;
        let index = -1;
        for await (const record of new WARCParser(createReadStream(path))) {
          if (record.warcType === 'response') index += 1;
          const payload = await record.readFully(false);
          if (record.warcType !== 'response') continue;
          const { url, response } = pages[index]!;
          strictEqual(record.warcTargetURI, url);
          strictEqual(record.httpHeaders?.statusCode, response.status);
          ok(Buffer.from(payload).equals(response.payload));
          strictEqual(record.warcPayloadDigest, members[index]!.payloadDigest);
          const sha1 = createHash('sha1').update(payload).digest();
          strictEqual(record.warcPayloadDigest, `sha1:${base32(sha1)}`);
        }
        strictEqual(index, pages.length - 1);
      });
    }),
    { numRuns: 40 },
  );
});

test('BodyReader gives back status, headers and body, and the checker no problem, before and after compression', async () => {
  await fc.assert(
    fc.asyncProperty(inputs, async (pages) => {
      await withArchive(pages, async (directory, members) => {
        const paths = warcPaths(directory, 'hostler', 0);
        for (const compressed of [false, true]) {
          if (compressed) compressWarc(paths, 1);
          deepStrictEqual(checkWarc(paths.closed).problems, []);
          const reader = new BodyReader(directory, { prefix: 'hostler' });
          for (const [index, { response }] of pages.entries()) {
            const stored = reader.read({ file: 0, record: 1 + index * 2 });
            strictEqual(stored?.status, response.status);
            ok(Buffer.from(stored.body).equals(response.body));
            const content = createHash('sha1').update(stored.body).digest('hex');
            strictEqual(content, members[index]!.contentDigest);
            deepStrictEqual(
              withoutFraming(stored.headers),
              withoutFraming(response.headers),
              'headers as received',
            );
          }
          reader.close();
        }
      });
    }),
    { numRuns: 40 },
  );
});

function withoutFraming(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    if (/^(?:content-length|transfer-encoding)$/i.test(headers[index]!)) continue;
    kept.push(headers[index]!, headers[index + 1]!);
  }
  return kept;
}

test('buildResponseMembers frames one whole record whatever strings a server or a port hands it', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 30 });
  const hostile = fc.record({
    url: anyText,
    reason: anyText,
    headers: fc.array(anyText, { maxLength: 7 }),
    requestHead: anyText,
    payload: fc.uint8Array({ maxLength: 50 }),
  });
  fc.assert(
    fc.property(hostile, ({ url, ...rest }) => {
      const response = answer({ ...rest, body: rest.payload });
      const members = buildResponseMembers({
        url: `http://a.test/${url}`,
        fetchedAt: FETCHED_AT,
        response,
        warcinfoId: undefined,
      });
      for (const bytes of [members.response, members.request]) {
        const member = readMember(Buffer.from(bytes), 0, 1e6);
        ok(member.kind === 'member' && member.end === bytes.byteLength);
        const record = parseRecord(member.record, 1e6);
        ok(record !== undefined);
        if (record.type !== 'response') continue;
        strictEqual(record.httpStatus, 200);
        ok(record.payload.equals(response.payload));
      }
    }),
    { numRuns: 300 },
  );
});

test('readMember and parseRecord take any bytes without throwing', () => {
  const anyBytes = fc.uint8Array({ maxLength: 400 });
  fc.assert(
    fc.property(anyBytes, fc.boolean(), (bytes, wrapped) => {
      const member = Buffer.from(wrapped ? gzipStored([bytes]) : bytes);
      const result = readMember(member, 0, 1_000);
      if (wrapped) ok(result.kind === 'member' && result.record.equals(bytes));
      parseRecord(Buffer.from(bytes), 1_000);
    }),
    { numRuns: 500 },
  );
});
