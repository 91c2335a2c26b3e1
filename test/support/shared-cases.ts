// Reads the conformance cases kept beside the project; they are never copied into it. Absent, a suite says so and is skipped.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Path of a case file; undefined when the folder of cases is absent. */
export function sharedCasePath(name: string): string | undefined {
  const path = resolve(ROOT, '../shared/cases', name);
  return existsSync(path) ? path : undefined;
}

/** The `cases` of a case file. */
export function readSharedCases<Case>(path: string): readonly Case[] {
  const file: { cases: Case[] } = JSON.parse(readFileSync(path, 'utf8'));
  return file.cases;
}
