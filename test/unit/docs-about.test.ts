// docs/about-our-crawler.html promises site owners what the crawler does by default: the numbers must be those of the table of options.
import { ok } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PRODUCT_TOKEN } from '../../src/base/version.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { PROJECT_ROOT } from '../support/command-line.ts';

test('docs/about-our-crawler.html promises the gap, delay, address budget and name that are the defaults', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/about-our-crawler.html'), 'utf8');
  const { minGapMs, maxCrawlDelayMs, addressInFlightMax } = OPTIONS;
  for (const promise of [
    `at least ${Number(minGapMs.default) / 1_000}&nbsp;second after each`,
    `Up to ${Number(maxCrawlDelayMs.default) / 1_000} seconds between two requests`,
    `At most ${addressInFlightMax.default} requests are open to one IP address`,
    `User-agent: ${PRODUCT_TOKEN}\n`,
    `<code>${PRODUCT_TOKEN}/VERSION (+`,
  ]) {
    ok(page.includes(promise), promise);
  }
});
