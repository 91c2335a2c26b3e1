// Unpacks a sitemap's bytes (step 11). Sitemaps are often gzip files in their own right, beside any Content-Encoding, and as often are
// named .gz without being one: only the first two bytes decide. The output is bounded, so that a small file cannot fill memory.
import { constants, gunzipSync } from 'node:zlib';
import { SITEMAP_BYTES_MAX } from '../domain/sitemap.ts';

export type UnpackedSitemap =
  | { readonly kind: 'ok'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'damaged'; readonly reason: string };

/**
 * The bytes of a sitemap, unpacked when they are gzip (several members are joined; a cut last member gives what it holds).
 * @param bytes after Content-Encoding
 * @param bytesMax limit on the output, default that of the protocol
 * @returns never throws; `too-large` beyond the limit, `damaged` when a gzip file cannot be read at all. Source: RFC 1952 §2.3.1
 */
export function unpackSitemap(
  bytes: Uint8Array,
  bytesMax: number = SITEMAP_BYTES_MAX,
): UnpackedSitemap {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    return bytes.length > bytesMax ? { kind: 'too-large' } : { kind: 'ok', bytes };
  }
  try {
    const unpacked = gunzipSync(bytes, {
      maxOutputLength: bytesMax,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    return { kind: 'ok', bytes: unpacked };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return code === 'ERR_BUFFER_TOO_LARGE'
      ? { kind: 'too-large' }
      : { kind: 'damaged', reason: code };
  }
}
