// Entry of a shard thread in `load --sim`: a shard whose network is simulated. The options of its web come in an environment variable, which
// a thread inherits, so that the product's own messages need no place for them.

import { runShard } from '../src/app/run-shard.ts';
import type { PartialWorldOptions } from '../test/support/world/world-options.ts';
import { SimulatedNetwork, WORLD_VARIABLE } from './simulated-network.ts';

await runShard(({ plan, clock }) => {
  const world = JSON.parse(process.env[WORLD_VARIABLE] ?? '{}') as PartialWorldOptions;
  const network = new SimulatedNetwork(world, () => clock.now(), plan.userAgent);
  return { fetcher: network, resolver: network };
});
