// Conformance cases that live beside the project and are never copied into it: `../shared/cases` from the project root.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Parses one file of cases.
 * @param file name in the folder, for example `robots.json`
 * @returns the parsed JSON; undefined when the folder is absent (a test then skips and says so)
 */
// biome-ignore lint/suspicious/noExplicitAny: each suite knows the shape of its own file
export function loadCases(file: string): any {
  const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));
  const folder = resolve(projectRoot, '../shared/cases');
  if (!existsSync(folder)) return undefined;
  return JSON.parse(readFileSync(resolve(folder, file), 'utf8'));
}
