// Conformance cases lie beside the project, not in it. This finds them from wherever the compiled test runs.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Reads one file of conformance cases.
 * @param file name below `../shared/cases`, for example `traps.json`
 * @returns the parsed JSON; undefined when the folder is absent
 */
// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape, and tests fail loudly on a wrong one
export function loadCases(file: string): any {
  const url = new URL(`../../../../shared/cases/${file}`, import.meta.url);
  return existsSync(url) ? JSON.parse(readFileSync(fileURLToPath(url), 'utf8')) : undefined;
}
