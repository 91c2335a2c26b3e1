#!/usr/bin/env node
// The command (DESIGN.md §9). Plain JavaScript that old versions of Node can read too, so that whoever has one is told in a line what is missing.

import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
const entry = new URL('./dist/src/app/main.js', import.meta.url);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`hostler: needs Node.js 20.19 or newer, this is ${process.versions.node}\n`);
  process.exitCode = 2;
} else if (!existsSync(entry)) {
  process.stderr.write('hostler: not built yet: run npm ci in its folder\n');
  process.exitCode = 2;
} else {
  const { main } = await import(entry.href);
  process.exitCode = await main(process.argv.slice(2));
}
