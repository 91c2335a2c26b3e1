// Digests as WARC writes them: `sha1:` and 32 letters of base32 (RFC 4648 §6), the form every replay tool compares; and as page rows
// keep them, in hexadecimal. Step 10; runs on shard threads for every page, so it works on the raw digest without intermediate copies.

import { createHash, hash } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Base32 without padding (RFC 4648 §6).
 * @param bytes any length; lengths that are not a multiple of five end in a partial group
 */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let window = 0;
  let bits = 0;
  for (const byte of bytes) {
    window = ((window << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(window >> bits) & 31];
    }
  }
  if (bits > 0) text += ALPHABET[(window << (5 - bits)) & 31];
  return text;
}

/** SHA-1 (FIPS 180-4) over the parts, one after the other: 20 bytes. */
export function sha1(...parts: readonly Uint8Array[]): Buffer {
  // The one-shot form makes no hash object, which costs as much as hashing two kilobytes.
  if (parts.length === 1) return hash('sha1', parts[0]!, 'buffer');
  const streaming = createHash('sha1');
  for (const part of parts) streaming.update(part);
  return streaming.digest();
}

/**
 * A digest as WARC-Block-Digest and WARC-Payload-Digest write it (WARC 1.1 §5.8).
 * @param digest the 20 bytes of a SHA-1
 */
export function labelledDigest(digest: Uint8Array): string {
  return `sha1:${base32(digest)}`;
}
