// The bytes of a page: a head with all links, then visible text up to the wanted size. Text is copied from 1,024 sentences of 128 bytes
// made once per process, chosen by the page's hash, so that 10 KB cost a few microseconds and two pages are alike only where the world
// wants them to be: an exact copy shares everything, a near copy shares all visible text but one sentence.
import { fraction, mix, SALT } from './hash.ts';
import type { HostProfile } from './world-host.ts';
import { contentPage, copyKind, pageLinks, pageMeta } from './world-link.ts';
import type { WorldOptions } from './world-options.ts';
import { WORDS, word } from './world-path.ts';

const BLOCK_BYTES = 128;
const BLOCKS = 1024;
const TAIL = '</p></body></html>\n';
const ENDINGS = ['', 's', 'ed', 'ing', 'ly', 'er', 'ish', 'al'];
const FILLER = makeFiller();

/**
 * The version of a page's text at a time of the world: 0 for pages that never change. Links never change.
 * @returns the version's number and when it began, ms
 */
export function pageVersion(options: WorldOptions, host: HostProfile, page: number, atMs: number) {
  const { seed, features, changePeriodMs } = options;
  const hash = mix(seed, SALT.change, host.source, contentPage(options, host, page));
  if (fraction(hash) >= features.changingPages) return { version: 0, sinceMs: 0 };
  const periodMs = changePeriodMs * 4 ** (2 * fraction(mix(seed, hash, 1)) - 1);
  const version = Math.floor(Math.max(0, atMs) / periodMs);
  return { version, sinceMs: version * periodMs };
}

/** The HTML of a page in one of its versions: ASCII, `pageBytes` long unless its links need more. */
export function pageHtml(
  options: WorldOptions,
  host: HostProfile,
  page: number,
  version: number,
): Uint8Array {
  const content = contentPage(options, host, page);
  const textPage = copyKind(options, host, content) === 'near' ? content - 1 : content;
  const textHash = mix(options.seed, SALT.text, host.source, textPage);
  const head = pageHead(options, host, content, mix(textHash, SALT.text, version));
  const bytes = Math.max(options.pageBytes, head.length + TAIL.length);
  const html = Buffer.allocUnsafe(bytes);
  html.write(head, 0, 'latin1');
  const end = bytes - TAIL.length;
  fillText(html, head.length, end, mix(textHash, SALT.change, version));
  if (textPage !== content && end - head.length >= BLOCK_BYTES) {
    copyBlock(html, head.length, mix(textHash, content, 7) % BLOCKS);
  }
  html.write(TAIL, end, 'latin1');
  return html;
}

function pageHead(options: WorldOptions, host: HostProfile, content: number, textHash: number) {
  const { nofollow, noindex } = pageMeta(options, host, content);
  const title = `${word(textHash)} ${word(textHash >>> 6)} ${word(textHash >>> 12)}`;
  let head = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">';
  head += `<title>${title}</title>\n`;
  if (nofollow || noindex) {
    const names = [...(noindex ? ['noindex'] : []), ...(nofollow ? ['nofollow'] : [])];
    head += `<meta name="robots" content="${names.join(', ')}">\n`;
  }
  head += `</head><body><h1>${title}</h1><ul>\n`;
  let anchor = textHash;
  for (const link of pageLinks(options, host, content)) {
    anchor = Math.imul(anchor ^ (anchor >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    const rel = link.follow ? '' : ' rel="nofollow"';
    head += `<li><a href="${link.href}"${rel}>${word(anchor >>> 8)} ${word(anchor >>> 14)}</a>\n`;
  }
  return `${head}</ul><p>`;
}

/** Fills `from` … `to` with sentences, in runs of up to eight on large pages: each copy costs 60 ns, and 16 choices tell pages apart. */
function fillText(html: Buffer, from: number, to: number, hash: number): void {
  const run = Math.max(1, Math.min(8, (to - from) >> 11));
  let state = hash;
  let at = from;
  while (at < to) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    const start = ((state >>> 9) % (BLOCKS - run + 1)) * BLOCK_BYTES;
    at += FILLER.copy(html, at, start, Math.min(start + run * BLOCK_BYTES, start + to - at));
  }
}

function copyBlock(html: Buffer, at: number, block: number): void {
  FILLER.copy(html, at, block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
}

/** Sentences do not depend on the world's seed: which ones a page takes does. */
function makeFiller(): Buffer {
  const filler = Buffer.alloc(BLOCKS * BLOCK_BYTES, ' ');
  for (let block = 0; block < BLOCKS; block++) {
    let text = '';
    for (let n = 0; text.length < BLOCK_BYTES - 12; n++) {
      const hash = mix(0, SALT.filler, block, n);
      text += `${WORDS[hash & 63]}${ENDINGS[(hash >>> 6) & 7]} `;
    }
    const sentence = text.trimEnd().slice(0, BLOCK_BYTES - 2);
    filler.write(`${sentence.padEnd(BLOCK_BYTES - 2, 's')}. `, block * BLOCK_BYTES, 'latin1');
  }
  return filler;
}
