// The rendering pool over a real Chromium: what it makes of pages, that no page reaches the network by itself, and that hostile ones are bounded and
// hold nobody else up.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { RenderOutcome } from '../../../src/actors/render-port.ts';
import { documentOf, SKIPPED, withPool } from '../../support/render/with-pool.ts';

const options = { skip: SKIPPED, timeout: 120_000 };

/** A page that runs a script; the element with id r shows what it tells. */
const scripted = (script: string, body = '') =>
  `<!doctype html><html><head><title>t</title></head><body><p id="r">none</p>${body}<script>${script}</script></body></html>`;

/** What a page has told in its element r. */
const told = (outcome: RenderOutcome) =>
  /<p id="r">(.*?)<\/p>/s.exec(documentOf(outcome))?.[1] ?? 'nothing';

const failureOf = (outcome: RenderOutcome) =>
  outcome.kind === 'failed' ? outcome.failure : outcome.kind;

test(
  'RenderPool renders what scripts make of a page, and asks the crawl for what they want',
  options,
  () =>
    withPool(
      async ({ render, wanted }) => {
        const outcome = await render(
          'app',
          scripted(
            "fetch('/data.json').then((x) => x.json()).then((d) => { r.innerHTML = d.links.map((l) => '<a href=' + l + '>' + l + '</a>').join('') })",
          ),
        );
        strictEqual(told(outcome), '<a href="/one">/one</a><a href="/two">/two</a>');
        deepStrictEqual(wanted, ['http://h.test/data.json']);
        strictEqual(outcome.kind === 'rendered' && outcome.cut, undefined);
      },
      { answer: () => '{"links":["/one","/two"]}' },
    ),
);

test(
  'RenderPool notes where scripts go, and gives a page that renamed itself its base',
  options,
  () =>
    withPool(async ({ render }) => {
      const gone = await render('a', scripted("location.href = '/elsewhere?x=1#y'"));
      strictEqual(gone.kind === 'rendered' && gone.movedTo, 'http://h.test/elsewhere?x=1');
      const renamed = await render('b', scripted("history.pushState({}, '', '/virtual/page')"));
      strictEqual(renamed.kind === 'rendered' && renamed.movedTo, 'http://h.test/virtual/page');
      match(documentOf(renamed), /<head><base href="http:\/\/h.test\/virtual\/page">/);
    }),
);

test(
  'RenderPool shows links of open shadow roots, and what a list loads when it is scrolled',
  options,
  () =>
    withPool(async ({ render, wanted }) => {
      const shadow = await render(
        'a',
        scripted(
          "customElements.define('x-a', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<a href=/in-shadow>s</a>' } })",
          '<x-a></x-a>',
        ),
      );
      match(documentOf(shadow), /<a href="\/in-shadow">/);
      const list = await render(
        'b',
        scripted(
          "let n = 0; addEventListener('scroll', () => fetch('/more?' + n++).then((x) => x.text()).then(() => { d.insertAdjacentHTML('beforeend', '<a href=/s' + n + '>m</a>'); d.style.height = 5000 * (n + 1) + 'px' }))",
          '<div id=d style="height:5000px"></div>',
        ),
      );
      match(documentOf(list), /\/s1/);
      ok(wanted.length <= 3, wanted.join(' '));
    }),
);

test(
  'RenderPool shows a page what another site gives only if that site says so, and names it foreign',
  options,
  () =>
    withPool(
      async ({ render, wanted, foreign }) => {
        const urls = "['/own', 'http://10.0.0.1/intranet', 'http://open.test/data', '/hop']";
        const outcome = await render(
          'a',
          scripted(
            `Promise.all(${urls}.map((u) => fetch(u).then((x) => x.text(), () => 'no'))).then((a) => { r.textContent = a.join() })`,
          ),
        );
        strictEqual(told(outcome), 'text,no,text,no');
        const intranet = 'http://10.0.0.1/intranet';
        deepStrictEqual([...new Set(wanted)].sort(), [
          intranet,
          'http://h.test/hop',
          'http://h.test/own',
          'http://open.test/data',
        ]);
        deepStrictEqual([...new Set(foreign)].sort(), [intranet, 'http://open.test/data']);
      },
      {
        answer: (url) => {
          const answer = { kind: 'response', status: 200, body: Buffer.from('text') } as const;
          if (url.includes('open.test')) {
            return { ...answer, headers: ['access-control-allow-origin', '*'] };
          }
          if (!url.endsWith('/hop')) return 'text';
          return { ...answer, status: 302, headers: ['location', 'http://10.0.0.1/intranet'] };
        },
      },
    ),
);

test('RenderPool lets no page reach the network by itself, by whatever way', options, async () => {
  let packets = 0;
  let connections = 0;
  const udp = createSocket('udp4').on('message', () => {
    packets += 1;
  });
  const tcp = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as { port: number };
  const stun = udp.address().port;
  const script = `
    const frame = document.createElement('iframe'); document.body.append(frame);
    for (const W of [window, frame.contentWindow]) {
      try {
        const p = new W.RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun}' }] });
        p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));
      } catch (e) {}
    }
    try { new WebSocket('ws://127.0.0.1:${port}/') } catch (e) {}
    try { new EventSource('http://127.0.0.1:${port}/es') } catch (e) {}
    try { navigator.sendBeacon('http://127.0.0.1:${port}/b', 'x') } catch (e) {}
    new Image().src = 'http://127.0.0.1:${port}/i.png';
    const worker = new Worker(URL.createObjectURL(new Blob(["fetch('http://127.0.0.1:${port}/w').catch(() => 0)"])));
    Promise.all(['/x', 'http://127.0.0.1:${port}/f', 'http://169.254.169.254/latest/meta-data/', '/redirected'].map((u) => fetch(u).then((x) => x.text(), () => 'no'))).then((a) => { r.textContent = a.join() });
  `;
  const head = ['dns-prefetch', 'preconnect', 'prefetch', 'preload']
    .map((rel) => `<link rel=${rel} href=http://127.0.0.1:${port}/${rel} as=script>`)
    .join('');
  const frames = `${head}<iframe src=http://127.0.0.1:${port}/frame></iframe><object data=http://127.0.0.1:${port}/o></object>`;
  const refused = { kind: 'refused', reason: 'address' } as const;
  const moved = `http://127.0.0.1:${port}/secret`;
  const redirect = { kind: 'response', status: 302, headers: ['location', moved] } as const;
  await withPool(
    async ({ render, wanted }) => {
      const outcome = await render('net', scripted(script, frames));
      strictEqual(told(outcome), 'text,no,no,no');
      ok(wanted.includes('http://169.254.169.254/latest/meta-data/'), 'asked of the crawl');
      ok(wanted.includes(moved), 'a redirect is asked of the crawl too');
      await render('late', scripted("setTimeout(() => fetch('/late'), 300)"));
    },
    {
      answer: (url) => {
        if (url.endsWith('/redirected')) return { ...redirect, body: new Uint8Array(0) };
        return url.startsWith('http://h.test/') ? 'text' : refused;
      },
    },
  );
  udp.close();
  tcp.close();
  deepStrictEqual({ packets, connections }, { packets: 0, connections: 0 });
});

test(
  'RenderPool closes popups, dismisses dialogs and lets neither downloads nor workers happen',
  options,
  () =>
    withPool(async ({ render, wanted }) => {
      const popups = await render(
        'a',
        scripted(
          "for (let i = 0; i < 20; i += 1) window.open('/p' + i); setInterval(() => window.open('/q'), 50); r.textContent = 'on'",
        ),
      );
      strictEqual(told(popups), 'on');
      const dialogs = await render(
        'b',
        scripted(
          "alert(1); r.textContent = [confirm(2), prompt(3)].join(); onbeforeunload = () => 'no'",
        ),
      );
      strictEqual(told(dialogs), 'false,');
      const download = await render(
        'c',
        scripted(
          "const a = document.createElement('a'); a.href = 'data:application/octet-stream,xx'; a.download = 'f'; a.click()",
        ),
      );
      strictEqual(told(download), 'none');
      const worker = await render(
        'd',
        scripted(
          "navigator.serviceWorker?.register('/sw.js').then(() => { r.textContent = 'registered' }, () => 0)",
        ),
      );
      strictEqual(told(worker), 'none');
      deepStrictEqual(wanted, []);
    }),
);

test(
  'RenderPool bounds requests and bytes of a page that is never idle, and takes what it shows',
  options,
  () =>
    withPool(
      async ({ render, wanted }) => {
        const busy = await render(
          'a',
          scripted(
            "let n = 0; setInterval(() => fetch('/tick?' + n++).then(() => { r.textContent = n }), 20)",
          ),
        );
        strictEqual(busy.kind === 'rendered' && busy.cut, 'requests');
        strictEqual(wanted.length, 12);
        const greedy = await render(
          'b',
          scripted("(async () => { for (let n = 0; ; n += 1) await fetch('/big?' + n) })()"),
        );
        strictEqual(greedy.kind === 'rendered' && greedy.cut, 'bytes');
        ok(wanted.length <= 12 + 5, String(wanted.length));
      },
      { answer: (url) => (url.includes('big') ? 'x'.repeat(300_000) : 'text') },
    ),
);

test('RenderPool ends a page in an endless loop, and renders others meanwhile', options, () =>
  withPool(async ({ render }) => {
    const loop = render('loop', scripted('for (;;);'));
    const late = render('late', scripted('setTimeout(() => { for (;;); }, 50)'));
    const good = await render('good', scripted("r.textContent = 'good'"));
    strictEqual(told(good), 'good');
    deepStrictEqual([await loop, await late].map(failureOf), ['timeout', 'timeout']);
    strictEqual(told(await render('after', scripted("r.textContent = 'after'"))), 'after');
  }),
);

test(
  'RenderPool ends a page that allocates without end, in the heap of scripts and beside it',
  options,
  () =>
    withPool(async ({ render }) => {
      const beside = await render(
        'a',
        // Without a pause, or a busy machine finds the page quiet before it has grown; and no faster than it can be watched.
        scripted(
          'const a = []; for (;;) { a.push(new Uint8Array(2e7).fill(1)); const t = performance.now() + 20; while (performance.now() < t); }',
        ),
      );
      strictEqual(failureOf(beside), 'out-of-memory');
      const heap = await render(
        'b',
        scripted('const a = []; for (;;) a.push({ x: new Array(1000).fill(a.length) })'),
      );
      ok(['crashed', 'out-of-memory'].includes(failureOf(heap)), failureOf(heap));
      const tree = await render(
        'c',
        scripted(
          "for (;;) { const d = document.createElement('p'); d.textContent = 'x'.repeat(1e3); document.body.append(d) }",
        ),
      );
      ok(['crashed', 'out-of-memory', 'timeout'].includes(failureOf(tree)), failureOf(tree));
      strictEqual(told(await render('after', scripted("r.textContent = 'after'"))), 'after');
    }),
);

test('RenderPool without a browser says so once, and answers every page', async () => {
  await withPool(
    async ({ render, news }) => {
      const outcomes = await Promise.all([1, 2, 3].map((n) => render(String(n), scripted(''))));
      deepStrictEqual(outcomes.map(failureOf), ['unavailable', 'unavailable', 'unavailable']);
      deepStrictEqual(
        news.map(({ kind }) => kind),
        ['render-unavailable'],
      );
    },
    { settings: { browserPath: '/nowhere/chromium' } },
  );
});
