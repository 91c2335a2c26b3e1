// `npm run docs`: writes docs/CONFIGURATION.md from the table of options; with --template prints a fresh cluster.config.ts instead, since the
// one in place is the operator's to edit.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configTemplate, configurationPage } from '../src/config/option-texts.ts';

if (process.argv.includes('--template')) {
  process.stdout.write(configTemplate());
} else {
  const folder = fileURLToPath(new URL('../../docs/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}CONFIGURATION.md`, configurationPage());
}
