// `npm run bench -- gate`: does a crawl still cost what it did? A fixed simulated crawl (every shard, robots, politeness, checkpoint and
// parse, no fault) is run beside a fixed loop of plain work, in turns, and the CPU time of one request is told in units of the loop: that
// ratio hardly depends on the machine or on what else runs there, while milliseconds do. Fails when it is `FACTOR_MAX` times the stored one.
//
// The least of several turns is taken of both, since disturbance only ever adds. After a change that is worth its cost, store the new figure.

import xxhash from 'xxhash-wasm';
import { drawPlan, PLAIN, type SimPlan } from '../test/support/sim/sim-plan.ts';
import { simulate } from '../test/support/sim/simulate.ts';

/** Units of the calibration loop for each request of the simulated crawl, as `npm run bench -- gate` printed it on an idle machine. */
const STORED_UNITS = 0.68;
/** On an idle machine the ratio varies by a tenth, beside other work by a third; a regression of half as much again is caught on the former. */
const FACTOR_MAX = 1.5;
const TURNS = 5;
/** Calibration steps of one unit, about a millisecond. */
const UNIT_STEPS = 4_000;
const UNITS = 60;

/** What the gate found. */
export interface GateFigure {
  /** Cost of a request against the stored one. */
  readonly factor: number;
  readonly isKept: boolean;
  /** One line for people. */
  readonly text: string;
}

/** Runs the command. @returns the exit status: 1 when the crawl has become dearer */
export async function gateCommand(): Promise<number> {
  const { isKept, text } = await gateFigure();
  process.stdout.write(`${text}\n`);
  return isKept ? 0 : 1;
}

/** Measures. @throws Error when the simulated crawl breaks a promise */
export async function gateFigure(): Promise<GateFigure> {
  const hash = await xxhash();
  const plan = gatePlan();
  let requests = 0;
  let checksum = 0;
  const crawl = (): void => {
    const result = simulate(plan, hash);
    if (result.failure !== undefined) throw new Error(`the simulation failed: ${result.failure}`);
    requests = result.requests;
  };
  const loop = (): void => {
    for (let unit = 0; unit < UNITS; unit += 1) checksum = (checksum + oneUnit(unit)) | 0;
  };
  crawl();
  loop();
  let crawlMs = Infinity;
  let loopMs = Infinity;
  for (let turn = 0; turn < TURNS; turn += 1) {
    crawlMs = Math.min(crawlMs, cpuMsOf(crawl));
    loopMs = Math.min(loopMs, cpuMsOf(loop));
  }
  const units = crawlMs / requests / (loopMs / UNITS);
  const factor = units / STORED_UNITS;
  const text =
    `${requests} requests at ${(crawlMs / requests).toFixed(3)} ms CPU, a unit ${(loopMs / UNITS).toFixed(3)} ms: ` +
    `${units.toFixed(3)} units a request, ${factor.toFixed(2)} times the stored ${STORED_UNITS} ` +
    `(at most ${FACTOR_MAX}); checksum ${(checksum >>> 0).toString(16)}`;
  return { factor, isKept: factor <= FACTOR_MAX, text };
}

/** A web of plain pages under plain bounds: what is measured is the crawl and not its troubles. */
function gatePlan(): SimPlan {
  const drawn = drawPlan('polite', 1);
  const none = Object.fromEntries(Object.keys(drawn.faults).map((name) => [name, 0]));
  return {
    ...drawn,
    ...PLAIN,
    web: { hosts: 20, pagesPerHost: 60, linksPerPage: 40, pageBytes: 4_000, features: {} },
    shards: 2,
    crashes: [],
    faults: { ...(none as unknown as SimPlan['faults']), retryAfter: false },
    recrawls: false,
  };
}

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Plain work of the kinds a crawler does: text cut and joined, maps, big integers, bytes. */
function oneUnit(seed: number): number {
  const known = new Map<string, bigint>();
  const bytes = new Uint8Array(4_096);
  let key = BigInt(seed + 1);
  let sum = 0;
  for (let step = 0; step < UNIT_STEPS; step += 1) {
    const path = `http://host-${step % 97}.test/dir/${step % 511}?q=${seed}`;
    key = BigInt.asUintN(64, key * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    const before = known.get(path);
    if (before === undefined) known.set(path, key);
    else sum = (sum + Number(before & 0xffn)) | 0;
    bytes[step % bytes.length] = path.charCodeAt(path.indexOf('/', 8) + 1 + (step % 8)) ^ sum;
  }
  for (const byte of bytes) sum = (Math.imul(sum, 31) + byte) | 0;
  return sum;
}
