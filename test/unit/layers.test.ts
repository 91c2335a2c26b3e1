// The structure that DESIGN.md §2 and STYLE.md promise, read from the sources: which layer imports which, what the pure layers must not
// touch, where a fetch permit may be made and the fetch port reached, how long a file may be.
import { deepStrictEqual, ok } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SRC = join(ROOT, 'src');

/** Layers a layer may import besides itself. */
const COMMON = ['base', 'domain', 'runtime', 'actors'];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  domain: ['base'],
  runtime: ['base', 'domain'],
  actors: ['base', 'domain', 'runtime'],
  storage: COMMON,
  net: COMMON,
  cluster: COMMON,
  parsers: COMMON,
  render: COMMON,
  feed: COMMON,
  ops: COMMON,
  config: ['base'],
};

/** npm packages the domain may use, each initialised at thread start where it needs that. */
const DOMAIN_PACKAGES = ['xxhash-wasm', 'tldts', 'iconv-lite'];

interface Source {
  /** Path below src. */
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  /** Text without comments, strings and regular expressions kept. */
  readonly code: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(SRC, { recursive: true })
  .map(String)
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const imports = [
      ...text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)';|^import '([^']+)';/gms),
    ];
    return {
      path,
      layer: path.split('/')[0] as string,
      text,
      code: text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1'),
      imports: imports.map((match) => (match[1] ?? match[2]) as string),
    };
  });

function layerOf(source: Source, specifier: string): string {
  return normalize(join(dirname(source.path), specifier)).split('/')[0] as string;
}

test('a layer imports only layers to its left, and siblings never meet', () => {
  const wrong: string[] = [];
  for (const source of sources) {
    const allowed = MAY_IMPORT[source.layer];
    if (source.layer === 'app') continue;
    ok(allowed !== undefined, `src/${source.layer} is no layer of DESIGN.md §2`);
    for (const specifier of source.imports.filter((each) => each.startsWith('.'))) {
      const layer = layerOf(source, specifier);
      if (layer !== source.layer && !allowed.includes(layer)) {
        wrong.push(`${source.path} imports ${specifier}`);
      }
    }
  }
  deepStrictEqual(wrong, []);
});

test('every relative import names a file with its .ts', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.') && !specifier.endsWith('.ts'))
      .map((specifier) => `${path} imports ${specifier}`),
  );
  deepStrictEqual(wrong, []);
});

test('base imports nothing from outside, domain and actors neither node nor packages that do I/O', () => {
  const wrong: string[] = [];
  for (const { path, layer, imports } of sources) {
    if (layer !== 'base' && layer !== 'domain' && layer !== 'actors') continue;
    for (const specifier of imports.filter((each) => !each.startsWith('.'))) {
      const isAllowed = layer === 'domain' && DOMAIN_PACKAGES.includes(specifier);
      if (!isAllowed) wrong.push(`${path} imports ${specifier}`);
    }
  }
  deepStrictEqual(wrong, []);
});

test('domain and actors are synchronous and know no clock, timer or chance', () => {
  const forbidden =
    /\b(async|await|Promise|setTimeout|setInterval|setImmediate|queueMicrotask|Date\.now|Math\.random|performance\.now)\b|\bprocess\./;
  const wrong = sources
    .filter(({ layer }) => layer === 'domain' || layer === 'actors')
    .filter(({ code }) => forbidden.test(code))
    .map(({ path, code }) => `${path}: ${forbidden.exec(code)?.[0]}`);
  deepStrictEqual(wrong, []);
});

test('in runtime only real-*.ts touches the clocks and timers of the machine', () => {
  const forbidden = /\b(setTimeout|setInterval|setImmediate|Date\.now|Math\.random)\(/;
  const wrong = sources
    .filter(({ layer, path }) => layer === 'runtime' && !/\/real-[^/]+$/.test(path))
    .filter(({ code }) => forbidden.test(code))
    .map(({ path }) => path);
  deepStrictEqual(wrong, []);
});

test('nobody asks URL.canParse, which denies good URLs in Node 20', () => {
  const askers = sources.filter(({ code }) => code.includes('canParse')).map(({ path }) => path);
  deepStrictEqual(askers, []);
});

test('FetchPermit is made by HostPace alone', () => {
  const makers = sources
    .filter(({ code }) => code.includes('new FetchPermit('))
    .map(({ path }) => path);
  deepStrictEqual(makers, ['actors/host-pace.ts']);
});

test('FetchTenure is made by TenureBook alone, and only HostRequests asks for one (I4)', () => {
  const makers = sources
    .filter(({ code }) => code.includes('new FetchTenure('))
    .map(({ path }) => path);
  deepStrictEqual(makers, ['actors/fetch-tenure.ts']);
  const askers = sources.filter(({ code }) => /\.tryTenure\(/.test(code)).map(({ path }) => path);
  deepStrictEqual(askers, ['actors/host-requests.ts']);
});

test('only step 9 reaches the fetch port: FetchGate starts requests, and only the assembly hands it the port', () => {
  const starters = sources
    .filter(({ layer, code }) => layer === 'actors' && /\bport\.start\(/.test(code))
    .map(({ path }) => path);
  deepStrictEqual(starters, ['actors/fetch-gate.ts']);
  const holders = sources
    .filter(({ layer, code }) => layer === 'actors' && /\bFetchPort\b/.test(code))
    .map(({ path }) => path)
    .sort();
  deepStrictEqual(holders, ['actors/fetch-gate.ts', 'actors/ports.ts', 'actors/shard-ports.ts']);
  const gates = sources
    .filter(({ code }) => code.includes('new FetchGate('))
    .map(({ path }) => path);
  deepStrictEqual(gates, ['actors/shard-actor.ts']);
  const fetchers = sources
    .filter(({ code, layer }) => layer !== 'net' && code.includes('new UndiciFetcher('))
    .map(({ path }) => path);
  deepStrictEqual(fetchers, ['app/shard-thread.ts']);
});

test('no file is longer than 400 lines, and none is called index or utils', () => {
  const wrong = sources
    .filter(
      ({ path, text }) => text.split('\n').length > 401 || /(^|\/)(index|utils?)\.ts$/.test(path),
    )
    .map(({ path, text }) => `${path}: ${text.split('\n').length - 1} lines`);
  deepStrictEqual(wrong, []);
});

test('nothing but the configuration exports a default, and files begin with a header', () => {
  const wrong = sources
    .filter(({ code, text }) => /^export default\b/m.test(code) || !text.startsWith('//'))
    .map(({ path }) => path);
  deepStrictEqual(wrong, []);
});

test('no path of a machine and no registry is named in what git keeps', () => {
  const named = sources
    .filter(({ text }) => /\/work\/|\/tmp\/wt/.test(text))
    .map(({ path }) => relative(ROOT, join(SRC, path)));
  deepStrictEqual(named, []);
});
