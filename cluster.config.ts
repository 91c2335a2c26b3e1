// The options of a crawl: take the slashes from a line to set it. A flag outranks this file. Keys,
// docs and defaults come from the table in src/config/options.ts; for a fresh copy of this file run
// node dist/scripts/write-docs.js --template.

import { defineConfig } from 'hostler/config';

export default defineConfig({
  // ---- What to crawl ----

  // File of seed URLs, one a line, # starts a comment; - reads standard input. Default: none.
  // (--seeds)
  // seedsFile: 'seeds.txt',

  // Which links are followed: the seeds' hosts, their registrable domains, what lies below a seed's
  // directory, or all. (--scope)
  // scope: 'domain',

  // Only canonical URLs that match one of these are crawled (repeatable). (--include)
  // include: [],

  // Canonical URLs that match one of these are not crawled (repeatable). (--exclude)
  // exclude: [],

  // Stop when this many pages with status 200 are stored. Default: no limit. (--max-pages)
  // maxPages: 10_000,

  // Follow at most this many links away from a seed; 0 fetches the seeds only. Default: no limit.
  // (--max-depth)
  // maxDepth: 8,

  // Stop in order after this time. In seconds. Default: no limit. (--max-time)
  // maxTimeSeconds: 3_600,

  // The crawl is done when no URL becomes fetchable within this time; waiting hosts are kept for
  // the next run. In seconds. (--linger)
  // lingerSeconds: 5,

  // Keep going: visit pages again when they are due, and wait for new work. (--continuous)
  // continuous: false,

  // Read the sitemaps that robots.txt files name.
  // sitemaps: true,

  // Ask each site for /sitemap.xml too, which robots.txt need not name; one more request a site,
  // mostly answered 404.
  // wellKnownSitemaps: false,

  // Pages whose URLs differ in numbers only and whose texts read alike, of one host, before further
  // ones are parked. Fewer save requests on endless calendars and sessions, and cost pages of
  // catalogues.
  // alikePagesMax: 1_000,

  // URLs of a host to begin with; links from other domains and new content earn more, known content
  // less. Further ones are parked.
  // hostUrls: 10_000,

  // The same for all hosts of a registrable domain together.
  // domainUrls: 10_000,

  // Hosts of a registrable domain to begin with; earned like URLs.
  // domainHosts: 500,

  // URLs waiting above which newly found ones of the lowest priority are parked, and from twice as
  // many on those of middle priority.
  // frontierUrlsMax: 100_000_000,

  // Parked URLs of a host are looked at again after this time, then after twice as long each time,
  // up to a week. In seconds.
  // parkedReviewSeconds: 3_600,

  // Session identifiers are no part of the identity of a page.
  // stripSessions: true,

  // Query parameters that are no part of the identity of a page, besides the well-known ones
  // (utm_*, gclid …).
  // trackingParameters: [],

  // ---- Freshness ----

  // Visit pages again that are due, and end when none is due within --linger. (--recrawl)
  // recrawl: false,

  // Time from the first visit of a page to the second; then its own changes decide. In seconds.
  // (--recrawl-first)
  // recrawlFirstSeconds: 86_400,

  // Least time between two visits of a page, however often it changes. In seconds.
  // (--recrawl-least)
  // recrawlLeastSeconds: 3_600,

  // Longest time between two visits of a page that never changes. In seconds. (--recrawl-longest)
  // recrawlLongestSeconds: 7_776_000,

  // Share of the requests for pages that are due again, while there is something new to fetch too;
  // a guarantee for both. (--freshness-share)
  // freshnessShare: 20,

  // ---- Rendering ----

  // Pages that are read through a browser too (Chromium, with the npm package playwright-core):
  // none, those that seem to need it, or all. (--render)
  // render: 'off',

  // Share of a host's requests for what its rendered pages ask for, while it has pages to fetch
  // too; a guarantee for both. (--render-share)
  // renderShare: 30,

  // Pages in the browser at once; each takes some 100 MB while it is there.
  // renderPagesMax: 2,

  // Longest time of a page in the browser, waits for the pace of its hosts included; what it shows
  // then is taken. In milliseconds.
  // renderTimeMs: 60_000,

  // Requests of one page that are let through (scripts and data; nothing else ever is).
  // renderRequestsMax: 48,

  // Bytes that all answers to one page may have together. In bytes.
  // renderBytesMax: 16_777_216,

  // Memory of one page in the browser; a page that takes more is ended. In bytes.
  // renderMemoryBytes: 536_870_912,

  // The Chromium to run. Default: chromium, chromium-browser or google-chrome on the PATH.
  // browserPath: '/usr/bin/chromium',

  // ---- Politeness ----

  // Least time from the end of a request to a host to the start of the next; under 250 only with
  // --allow-net, for its addresses. In milliseconds. (--min-gap)
  // minGapMs: 1_000,

  // Least time between requests to one IP address, whatever the host. In milliseconds. Default: a
  // quarter of --min-gap. (--ip-gap)
  // addressGapMs: 250,

  // Requests in flight to one IP address (to one host there is never more than one).
  // addressInFlightMax: 2,

  // A longer Crawl-delay in robots.txt is reported and cut to this. In milliseconds.
  // maxCrawlDelayMs: 30_000,

  // A host is left alone for this many times its smoothed response time, 60 s at most; 0 turns that
  // off.
  // latencyFactor: 10,

  // Redirects followed for one page; each is a request that waits its gap.
  // redirectsMax: 10,

  // Bytes of a robots.txt that are read; RFC 9309 §2.5 asks for at least 500 KiB. In bytes.
  // robotsBytesMax: 524_288,

  // Settings of some hosts: { pattern: '*.example.com', minGapMs?, maxCrawlDelayMs?,
  // latencyFactor?, hours?: '22:00-06:00' (UTC), urls?, headers?: { name: value }, login?:
  // 'user:password', cookies?: 'name=value', proxy?: 'http://ADDRESS:PORT' }; secrets are never
  // shown.
  // hostOverrides: [],

  // Domains whose owners asked to be left alone: nothing on them or below is fetched.
  // optOut: [],

  // The same as a file that outlives crawls: one domain a line, # starts a comment; a change takes
  // effect within a second. Default: none.
  // optOutFile: 'opt-out.txt',

  // Files that tell the autonomous system of an address: .mmdb, or .csv rows start, end, number.
  // Hosts of one in trouble are asked less. Replaced files are read anew.
  // asnTable: [],

  // ---- Identity ----

  // How site owners reach you; goes into the User-Agent. Required for --scope all. Default: none.
  // (--contact)
  // contact: 'https://example.com/bot',

  // The whole User-Agent. robots.txt is read for the product token hostler whatever it says.
  // Default: hostler/VERSION (+CONTACT). (--user-agent)
  // userAgent: 'hostler/0.1 (+https://example.com/bot)',

  // Mail address sent in the From field of every request (RFC 9110 §10.1.2). Default: none.
  // from: 'crawl@example.com',

  // ---- Network ----

  // Private, loopback or reserved network that may be crawled (repeatable). Default: none: public
  // addresses only. (--allow-net)
  // allowNets: [],

  // DNS server to ask (repeatable). Default: the system's. (--dns)
  // dnsServers: [],

  // Which address families are asked for, and which comes first.
  // addressFamilies: 'ipv4-first',

  // File of further certificate authorities to trust, PEM. Default: none. (--ca)
  // caFile: 'ca.pem',

  // Longest time of one request, from start to last byte. In milliseconds.
  // requestDeadlineMs: 60_000,

  // Longest time to connect to one address, TLS included. In milliseconds.
  // connectTimeoutMs: 10_000,

  // Longest time from a request to the end of the answer's header. In milliseconds.
  // headersTimeoutMs: 30_000,

  // Bytes of a page that are read, as sent; longer ones are stored cut and marked so. In bytes.
  // bodyBytesMax: 10_485_760,

  // Bytes of a page after decompression; against archive bombs. In bytes.
  // decodedBytesMax: 52_428_800,

  // ---- Size and speed ----

  // Crawl threads. Default: one for each processor the process may use. (--threads)
  // threads: 2,

  // Requests in flight, over all threads; one that has waited 3 s makes room for another. Default:
  // 256 for each thread. (--concurrency)
  // concurrency: 512,

  // How often the front queue serves its three priority bands, best first.
  // bandWeights: [6, 3, 1],

  // Hosts kept in memory by each thread, at some 7 KB each; the others rest on disk.
  // activeHostsMax: 10_000,

  // URLs the filter of seen URLs is sized for (about 1.3 bytes each at 1 %); it grows when there
  // are more.
  // expectedUrls: 10_000_000,

  // Pages whose text is remembered to recognise near duplicates, the newest; 40 bytes of memory
  // each as they come.
  // fingerprintsMax: 1_000_000,

  // Share of new URLs that the filter of seen URLs takes for seen, before the exact answer.
  // falsePositiveRate: 0.01,

  // Memory for keys seen lately, 8 bytes each: links that are in it cost no message. In bytes.
  // recentKeysBytes: 33_554_432,

  // exact skips no URL wrongly; bloom trusts the filter alone, for memory and speed. (--seen)
  // seen: 'exact',

  // ---- Storage ----

  // Where the crawl is kept; a crawl that is there is resumed. (--data)
  // dataDir: './crawl-data',

  // always: a page counts as done once it is safe on disk; interval: that, once a commit window at
  // most. (--fsync)
  // fsync: 'always',

  // Longest time a page waits for its commit; a crash repeats at most this much. In milliseconds.
  // commitWindowMs: 100,

  // Length at which a WARC file is closed and the next begun; 1 GiB is what the WARC 1.1 standard
  // recommends (annex A). In bytes.
  // warcRollBytes: 1_073_741_824,

  // Age at which a WARC file is closed and the next begun, whatever its length. In seconds.
  // warcRollSeconds: 86_400,

  // gzip level for closed WARC files: bodies that came uncompressed are compressed beside the
  // crawl; 0 leaves them.
  // warcGzipLevel: 4,

  // The crawl stops in order, exit 3, before less than this is free on the disk. In bytes.
  // diskReserveBytes: 268_435_456,

  // The crawl stops in order, exit 0, before its data directory takes more than this; 500M or 2T
  // are fine. In bytes. Default: none. (--disk-quota)
  // diskQuotaBytes: 50 * 2 ** 30,

  // S3-compatible storage that closed WARC files are moved to; credentials come from the
  // environment, as for any AWS client. Default: none. (--object-store)
  // objectStore: 's3://my-archive/crawl-1',

  // Server of objectStore, when it is not Amazon's. Default: Amazon's.
  // objectStoreEndpoint: 'https://minio.example.org:9000',

  // Region of objectStore.
  // objectStoreRegion: 'us-east-1',

  // Keep WARC files here as well once they are in objectStore.
  // objectStoreKeepsLocal: false,

  // Bytes of the change feed that are kept at least, about 300 an event; older events go, whether a
  // consumer has read them or not. In bytes.
  // feedKeptBytes: 4_294_967_296,

  // Virtual partitions, fixed when a crawl is created: at least 16 for each machine it will ever
  // have.
  // partitions: 256,

  // ---- Operation ----

  // Serve the dashboard, /metrics and /health here. Default: off. (--http)
  // http: '127.0.0.1:8080',

  // Let the dashboard pause, resume and inject, with the token in DIR/http-token; without this it
  // only looks. (--http-operate)
  // httpOperate: false,

  // Unix socket for inspect and why. Default: DIR/debug.sock. (--debug-socket)
  // debugSocket: './crawl-data/debug.sock',

  // auto: a bar when standard error is a terminal; json: one object a second on standard error.
  // (--progress)
  // progress: 'auto',

  // Least level that is logged, on standard error: trace, debug, info, warn, error, fatal, silent.
  // (--log-level)
  // logLevel: 'info',

  // ---- Cluster ----

  // File of the machines of a cluster, the same on each; see docs/CLUSTER.md. Default: one machine.
  // (--nodes)
  // nodesFile: 'hosts.txt',

  // This machine's name in the file of --nodes. Default: found by its addresses. (--me)
  // nodeName: 'node-1',

  // How long the bus is waited for at the start: its machines may start later. In milliseconds.
  // busPatienceMs: 60_000,

  // How long a machine of a cluster may fetch without word from the bus; others take over a sixth
  // later. In milliseconds.
  // leaseMs: 30_000,
});
