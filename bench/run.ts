// `npm run bench`: every micro-benchmark in its smoke size and a short load run; `npm run bench -- load …` and `npm run bench -- memory …`
// are the long ones. A benchmark that throws or hangs fails here, so that none can rot (STYLE.md 19).

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compareCommand } from './compare.ts';
import { gateCommand } from './gate.ts';
import { inspectCommand } from './inspect.ts';
import { loadCommand } from './load.ts';
import { memoryCommand } from './memory.ts';
import { peersCommand } from './peers.ts';
import { politeCommand } from './polite.ts';
import { renderingCommand } from './rendering.ts';

const MICRO_TIMEOUT_MS = 120_000;

const [command, ...rest] = process.argv.slice(2);
switch (command) {
  case undefined:
    runMicro();
    process.exitCode ||= await loadCommand(['--rate', '1000', '--size', '10k', '--hosts', '500']);
    break;
  case 'compare':
    process.exitCode = await compareCommand(rest);
    break;
  case 'gate':
    process.exitCode = await gateCommand();
    break;
  case 'inspect':
    process.exitCode = await inspectCommand(rest);
    break;
  case 'load':
    process.exitCode = await loadCommand(rest);
    break;
  case 'memory':
    process.exitCode = await memoryCommand(rest);
    break;
  case 'peers':
    process.exitCode = await peersCommand(rest);
    break;
  case 'polite':
    process.exitCode = await politeCommand(rest);
    break;
  case 'rendering':
    process.exitCode = await renderingCommand(rest);
    break;
  default:
    process.stderr.write(
      'usage: npm run bench [-- compare A B | gate | inspect | load … | memory … | peers … | polite … | ' +
        'rendering …]\n',
    );
    process.exitCode = 2;
}

/** Smoke runs of all micro-benchmarks, each in a process of its own. */
function runMicro(): void {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.bench.js')) continue;
    process.stdout.write(`\n${file.replace('.bench.js', '')}\n`);
    const run = spawnSync(process.execPath, [`${folder}${file}`], {
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: MICRO_TIMEOUT_MS,
    });
    if (run.status !== 0) process.exitCode = 1;
  }
}
