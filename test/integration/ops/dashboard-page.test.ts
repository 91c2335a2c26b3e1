// The dashboard in a real browser: what it shows, how it is steered, by keyboard too, in a narrow window and in the dark. One browser for
// all; a page of its own for each test.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { OpsHttpServer } from '../../../src/ops/http-server.ts';
import type { OperationEntry } from '../../../src/ops/operation.ts';
import { openBrowser, openPage, type WatchedPage } from '../../support/ops/browser.ts';
import { SampleCrawl } from '../../support/ops/sample-crawl.ts';

const TOKEN = 'a-token-of-at-least-thirty-two-characters';
let opened: Promise<Browser | string> | undefined;

after(async () => {
  const browser = await opened;
  if (typeof browser === 'object') await browser.close();
});

interface Shown extends WatchedPage {
  readonly crawl: SampleCrawl;
  readonly audit: OperationEntry[];
}

/** The dashboard of a small crawl; undefined when there is no browser, which the test then says. */
async function shown(
  t: TestContext,
  options: BrowserContextOptions & { readonly hash?: string; readonly operable?: boolean } = {},
): Promise<Shown | undefined> {
  const { hash = '', operable = false, ...looks } = options;
  opened ??= openBrowser();
  const browser = await opened;
  if (typeof browser === 'string') {
    t.skip(browser);
    return undefined;
  }
  const crawl = new SampleCrawl();
  const audit: OperationEntry[] = [];
  const operate = operable
    ? { token: TOKEN, audited: (entry: OperationEntry) => audit.push(entry) }
    : undefined;
  const server = await OpsHttpServer.open({ operator: crawl, address: '127.0.0.1:0', operate });
  t.after(() => server.close());
  const watched = await openPage(browser, `${server.url}${hash}`, looks);
  t.after(() => watched.page.context().close());
  await watched.page.getByText('running', { exact: true }).waitFor();
  return { ...watched, crawl, audit };
}

test('the dashboard draws its charts, asks no other server, and is free of errors', async (t) => {
  const on = await shown(t);
  if (on === undefined) return;
  const { page, troubles } = on;
  await page.locator('#charts canvas').first().waitFor();
  strictEqual(await page.locator('#charts canvas').count(), 6);
  strictEqual(await page.locator('#tiles dt').count(), 12);
  ok(await page.locator('#operate').isHidden());
  deepStrictEqual(troubles, []);
});

test('the dashboard leads from the list of hosts to a host, to a URL and back, by the keyboard', async (t) => {
  const on = await shown(t);
  if (on === undefined) return;
  const { page, troubles } = on;
  await page.keyboard.press('h');
  await page.keyboard.type('www.example');
  const host = page.locator('#hosts button').first();
  await host.waitFor();
  await page.keyboard.press('Tab');
  // The list is redrawn with each second's news; the focus stays where it was.
  await page.waitForFunction("document.activeElement.matches('#hosts button')");
  await page.keyboard.press('Enter');
  await page.getByText('Last requests').waitFor();
  match(page.url(), /#host=www\.example\.org$/);
  await page.locator('#details td button').first().press('Enter');
  await page.getByText('Decisions').waitFor();
  match(page.url(), /#url=https%3A/);
  await page.goBack();
  await page.getByText('Last requests').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#details').waitFor({ state: 'hidden' });
  strictEqual(new URL(page.url()).hash, '');
  await page.keyboard.press('/');
  await page.keyboard.type('https://www.example.org/a');
  await page.keyboard.press('Enter');
  await page.getByText('Decisions').waitFor();
  deepStrictEqual(troubles, []);
});

test('the dashboard pauses and injects after a confirmation with the token, and not before', async (t) => {
  const on = await shown(t, { operable: true });
  if (on === undefined) return;
  const { page, crawl, audit, troubles } = on;
  await page.getByRole('button', { name: 'Pause all' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  deepStrictEqual(crawl.operations, []);
  await page.getByRole('button', { name: 'Pause all' }).click();
  await page.locator('#confirm-token').fill('a wrong one');
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.getByText('the token is not that of this run').waitFor();
  deepStrictEqual(crawl.operations, []);
  await page.locator('#confirm-token').fill(TOKEN);
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.locator('#done', { hasText: 'Done:' }).waitFor();
  await page.getByRole('button', { name: 'Inject URLs…' }).click();
  ok(await page.locator('#confirm-token').isHidden(), 'the token is asked for once');
  await page.locator('#confirm-urls').fill('https://a.example/\nhttps://b.example/');
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.locator('#confirm').waitFor({ state: 'hidden' });
  deepStrictEqual(crawl.operations, [
    { kind: 'pause', target: { kind: 'all' } },
    { kind: 'inject', urls: ['https://a.example/', 'https://b.example/'] },
  ]);
  deepStrictEqual(
    audit.map(({ source, outcome }) => [source, outcome]),
    [
      ['http', 'done'],
      ['http', 'done'],
    ],
  );
  deepStrictEqual(troubles, []);
});

test('the dashboard fits a narrow window in the dark: nothing sticks out, text can be read', async (t) => {
  const on = await shown(t, { viewport: { width: 360, height: 700 }, colorScheme: 'dark' });
  if (on === undefined) return;
  const { page, troubles } = on;
  await page.locator('#charts canvas').first().waitFor();
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  ok(width <= 360, `the page is ${width} wide`);
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  strictEqual(ground, 'rgb(15, 19, 24)');
  deepStrictEqual(troubles, []);
});
