// `node cluster.js robots show HOST`: what a stored crawl knows of a host's robots.txt files, one for each of its origins (step 5, DESIGN.md
// §9): when each was read, what it means, and the rules that bind this crawler. command-robots.ts hands the verb over when it names a host.

import type { RobotsRow } from '../actors/rows.ts';
import { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from '../config/options.ts';
import { parseBase } from '../domain/base-url.ts';
import { absoluteSitemaps, type RobotsRules } from '../domain/robots-rules.ts';
import { readingCrawl } from './read-crawl.ts';
import { StoredRobots } from './stored-robots.ts';

/**
 * Prints the rows of a host, as text or with `config.json` as one array.
 * @param text a host name, or a URL on it
 * @returns 0, or 1 when the crawl has read no robots.txt of this host
 * @throws CrawlError usage when it names no host
 */
export async function showStoredRobots(text: string, config: CrawlConfig): Promise<number> {
  const host = hostNamed(text);
  const rows = await readingCrawl(config, (reading) => [...new StoredRobots(reading).rowsOf(host)]);
  if (config.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) process.stdout.write(`${host}: no robots.txt was read yet\n`);
  else process.stdout.write(rows.map(rowText).join('\n'));
  return rows.length === 0 ? 1 : 0;
}

function hostNamed(text: string): string {
  const base = parseBase(text.includes('://') ? text : `http://${text}/`);
  if (base !== undefined) return base.host;
  throw new CrawlError('usage', `robots show: ${JSON.stringify(text)} names no host`, {
    remedy: 'Give a host name such as example.com, or a URL.',
  });
}

function rowText(row: RobotsRow): string {
  const rules = row.rules as RobotsRules;
  const lines = [
    `# ${row.origin}/robots.txt: ${meaningOf(row)}`,
    `# read ${time(row.fetchedAt)} (status ${row.status}), asked again ${time(row.expiresAt)}`,
  ];
  if (row.failures > 0) {
    lines.push(`# unreachable since ${time(row.failingSince)}, ${row.failures} times in a row`);
  }
  if (row.decision === 'rules') {
    lines.push(`User-agent: ${rules.group === '' ? '(no group binds this agent)' : rules.group}`);
    for (const [index, pattern] of rules.patterns.entries()) {
      const word = rules.allows[index] === true ? 'Allow' : 'Disallow';
      lines.push(`${word}: ${pattern}  # line ${rules.lines[index]}`);
    }
    const { crawlDelaySeconds: delay, requestRate: rate } = rules;
    if (delay !== undefined) lines.push(`Crawl-delay: ${delay}`);
    if (rate !== undefined) lines.push(`Request-rate: ${rate.requests}/${rate.seconds}`);
    const sitemaps = absoluteSitemaps(rules.sitemaps, `${row.origin}/robots.txt`);
    lines.push(...sitemaps.map((url) => `Sitemap: ${url}`));
  }
  return `${lines.join('\n')}\n`;
}

function meaningOf({ decision, failures }: RobotsRow): string {
  if (decision === 'allow-all') return 'no file, everything is allowed';
  if (decision === 'disallow-all') return 'unreachable, nothing is fetched';
  return failures > 0 ? 'unreachable, the last copy holds' : 'these rules hold';
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
