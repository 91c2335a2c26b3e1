// The hosts of the hostile web: each does one thing that hangs, loops or misleads crawlers (redirects, endless answers, bombs, refusals),
// named after what it does. What must come of each is in hostile-web.test.ts.
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { page } from '../scripted-server.ts';
import {
  type Answer,
  links,
  redirect,
  response,
  type ScriptedRequest,
  type Site,
} from './scripted-web.ts';

/** Longest time of one request and most decoded bytes of a page in the crawl of this web. */
export const DEADLINE_MS = 3_000;
export const DECODED_BYTES_MAX = 200_000;
/** What `Retry-After` asks for, in seconds. */
export const RETRY_AFTER_SECONDS = 3;
/** Bytes that a hostile server has sent at most when it is cut off; by name. */
export const bytesSent = new Map<string, number>();

const BOMB = Buffer.alloc(20_000_000, ' ');

/** @param port of the web, for absolute links */
export function hostileSite(port: number): Site {
  return { ...redirects(port), ...bodies(), ...refusals(), ...sitemaps(port) };
}

function redirects(port: number): Site {
  const at = (host: string): string => `http://${host}:${port}`;
  return {
    'reencode.test/': links('/list?producers[]=524'),
    'reencode.test/list?producers[]=524': redirect('/list?producers%5B%5D=524'),
    'reencode.test/list?producers%5B%5D=524': redirect('/list?producers[]=524'),
    'cookie.test': redirect('/', 'Set-Cookie: seen=1\r\n'),
    'www.pair.test': redirect(`${at('pair.test')}/`),
    'pair.test': redirect(`${at('www.pair.test')}/`, 'Set-Cookie: seen=1\r\n'),
    'endless.test': (socket, request) => {
      const next = Number(request.path.slice(1)) + 1;
      (redirect(`/${next}`) as Extract<Answer, (...all: never) => void>)(socket, request);
    },
    'raw.test/': redirect('/a\u00c3\u00a7\u00c3\u00a3o'),
    'raw.test/a%C3%A7%C3%A3o': 'raw',
    'escaped.test/': redirect('http%3A//scrapytest.org/a\u00c3\u00a7\u00c3\u00a3o'),
    'metadata.test/': redirect('http://169.254.169.254/latest/meta-data/'),
    'mapped.test/': redirect('http://[::ffff:169.254.169.254]/'),
    'file.test/': redirect('file:///etc/passwd'),
    'empty.test/': redirect(''),
    'moved.test/': redirect('/deep/page/'),
    'moved.test/deep/page/': links('relative'),
    'based.test/': '<base href="/folder/"><meta http-equiv="refresh" content="0;url=target">',
    'quoted.test/': `<meta http-equiv="refresh" content="0;url='${at('quoted.test')}/target'">`,
  };
}

function bodies(): Site {
  const coded = (coding: string, bytes: Buffer): Answer => {
    const head = `Content-Type: text/html\r\nContent-Encoding: ${coding}\r\n`;
    return (socket) => sendWhole(socket, head, bytes);
  };
  const whole = gzipSync(`${links('/after')}${'word '.repeat(5_000)}`);
  return {
    'gzip-bomb.test/': coded('gzip', gzipSync(BOMB)),
    'nested-bomb.test/': coded('gzip, gzip', gzipSync(gzipSync(BOMB))),
    'brotli-bomb.test/': coded('br', brotliCompressSync(BOMB)),
    'cut-gzip.test/': coded('gzip', whole.subarray(0, whole.length >> 1)),
    'trailing.test/': coded(
      'deflate',
      Buffer.concat([
        deflateSync(`deflated ${links('/after')}`),
        deflateSync('second'),
        Buffer.from('junk'),
      ]),
    ),
    'short.test/': (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\nhalf`);
    },
    'drip.test/': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n');
      drip(socket, 'drip.test', 200, 'x');
    },
    'drip-head.test/': (socket) => drip(socket, 'drip-head.test', 200, 'x'),
    'endless-head.test/': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'endless-head.test', 1, `X-More: ${'y'.repeat(4_000)}\r\n`);
    },
    'reset.test/': (socket) => void socket.resetAndDestroy(),
    'continue.test/': (socket) =>
      void socket.write(`HTTP/1.1 100 Continue\r\n\r\n${page(`continued ${links('/after')}`)}`),
  };
}

function refusals(): Site {
  return {
    'unauthorised.test/': response('401 Unauthorized'),
    'busy.test/': response('429 Too Many Requests', 'Retry-After: 100000\r\n'),
    'seconds.test': pausing('seconds', () => String(RETRY_AFTER_SECONDS)),
    'date.test': pausing('date', () =>
      new Date(Date.now() + RETRY_AFTER_SECONDS * 1_000).toUTCString(),
    ),
  };
}

/**
 * The root links to two pages; the first request for one of them is answered by 503.
 * @param title tells its root from others: links of exact duplicates are not followed again
 */
function pausing(title: string, retryAfter: () => string): Answer {
  let refused = false;
  return (socket, { path }) => {
    if (path === '/') socket.write(page(`${title} ${links('/a', '/b')}`));
    else if (refused) socket.write(page('text'));
    else {
      refused = true;
      const fields = `Retry-After: ${retryAfter()}\r\nContent-Length: 0\r\n`;
      socket.write(`HTTP/1.1 503 Service Unavailable\r\n${fields}\r\n`);
    }
  };
}

function sitemaps(port: number): Site {
  const at = `http://maps.test:${port}`;
  const xml = (body: string): Answer =>
    response('200 OK', 'Content-Type: application/xml; charset=utf-8\r\n', body);
  return {
    'maps.test/robots.txt': `User-agent: *\nDisallow:\nSitemap: ${at}/index.xml.gz\n`,
    'maps.test/': 'no links',
    // Named .gz and not compressed; a child with a query.
    'maps.test/index.xml.gz': xml(
      `<sitemapindex><sitemap><loc> ${at}/child.xml?part=1 </loc></sitemap></sitemapindex>`,
    ),
    'maps.test/child.xml?part=1': xml(
      `<urlset><url><loc>\n ${at}/listed \n</loc><lastmod>not-a-date</lastmod></url></urlset>`,
    ),
    'maps.test/listed': 'listed',
  };
}

function sendWhole(socket: Socket, fields: string, bytes: Buffer): void {
  socket.write(`HTTP/1.1 200 OK\r\n${fields}Content-Length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
}

/** Sends a piece again and again until the client has had enough; 60 s at most. */
function drip(socket: Socket, name: string, everyMs: number, piece: string): void {
  const endAt = Date.now() + 60_000;
  const timer = setInterval(() => {
    if (Date.now() > endAt) socket.destroy();
    if (socket.writableLength < 100_000) socket.write(piece);
    bytesSent.set(name, socket.bytesWritten);
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Requests a host got for anything but robots.txt. */
export function pagesAsked(requests: readonly ScriptedRequest[], host: string): ScriptedRequest[] {
  return requests.filter((request) => request.host === host && request.path !== '/robots.txt');
}
