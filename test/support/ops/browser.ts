// A headless Chromium for tests of pages, where one is installed. Tests that need it are skipped aloud where there is none, or where the
// library that drives it is not installed.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** Names under which distributions install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** A browser, or why there is none. */
export async function openBrowser(): Promise<Browser | string> {
  const program = chromiumPath();
  if (program === undefined) return 'no Chromium here (Debian: apt-get install chromium)';
  const library = await import('playwright-core').catch(() => undefined);
  if (library === undefined) return 'playwright-core is not installed';
  // A test may run as root in a container, where Chromium refuses its sandbox; the pages are our own.
  const args = ['--no-sandbox', '--disable-gpu'];
  return library.chromium.launch({ executablePath: program, args });
}

/** A page and what went wrong in it: errors, and requests to anywhere but its own server. */
export interface WatchedPage {
  readonly page: Page;
  readonly troubles: string[];
}

/** Opens a page in a context of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => {
    // A refused act is answered by a status, which Chromium writes down as an error too.
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) troubles.push(message.text());
  });
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || request.url().startsWith('data:');
    if (!isOwn) troubles.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, troubles };
}

function chromiumPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const path of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here: the next one.
    }
  }
  return undefined;
}
