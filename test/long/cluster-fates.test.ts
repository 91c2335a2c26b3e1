// Fates of a node that take their time: stopped for longer than its lease, and told to leave. As crawls/cluster.test.ts otherwise.
import { ok } from 'node:assert';
import { test } from 'node:test';
import {
  check,
  crawlOnThree,
  heldByStopped,
  LEASE_MS,
  withoutServer as skip,
} from '../support/crawl/loopback-cluster.ts';

test('a node stopped for longer than its lease asks nobody when it goes on', { skip }, async () => {
  const fate = async (pid: number): Promise<void> => {
    process.kill(pid, 'SIGSTOP');
    // No sleep for a condition to come true: the length of the stop is what is tested.
    await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
    process.kill(pid, 'SIGCONT');
  };
  check(await crawlOnThree(fate, 100), heldByStopped);
});

test('a node told to leave hands everything over', { skip }, async () => {
  const { ended, verdict } = await crawlOnThree((pid) => process.kill(pid, 'SIGTERM'), 2);
  check({ ended, verdict });
  ok(ended.stderr.includes('every partition is handed over'), ended.stderr);
});
