// The file of `--nodes`: one machine a line, the same file on every machine (CLUSTER.md, hosts.txt). Pure: text in, nodes and bus out. Stands
// before step 2 of a URL's life: who can own a partition at all. Every problem of a file is told at once, each with its line, since an
// operator copies the file to many machines and wants to do so once. A line may be a bare address; its name is then made from the address,
// not from its place, so that a line put in between renames nobody (a name is a directory, a lease and a sender's identity).

import { CrawlError } from '../base/errors.ts';
import { addressOf, isLoopback } from './node-address.ts';

/** Base port of a node's own servers where the file names none. */
export const BASE_PORT = 7070;
/** Ports between two nodes of one machine: each needs four (dashboard, bus, its monitor, its routes). */
export const PORT_STEP = 100;
/** Nodes of a file, at most: `partitions` is at most 65,536, and each node should have 16. */
export const NODES_MAX = 4_096;
/** Bytes of a file, at most. */
const FILE_CHARS_MAX = 1_000_000;
/** Bus servers that are chosen on several machines when no line says `bus`: three survive the loss of one. */
const BUS_SERVERS = 3;
/** A node's share of the partitions, in units of the others'. */
const WEIGHT_MAX = 100;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const REGION = /^[A-Za-z0-9-]{1,32}$/;

/** One line of the file. */
export interface NodeLine {
  /** Unique; letters, digits, `-` and `_`, at most 32. */
  readonly name: string;
  /** An IP address or a host name, as written. */
  readonly address: string;
  /** First of the ports of its own servers, 1 … 65,532. */
  readonly port: number;
  /** Relative share of the partitions, above 0, at most 100. */
  readonly weight: number;
  readonly region: string | undefined;
}

/** Where the messages go. */
export type BusChoice =
  /** The nodes of these names run a server each. */
  | { readonly kind: 'own'; readonly servers: readonly string[] }
  /** Somebody else runs it. */
  | { readonly kind: 'given'; readonly url: string };

export interface HostsFile {
  /** At least one. */
  readonly nodes: readonly NodeLine[];
  readonly bus: BusChoice;
  /** File of the shared secret, as written. */
  readonly secretFile: string | undefined;
  /** Directory of certificate and key, as written. */
  readonly tlsDir: string | undefined;
  /** True when every node is on this machine: one command then starts them all. */
  readonly isLoopback: boolean;
}

interface Draft {
  readonly line: number;
  readonly name: string | undefined;
  readonly address: string;
  readonly port: number | undefined;
  readonly weight: number;
  readonly region: string | undefined;
  readonly runsBus: boolean;
}

interface Settings {
  bus: string | undefined;
  secret: string | undefined;
  tls: string | undefined;
}

/**
 * Reads the text of a hosts file.
 * @param path for messages
 * @throws CrawlError config, with every problem and its line
 */
export function parseHostsFile(text: string, path: string): HostsFile {
  const problems: string[] = [];
  const drafts: Draft[] = [];
  const settings: Settings = { bus: undefined, secret: undefined, tls: undefined };
  if (text.length > FILE_CHARS_MAX) throw fileError(path, [`larger than ${FILE_CHARS_MAX} bytes`]);
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const words = raw
      .replace(/(^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    const complain = (what: string): void => {
      problems.push(`line ${index + 1}: ${what}`);
    };
    if (isSettings(words)) readSettings(words, settings, complain);
    else readNode(words, index + 1, drafts, complain);
  }
  if (drafts.length === 0 && problems.length === 0) problems.push('it names no machine');
  if (drafts.length > NODES_MAX) {
    throw fileError(path, [...problems, `${drafts.length} machines, at most ${NODES_MAX}`]);
  }
  const isLocal = drafts.every(({ address }) => isLoopback(address));
  const nodes = named(drafts, isLocal, problems);
  checkPorts(nodes, problems);
  const bus = busOf(drafts, nodes, settings.bus, problems);
  if (!isLocal && settings.secret === undefined) {
    problems.push('no secret: machines beyond this one need a line secret=@FILE');
  }
  if (problems.length > 0) throw fileError(path, problems);
  return { nodes, bus, secretFile: settings.secret, tlsDir: settings.tls, isLoopback: isLocal };
}

/** A line of `key=value` alone is about the file as a whole. */
function isSettings(words: readonly string[]): boolean {
  return words.every((word) => /^[a-z]+=/.test(word));
}

function readSettings(
  words: readonly string[],
  settings: Settings,
  complain: (what: string) => void,
): void {
  for (const word of words) {
    const at = word.indexOf('=');
    const key = word.slice(0, at);
    const value = word.slice(at + 1);
    if (key !== 'bus' && key !== 'secret' && key !== 'tls') {
      complain(`${shown(word)} is no setting: bus=nats://HOST:PORT, secret=@FILE or tls=DIR`);
    } else if (value === '' || value === '@') {
      complain(`${key}= has no value`);
    } else if (settings[key] !== undefined) {
      complain(`${key}= is given twice`);
    } else if (key === 'bus' && !isBusUrl(value)) {
      complain(`bus=${shown(value)} is no address such as nats://mybus:4222`);
    } else if (key === 'secret' && !value.startsWith('@')) {
      complain('secret= takes a file, secret=@FILE: this file is copied about, a secret is not');
    } else {
      settings[key] = key === 'secret' ? value.slice(1) : value;
    }
  }
}

/** One or more `nats://` or `tls://` URLs, with commas between, without a password in them. */
function isBusUrl(value: string): boolean {
  return value
    .split(',')
    .every((one) =>
      /^(nats|tls):\/\/[^\s/@:]+(:\d{1,5})?$|^(nats|tls):\/\/\[[0-9a-fA-F:.]+\](:\d{1,5})?$/.test(
        one,
      ),
    );
}

function readNode(
  words: readonly string[],
  line: number,
  drafts: Draft[],
  complain: (what: string) => void,
): void {
  const firstOption = words.findIndex(
    (word, at) => at > 0 && (word === 'bus' || word.includes('=')),
  );
  const plain = firstOption === -1 ? words : words.slice(0, firstOption);
  const options = firstOption === -1 ? [] : words.slice(firstOption);
  if (plain.length > 2) {
    complain(`${shown(plain[2] as string)} is no option: bus, weight=N or region=NAME`);
    return;
  }
  const [name, text] = plain.length === 2 ? plain : [undefined, plain[0]];
  const place = addressOf(text as string);
  if (place === undefined) complain(`${shown(text as string)} is no address`);
  if (name !== undefined && !NAME.test(name)) {
    complain(`${shown(name)} is no name: letters, digits, - and _, at most 32`);
  }
  const read = readOptions(options, complain);
  if (place === undefined) return;
  drafts.push({ line, name, address: place.address, port: place.port, ...read });
}

function readOptions(
  options: readonly string[],
  complain: (what: string) => void,
): Pick<Draft, 'weight' | 'region' | 'runsBus'> {
  let weight = 1;
  let region: string | undefined;
  let runsBus = false;
  for (const option of options) {
    const [key, value = ''] = option.split(/=(.*)/s);
    if (option === 'bus') runsBus = true;
    else if (key === 'weight') {
      weight = Number(value);
      if (!(/^\d+(\.\d+)?$/.test(value) && weight > 0 && weight <= WEIGHT_MAX)) {
        complain(`weight=${shown(value)}: a number above 0, at most ${WEIGHT_MAX}`);
        weight = 1;
      }
    } else if (key === 'region') {
      region = value;
      if (!REGION.test(value)) complain(`region=${shown(value)}: letters, digits and -`);
    } else complain(`${shown(option)} is no option: bus, weight=N or region=NAME`);
  }
  return { weight, region, runsBus };
}

function named(drafts: readonly Draft[], isLocal: boolean, problems: string[]): NodeLine[] {
  const lines = new Map<string, number>();
  for (const { name, line } of drafts) {
    if (name === undefined) continue;
    const before = lines.get(name);
    if (before !== undefined) {
      problems.push(`line ${line}: ${name} is the name of line ${before} already`);
    }
    lines.set(name, before ?? line);
  }
  /** Names made of each address so far: looking from the first again would take quadratic time. */
  const copies = new Map<string, number>();
  return drafts.map(({ name, line, address, port, weight, region }, index) => {
    let given = name;
    for (let copy = (copies.get(address) ?? 0) + 1; given === undefined; copy += 1) {
      const made = madeName(address, copy);
      copies.set(address, copy);
      if (!lines.has(made)) given = made;
    }
    lines.set(given, line);
    const fallback = BASE_PORT + (isLocal ? PORT_STEP * index : 0);
    return { name: given, address, port: port ?? Math.min(fallback, 65_532), weight, region };
  });
}

/** `10.0.0.1` → `10-0-0-1`; the second line of one address gets `-2`. */
function madeName(address: string, copy: number): string {
  const plain = address.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
  const end = copy === 1 ? '' : `-${copy}`;
  return `${(plain === '' ? 'node' : plain).slice(0, 32 - end.length)}${end}`;
}

/** Each node needs its port and the three after it for itself. */
function checkPorts(nodes: readonly NodeLine[], problems: string[]): void {
  const byAddress = new Map<string, NodeLine[]>();
  for (const node of nodes) {
    const key = isLoopback(node.address) ? 'loopback' : node.address;
    const known = byAddress.get(key);
    if (known === undefined) byAddress.set(key, [node]);
    else known.push(node);
  }
  for (const neighbours of byAddress.values()) {
    const sorted = [...neighbours].sort((left, right) => left.port - right.port);
    for (const [at, node] of sorted.entries()) {
      const next = sorted[at + 1];
      if (next === undefined || next.port - node.port >= 4) continue;
      problems.push(
        `${node.name} and ${next.name} share ports of ${node.address}: each needs four, from ${node.port} and ${next.port}`,
      );
    }
  }
}

function busOf(
  drafts: readonly Draft[],
  nodes: readonly NodeLine[],
  given: string | undefined,
  problems: string[],
): BusChoice {
  const marked = nodes.filter((_, index) => drafts[index]?.runsBus).map(({ name }) => name);
  if (given !== undefined) {
    if (marked.length > 0)
      problems.push(`both bus= and a machine with the word bus (${marked[0]})`);
    return { kind: 'given', url: given };
  }
  if (marked.length > 0) {
    // Two servers lose their majority with either of them: worse than one.
    if (marked.length % 2 === 0) {
      problems.push(`${marked.length} machines run the bus: 1, 3 or 5, so that a majority remains`);
    }
    return { kind: 'own', servers: marked };
  }
  // Copies on one machine would protect from nothing.
  const isOneMachine = nodes.every(({ address }) => isLoopback(address));
  const count = !isOneMachine && nodes.length >= BUS_SERVERS ? BUS_SERVERS : 1;
  return { kind: 'own', servers: nodes.slice(0, count).map(({ name }) => name) };
}

/** What stands in the file, cut and escaped for a message. */
function shown(word: string): string {
  return JSON.stringify(word.slice(0, 60));
}

function fileError(path: string, problems: readonly string[]): CrawlError {
  const lines = problems.slice(0, 20).map((problem) => `${path}: ${problem}`);
  if (problems.length > 20) lines.push(`${path}: and ${problems.length - 20} problems more`);
  return new CrawlError('config', lines.join('\n'), {
    remedy:
      'A line is [name] address[:port] [bus] [weight=N] [region=NAME]; settings are bus=nats://HOST:PORT, secret=@FILE, tls=DIR.',
  });
}
