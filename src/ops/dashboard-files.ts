// The files of the dashboard: its page, style and script in src/ops/dashboard, and the chart
// library uPlot from node_modules. All are read once and served from memory, by exact name; nothing
// a request says becomes a path.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A file as it is served. */
export interface ServedFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JS = 'text/javascript; charset=utf-8';

const OWN: readonly (readonly [path: string, file: string, contentType: string])[] = [
  ['/', 'dashboard.html', HTML],
  ['/assets/dashboard.css', 'dashboard.css', CSS],
  ['/assets/dashboard.js', 'dashboard.js', JS],
  ['/assets/charts.js', 'charts.js', JS],
  ['/assets/details.js', 'details.js', JS],
  ['/assets/operate.js', 'operate.js', JS],
  ['/assets/hosts.js', 'hosts.js', JS],
  ['/assets/elements.js', 'elements.js', JS],
  ['/assets/format.js', 'format.js', JS],
];
const LIBRARY: readonly (readonly [path: string, file: string, contentType: string])[] = [
  ['/assets/uplot.js', 'uplot/dist/uPlot.esm.js', JS],
  ['/assets/uplot.css', 'uplot/dist/uPlot.min.css', CSS],
];
/** From dist/src/ops to the sources, which are shipped too: the compiler does not copy what it does not compile. */
const FOLDER = '../../../src/ops/dashboard/';

/** All files by the path of their URL. Without the library the page shows its figures and says that charts are missing. */
export function dashboardFiles(): ReadonlyMap<string, ServedFile> {
  const files = new Map<string, ServedFile>();
  for (const [path, file, contentType] of OWN) {
    const bytes = readFileSync(new URL(`${FOLDER}${file}`, import.meta.url));
    files.set(path, { contentType, bytes });
  }
  const { resolve } = createRequire(import.meta.url);
  for (const [path, file, contentType] of LIBRARY) {
    const bytes = readIfInstalled(() => resolve(file));
    if (bytes !== undefined) files.set(path, { contentType, bytes });
  }
  return files;
}

function readIfInstalled(locate: () => string): Buffer | undefined {
  try {
    return readFileSync(locate());
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}
