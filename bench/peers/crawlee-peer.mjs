// Crawlee's CheerioCrawler as its manual has it: follow every link, obey robots.txt, its request queue and a dataset on disk.
// Run in the folder where it is installed, as: node crawlee-peer.mjs SEEDS_FILE
import { readFileSync } from 'node:fs';
import { CheerioCrawler, Configuration, LogLevel, log } from 'crawlee';

log.setLevel(LogLevel.ERROR);
const configuration = new Configuration({ purgeOnStart: false });
const crawler = new CheerioCrawler(
  {
    respectRobotsTxtFile: true,
    minConcurrency: 50,
    maxConcurrency: 200,
    maxRequestRetries: 1,
    async requestHandler({ request, body, enqueueLinks, pushData }) {
      await pushData({ url: request.loadedUrl, bytes: body.length });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  configuration,
);
await crawler.run(readFileSync(process.argv[2], 'utf8').trim().split('\n'));
