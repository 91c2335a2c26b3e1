// The words of content decoding (step 9 of a URL's life): which codings there are, what decoding may come to, and the two facts about
// zlib both ways of decoding need. content-decoding.ts is the entry; content-streams.ts the thorough way.

import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** A coding that can be undone. */
export type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** What became of a payload. */
export interface Decoded {
  readonly body: Uint8Array;
  /**
   * whole; `length`: cut at the limit; `cut`: the stream ends before its end; `damaged`: it is no such stream from some point on.
   */
  readonly state: 'whole' | 'length' | 'cut' | 'damaged';
}

interface ZstdFunctions {
  readonly decompressSync: (input: Uint8Array, options: zlib.ZlibOptions) => Uint8Array;
  readonly createDecompress: (options: zlib.ZlibOptions) => Transform & zlib.Zlib;
}

/** zstd from Node's zlib (since 22.15), undefined where it has none. */
export const ZSTD: ZstdFunctions | undefined = findZstd();

function findZstd(): ZstdFunctions | undefined {
  const functions = zlib as unknown as {
    zstdDecompressSync?: unknown;
    createZstdDecompress?: unknown;
  };
  const { zstdDecompressSync: decompressSync, createZstdDecompress: createDecompress } = functions;
  if (typeof decompressSync !== 'function' || typeof createDecompress !== 'function') {
    return undefined;
  }
  return { decompressSync, createDecompress } as unknown as ZstdFunctions;
}

/** True when a `deflate` body has the zlib wrapper (RFC 1950 §2.2) it should have; many servers send the bare stream. */
export function isZlib(input: Uint8Array): boolean {
  const [first, second] = input;
  if (first === undefined || second === undefined) return false;
  return (first & 0x0f) === 8 && first >> 4 <= 7 && (first * 256 + second) % 31 === 0;
}
