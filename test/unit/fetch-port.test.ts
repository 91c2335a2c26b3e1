// Step 9 alone reaches the network: no actor can fetch around the frontier. Read from the source text, so that a new file cannot forget it.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROJECT_ROOT } from '../support/command-line.ts';

const SOURCE = join(PROJECT_ROOT, 'src');

/** Source files of a folder and their text without comments. */
function sources(folder: string): Map<string, string> {
  const names = readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts'));
  return new Map(
    files.map((name) => {
      const text = readFileSync(join(SOURCE, folder, name), 'utf8');
      return [`${folder}/${name}`, text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')];
    }),
  );
}

function filesWith(files: Map<string, string>, pattern: RegExp): string[] {
  return [...files].filter(([, text]) => pattern.test(text)).map(([name]) => name);
}

test('FetchPort is named in actors only where it is defined, held and handed to the gate', () => {
  const actors = sources('actors');
  ok(actors.size > 20);
  deepStrictEqual(filesWith(actors, /\bFetchPort\b/).sort(), [
    'actors/fetch-gate.ts',
    'actors/ports.ts',
    'actors/shard-ports.ts',
  ]);
});

test('only FetchGate starts a request on the port', () => {
  const actors = sources('actors');
  const gate = actors.get('actors/fetch-gate.ts') ?? '';
  strictEqual(gate.match(/this\.#port\.start\(/g)?.length, 1);
  // The shard's port goes into its gate and nowhere else.
  const shard = actors.get('actors/shard-actor.ts') ?? '';
  deepStrictEqual(shard.match(/\w*(?:\.|\b)fetch\b(?!-)[^\n]*/g), [
    'ports.fetch, options.slotsMax, () => this.#queuePump());',
  ]);
  const assembly = actors.get('actors/shard-assembly.ts') ?? '';
  strictEqual(assembly.match(/\bmeans\.fetch\b/g)?.length, 1);
});

test('nothing outside net and the wiring reaches for sockets or undici', () => {
  const network = /from '(?:undici|node:(?:net|tls|http2?|https|dns|dgram)(?:\/promises)?)'/;
  for (const folder of ['base', 'domain', 'runtime', 'actors', 'storage', 'parsers']) {
    deepStrictEqual(filesWith(sources(folder), network), [], folder);
  }
  const fetchers = filesWith(sources('app'), /\bUndiciFetcher\b/);
  deepStrictEqual(fetchers, ['app/shard-thread.ts']);
});
