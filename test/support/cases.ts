// Finds the conformance cases, which lie beside the project and are not part of it.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The folder of the cases; it may be absent. */
export const CASES_DIRECTORY = resolve(PROJECT_ROOT, '../shared/cases');

/**
 * One parsed case file.
 * @param file name inside the folder, for example `warc.json`
 * @returns undefined when the file or the folder is absent
 */
// biome-ignore lint/suspicious/noExplicitAny: each suite has a shape of its own, and checks it by using it
export function loadCases(file: string): any {
  const path = resolve(CASES_DIRECTORY, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}
