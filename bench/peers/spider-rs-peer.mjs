// spider-rs as its manual has it: one Website a host, sixty-four at a time, robots.txt respected. Keeps pages in memory.
// Run in the folder where it is installed, as: node spider-rs-peer.mjs SEEDS_FILE
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { Website } = createRequire(`${process.cwd()}/`)('@spider-rs/spider-rs');
const seeds = readFileSync(process.argv[2], 'utf8').trim().split('\n');
const crawlNext = async () => {
  for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
    await new Website(seed).withRespectRobotsTxt(true).build().crawl();
  }
};
await Promise.all(Array.from({ length: 64 }, crawlNext));
