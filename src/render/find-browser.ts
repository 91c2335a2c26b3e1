// Where the browser is, and the package that drives it (docs/RENDERING.md): both are optional, and what is missing is told in a sentence.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { BrowserType } from './browser-api.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Not written at the import itself, since the compiler would ask for the package then. */
const PACKAGE = 'playwright-core';

export type BrowserFound =
  | { readonly kind: 'found'; readonly type: BrowserType; readonly path: string }
  | { readonly kind: 'missing'; readonly detail: string };

/** @param wanted path of a browser; undefined to look for one on the PATH */
export async function findBrowser(wanted: string | undefined): Promise<BrowserFound> {
  const path = wanted ?? onPath();
  if (path === undefined || !isExecutable(path)) {
    const what = wanted === undefined ? 'no Chromium is on the PATH' : `${wanted} cannot be run`;
    const remedy = 'install one (Debian: apt-get install chromium) or set browserPath';
    return { kind: 'missing', detail: `${what}: ${remedy}` };
  }
  try {
    const { chromium } = (await import(PACKAGE)) as { readonly chromium: BrowserType };
    return { kind: 'found', type: chromium, path };
  } catch (error) {
    const [why = ''] = String(error).split('\n');
    return { kind: 'missing', detail: `the npm package ${PACKAGE} cannot be loaded (${why})` };
  }
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
