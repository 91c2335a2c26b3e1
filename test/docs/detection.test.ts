// How often detection is wrong about real pages (docs/RENDERING.md): documentation that people wrote and tools generated can be read as it is.
import { deepStrictEqual, ok } from 'node:assert';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scanLinks } from '../../src/domain/link-scanner.ts';
import { renderReasonOf } from '../../src/domain/render-need.ts';
import { SimhashBuilder } from '../../src/domain/simhash.ts';

const ROOTS = ['/usr/share/doc/python3-doc/html', '/usr/share/doc/postgresql-doc-15/html'];

test('renderReasonOf finds no page of Debian documentation in need of a browser', () => {
  const found: string[] = [];
  let pages = 0;
  for (const root of ROOTS.map((path) => realpathSync(path))) {
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.html')) continue;
      const bytes = readFileSync(join(root, name));
      const text = new SimhashBuilder();
      const links = new Set(scanLinks(bytes, { text }).links.map(({ reference }) => reference));
      const words = text.finish().features;
      const reason = renderReasonOf({ bytes, words, links: links.size });
      if (reason !== undefined) found.push(`${name}: ${reason}`);
      pages += 1;
    }
  }
  ok(pages > 1_000, `${pages} pages`);
  deepStrictEqual(found, []);
});
