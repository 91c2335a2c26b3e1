// The longer answers of the sample crawl (sample-crawl.ts), made of its two tables of hosts and
// URLs. One host has a name that would harm a careless terminal or page; texts like it do come from
// the web.

import type { HostLine, HostReport, UrlReport } from '../../../src/ops/reports.ts';

/** Hosts of the sample crawl, one of them with a name that would harm a careless terminal or page. */
export const SAMPLE_HOSTS: readonly HostLine[] = [
  sampleHost('www.example.org', 4_200, 'gap'),
  sampleHost('docs.example.org', 3_100, 'in flight'),
  sampleHost('shop.example.net', 2_050, 'backoff'),
  sampleHost('a-rather-long-name-of-a-host.department.university.example.edu', 990, 'ready'),
  sampleHost('evil.example', 12, '\u001b[2J<script>alert(1)</script>'),
];

/** Everything about one of them. */
export function sampleHostReport(line: HostLine): HostReport {
  return {
    host: line.host,
    hostKey: '9f86d081884c7d65',
    partition: 17,
    shard: line.shard,
    node: 'local',
    state: 'active',
    whyNotReady: line.state === 'gap' ? ['its gap of 1 s ends in 412 ms'] : [],
    nextInMs: line.nextInMs,
    queuedByBand: [3, 120, 9],
    inFlight: line.state === 'in flight' ? `https://${line.host}/now` : undefined,
    gap: { totalMs: line.gapMs, minGapMs: 1_000, crawlDelayMs: 0, latencyMs: 870, penalty: 1 },
    addresses: ['192.0.2.10', '2001:db8::10'],
    robots: [
      {
        origin: `https://${line.host}`,
        decision: 'rules',
        because: '200',
        fetchedAt: 1_750_000_001_000,
        expiresAt: 1_750_086_401_000,
        crawlDelayMs: 0,
      },
    ],
    counts: { fetched: line.fetched, stored: line.stored, failed: line.failed },
    recent: [
      {
        at: 1_750_000_009_000,
        url: `https://${line.host}/last`,
        status: 200,
        failure: undefined,
        tookMs: 87,
      },
    ],
  };
}

/** Everything about a URL. */
export function sampleUrlReport(url: string): UrlReport {
  const parsed = new URL(url);
  parsed.hash = '';
  const { hostname, href } = parsed;
  return {
    input: url,
    canonical: href,
    verdict: 'queued: its host may be asked again in 412 ms',
    decisions: [
      { step: 1, what: 'canonical form', result: href, because: 'fragment dropped' },
      { step: 2, what: 'owner', result: 'partition 17, shard 1', because: 'local' },
      { step: 4, what: 'seen', result: 'yes', because: 'found on 3 pages' },
      { step: 5, what: 'robots', result: 'allowed', because: 'line 12: Allow: /' },
      { step: 8, what: 'host', result: `${hostname} waits`, because: 'gap of 1 s' },
    ],
    fetches: [],
  };
}

function sampleHost(host: string, fetched: number, state: string): HostLine {
  return {
    host,
    shard: host.length % 2,
    fetched,
    stored: Math.round(fetched * 0.9),
    failed: Math.round(fetched * 0.02),
    queued: fetched * 3,
    gapMs: 1_000,
    nextInMs: state === 'gap' ? 412 : 0,
    state,
  };
}
