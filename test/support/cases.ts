// Reads the conformance cases, which live beside the project and are never copied into it (DESIGN.md §11).
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The parsed content of one case file.
 * @param file its name, for example `links.json`
 * @returns undefined when the folder of cases is absent: the caller skips, and says so
 */
// biome-ignore lint/suspicious/noExplicitAny: the cases are foreign JSON, checked by the tests that read them
export function loadCases(file: string): any {
  const path = fileURLToPath(new URL(`../../../../shared/cases/${file}`, import.meta.url));
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}
