// Makes a failing plan smaller: leaves out crashes and faults one by one, and takes plain bounds instead of tight ones, as long as the run
// still fails. What remains is what the bug needs. Works because each part of a simulation draws from its own stream (sim-kernel.ts).
import { type FaultRates, PLAIN, type SimPlan } from './sim-plan.ts';

/**
 * @param failureOf runs a plan; undefined when it does not fail
 * @returns the smallest failing plan found, its failure, and the runs that took
 */
export function shrinkPlan(
  plan: SimPlan,
  failureOf: (plan: SimPlan) => string | undefined,
): { plan: SimPlan; failure: string | undefined; tries: number } {
  let best = plan;
  let failure = failureOf(plan);
  let tries = 1;
  const attempt = (smaller: SimPlan): boolean => {
    tries += 1;
    const found = failureOf(smaller);
    if (found === undefined) return false;
    best = smaller;
    failure = found;
    return true;
  };
  for (let at = plan.crashes.length - 1; at >= 0; at -= 1) {
    attempt({ ...best, crashes: best.crashes.filter((_, index) => index !== at) });
  }
  for (const name of Object.keys(plan.faults) as (keyof FaultRates)[]) {
    const none = name === 'retryAfter' ? false : 0;
    if (best.faults[name] !== none) {
      attempt({ ...best, faults: { ...best.faults, [name]: none } });
    }
  }
  for (const [name, value] of Object.entries(PLAIN)) {
    if (best[name as keyof SimPlan] !== value) attempt({ ...best, [name]: value });
  }
  attempt({ ...best, crashes: best.crashes.map((crash) => ({ ...crash, shardsAfter: 1 })) });
  attempt({ ...best, crashes: best.crashes.map((crash) => ({ ...crash, wallSkewMs: 0 })) });
  return { plan: best, failure, tries };
}
