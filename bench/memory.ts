// `npm run bench -- memory [--hosts 10000] [--urls 3000000] [--threads N] [--sim]`: memory of a crawl that discovers three million URLs on ten
// thousand hosts (I10); tables of a fixed size, which the system provides as they are filled, grow during the first million. RssAnon +
// RssShmem is looked at once a second; the crawl is stopped in order when enough is discovered. Memory counts as flat when it grows by no
// more than a tenth of a URL's own length for each URL discovered in the second half.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type LoadSample, runLoad } from './load-run.ts';

/** A URL of this web is about 45 characters; its queue entry in memory would be 150 bytes or more. */
const FLAT_BYTES_PER_URL = 40;
const SECONDS_MAX = 900;

/** Runs the command. @returns the exit status: 1 when memory was not flat */
export async function memoryCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { hosts: text, urls: text, threads: text, seconds: text, sim: { type: 'boolean' } },
  });
  const hosts = Number(values.hosts ?? 10_000);
  const urls = Number(values.urls ?? 3_000_000);
  const { report, samples } = await runLoad({
    world: {
      hosts,
      pagesPerHost: Math.ceil((1.5 * urls) / hosts),
      pageBytes: 10_000,
      linksPerPage: 60,
    },
    gapMs: 1_000,
    seconds: Number(values.seconds ?? SECONDS_MAX),
    threads: Number(values.threads ?? availableParallelism()),
    isEnough: ({ pages, queued }) => pages + queued >= urls,
    judged: false,
    simulated: values.sim === true,
  });
  for (const sample of samples.filter((_, at) => at % 5 === 4)) {
    const { atSeconds, pages, memoryBytes } = sample;
    process.stdout.write(
      `${atSeconds.toFixed(0).padStart(5)} s  ${String(pages).padStart(8)} pages  ` +
        `${String(discovered(sample)).padStart(9)} URLs  ${(memoryBytes / 1e6).toFixed(0).padStart(5)} MB\n`,
    );
  }
  const growth = growthOf(samples);
  process.stdout.write(
    `${report.urlsDiscovered} URLs on ${report.hosts} hosts, ${report.pages} pages in ${report.seconds.toFixed(0)} s; ` +
      `peak ${(report.peakRssBytes / 1e6).toFixed(0)} MB; ` +
      `${((1_000 * report.cpuSeconds) / report.pages).toFixed(2)} ms CPU a page; ${growth.toFixed(1)} bytes for each URL of the second half\n`,
  );
  return growth <= FLAT_BYTES_PER_URL ? 0 : 1;
}

function discovered({ pages, queued }: LoadSample): number {
  return pages + queued;
}

/** Slope of memory over discovered URLs in the second half of the URLs, by least squares: garbage comes and goes. */
function growthOf(samples: readonly LoadSample[]): number {
  const last = samples.at(-1);
  if (last === undefined) return 0;
  const half = samples.filter((sample) => discovered(sample) >= discovered(last) / 2);
  const mean = (of: (sample: LoadSample) => number) =>
    half.reduce((sum, sample) => sum + of(sample), 0) / half.length;
  const meanUrls = mean(discovered);
  const meanBytes = mean(({ memoryBytes }) => memoryBytes);
  const covariance = mean(
    (sample) => (discovered(sample) - meanUrls) * (sample.memoryBytes - meanBytes),
  );
  const variance = mean((sample) => (discovered(sample) - meanUrls) ** 2);
  return variance === 0 ? 0 : covariance / variance;
}
