// Where a thread spends its time (DESIGN.md §10, `cpu`): a sampled profile of the thread that calls, by the inspector of the runtime itself,
// summed up by function. Sampling at 1 ms costs the thread some percent for those seconds, which is why it happens only when asked for.

import { Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CpuReport } from '../ops/reports.ts';

type Hottest = CpuReport['hottest'];

/** Functions told of each thread. */
const FUNCTIONS_MAX = 25;
const SAMPLE_MICROSECONDS = 1_000;

/** The part of a profile that is read (Chrome DevTools protocol, Profiler.Profile). */
interface Profile {
  readonly nodes: readonly {
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
    readonly hitCount?: number;
  }[];
}

/** Profiles for so many seconds. @returns the functions with most samples of their own, most first */
export async function profileThread(thread: string, seconds: number): Promise<Hottest> {
  const session = new Session();
  session.connect();
  try {
    await post(session, 'Profiler.enable');
    await post(session, 'Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
    await post(session, 'Profiler.start');
    await sleep(seconds * 1_000);
    const { profile } = (await post(session, 'Profiler.stop')) as { readonly profile: Profile };
    return hottestOf(thread, profile);
  } finally {
    session.disconnect();
  }
}

/** Sums a profile up. Shares are of all samples, idle ones included, so that they say how busy the thread is. */
export function hottestOf(thread: string, { nodes }: Profile): Hottest {
  const hits = new Map<string, { readonly function: string; readonly at: string; count: number }>();
  let all = 0;
  for (const { callFrame, hitCount = 0 } of nodes) {
    all += hitCount;
    if (hitCount === 0) continue;
    const at =
      callFrame.url === '' ? '' : `${shortPath(callFrame.url)}:${callFrame.lineNumber + 1}`;
    const name = callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName;
    const key = `${name} ${at}`;
    const known = hits.get(key);
    if (known === undefined) hits.set(key, { function: name, at, count: hitCount });
    else known.count += hitCount;
  }
  return [...hits.values()]
    .sort((one, other) => other.count - one.count)
    .slice(0, FUNCTIONS_MAX)
    .map(({ count, ...where }) => ({
      thread,
      ...where,
      selfPercent: Math.round((1_000 * count) / Math.max(all, 1)) / 10,
    }));
}

/** Below our own folder, or below node_modules: where the file lies on this machine is of no interest. */
function shortPath(url: string): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const known = Math.max(path.lastIndexOf('/node_modules/'), path.lastIndexOf('/dist/'));
  return known === -1 ? path : path.slice(known + 1);
}

function post(session: Session, method: string, params: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}
