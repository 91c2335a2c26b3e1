// Rows of the table of options (options.ts): network, size, storage, operation, cluster. Steps 4, 7, 9 and 10 of a URL's life (DESIGN.md §1,
// §5, §6, §9). Bounds are those of the parts they set: a value that passes here is never refused by an assertion there.

import { byteCount } from './byte-count.ts';
import { HTTP_URL, OBJECT_STORE, REGION } from './object-store-kinds.ts';
import { derived, option, optional } from './option.ts';
import { DIRECTORY, DNS_SERVER, ENDPOINT, NODE_NAME, PATH, SOCKET_PATH } from './text-kinds.ts';
import { BOOLEAN, choice, decimal, integer, list } from './value-kind.ts';

const MIB = 1_048_576;
const GIB = 1024 * MIB;
const MINUTE_MS = 60_000;

/** How pages are reached. */
export const NETWORK_OPTIONS = {
  dnsServers: option(list(DNS_SERVER, { countMax: 16 }), [], {
    group: 'Network',
    flag: '--dns',
    doc: 'DNS server to ask (repeatable).',
    defaultText: "the system's",
  }),
  addressFamilies: option(
    choice(['ipv4-first', 'ipv6-first', 'ipv4-only', 'ipv6-only']),
    'ipv4-first',
    { group: 'Network', doc: 'Which address families are asked for, and which comes first.' },
  ),
  caFile: optional(PATH, {
    group: 'Network',
    flag: '--ca',
    doc: 'File of further certificate authorities to trust, PEM.',
    defaultText: 'none',
    example: "'ca.pem'",
  }),
  requestDeadlineMs: option(integer({ min: 100, max: 60 * MINUTE_MS }), MINUTE_MS, {
    group: 'Network',
    doc: 'Longest time of one request, from start to last byte.',
    unit: 'milliseconds',
  }),
  connectTimeoutMs: option(integer({ min: 50, max: 10 * MINUTE_MS }), 10_000, {
    group: 'Network',
    doc: 'Longest time to connect to one address, TLS included.',
    unit: 'milliseconds',
  }),
  headersTimeoutMs: option(integer({ min: 50, max: 10 * MINUTE_MS }), 30_000, {
    group: 'Network',
    doc: "Longest time from a request to the end of the answer's header.",
    unit: 'milliseconds',
  }),
  bodyBytesMax: option(integer({ min: 1_024, max: GIB }), 10 * MIB, {
    group: 'Network',
    doc: 'Bytes of a page that are read, as sent; longer ones are stored cut and marked so.',
    unit: 'bytes',
  }),
  decodedBytesMax: option(integer({ min: 1_024, max: GIB }), 50 * MIB, {
    group: 'Network',
    doc: 'Bytes of a page after decompression; against archive bombs.',
    unit: 'bytes',
  }),
} as const;

/** How much at once. */
export const SIZE_OPTIONS = {
  threads: derived(integer({ min: 1, max: 256 }), {
    group: 'Size and speed',
    flag: '--threads',
    doc: 'Crawl threads.',
    defaultText: 'one for each processor the process may use',
    example: '2',
  }),
  concurrency: derived(integer({ min: 1, max: 65_536 }), {
    group: 'Size and speed',
    flag: '--concurrency',
    doc: 'Requests in flight, over all threads; one that has waited 3 s makes room for another.',
    unit: 'requests',
    defaultText: '256 for each thread',
    example: '512',
  }),
  bandWeights: option(
    list(integer({ min: 1, max: 1_000 }), { countMin: 3, countMax: 3 }),
    [6, 3, 1],
    {
      group: 'Size and speed',
      doc: 'How often the front queue serves its three priority bands, best first.',
    },
  ),
  activeHostsMax: option(integer({ min: 16, max: 10_000_000 }), 10_000, {
    group: 'Size and speed',
    doc: 'Hosts kept in memory by each thread, at some 7 KB each; the others rest on disk.',
    unit: 'hosts',
  }),
  expectedUrls: option(integer({ min: 1_000, max: 4_294_967_295 }), 10_000_000, {
    group: 'Size and speed',
    doc:
      'URLs the filter of seen URLs is sized for (about 1.3 bytes each at 1 %); it ' +
      'grows when there are more.',
    unit: 'URLs',
  }),
  fingerprintsMax: option(integer({ min: 1_000, max: 67_108_864 }), 1_000_000, {
    group: 'Size and speed',
    doc:
      'Pages whose text is remembered to recognise near duplicates, the newest; 40 bytes of ' +
      'memory each as they come.',
    unit: 'pages',
  }),
  falsePositiveRate: option(decimal({ min: 1e-6, max: 0.5 }), 0.01, {
    group: 'Size and speed',
    doc: 'Share of new URLs that the filter of seen URLs takes for seen, before the exact answer.',
  }),
  recentKeysBytes: option(integer({ min: 65_536, max: 8 * GIB }), 32 * MIB, {
    group: 'Size and speed',
    doc: 'Memory for keys seen lately, 8 bytes each: links that are in it cost no message.',
    unit: 'bytes',
  }),
  seen: option(choice(['exact', 'bloom']), 'exact', {
    group: 'Size and speed',
    flag: '--seen',
    doc: 'exact skips no URL wrongly; bloom trusts the filter alone, for memory and speed.',
  }),
} as const;

/** What is kept, and how safely. */
export const STORAGE_OPTIONS = {
  dataDir: option(DIRECTORY, './crawl-data', {
    group: 'Storage',
    flag: '--data',
    doc: 'Where the crawl is kept; a crawl that is there is resumed.',
  }),
  fsync: option(choice(['always', 'interval']), 'always', {
    group: 'Storage',
    flag: '--fsync',
    doc:
      'always: a page counts as done once it is safe on disk; interval: that, once a ' +
      'commit window at most.',
  }),
  commitWindowMs: option(integer({ min: 10, max: 250 }), 100, {
    group: 'Storage',
    doc: 'Longest time a page waits for its commit; a crash repeats at most this much.',
    unit: 'milliseconds',
  }),
  warcRollBytes: option(integer({ min: 65_536, max: 1024 * GIB }), GIB, {
    group: 'Storage',
    doc:
      'Length at which a WARC file is closed and the next begun; 1 GiB is what the ' +
      'WARC 1.1 standard recommends (annex A).',
    unit: 'bytes',
  }),
  warcRollSeconds: option(integer({ min: 1, max: 31_622_400 }), 86_400, {
    group: 'Storage',
    doc: 'Age at which a WARC file is closed and the next begun, whatever its length.',
    unit: 'seconds',
  }),
  warcGzipLevel: option(integer({ min: 0, max: 9 }), 4, {
    group: 'Storage',
    doc:
      'gzip level for closed WARC files: bodies that came uncompressed are compressed ' +
      'beside the crawl; 0 leaves them.',
  }),
  diskReserveBytes: option(integer({ min: 0, max: 1024 * GIB }), 256 * MIB, {
    group: 'Storage',
    doc: 'The crawl stops in order, exit 3, before less than this is free on the disk.',
    unit: 'bytes',
  }),
  diskQuotaBytes: optional(byteCount({ min: MIB, max: 1024 * 1024 * GIB }), {
    group: 'Storage',
    flag: '--disk-quota',
    doc:
      'The crawl stops in order, exit 0, before its data directory takes more than this; ' +
      '500M or 2T are fine.',
    unit: 'bytes',
    defaultText: 'none',
    example: '50 * 2 ** 30',
  }),
  objectStore: optional(OBJECT_STORE, {
    group: 'Storage',
    flag: '--object-store',
    doc:
      'S3-compatible storage that closed WARC files are moved to; credentials come from the ' +
      'environment, as for any AWS client.',
    defaultText: 'none',
    example: "'s3://my-archive/crawl-1'",
  }),
  objectStoreEndpoint: optional(HTTP_URL, {
    group: 'Storage',
    doc: "Server of objectStore, when it is not Amazon's.",
    defaultText: "Amazon's",
    example: "'https://minio.example.org:9000'",
  }),
  objectStoreRegion: option(REGION, 'us-east-1', {
    group: 'Storage',
    doc: 'Region of objectStore.',
  }),
  objectStoreKeepsLocal: option(BOOLEAN, false, {
    group: 'Storage',
    doc: 'Keep WARC files here as well once they are in objectStore.',
  }),
  feedKeptBytes: option(integer({ min: MIB, max: 1024 * GIB }), 4 * GIB, {
    group: 'Storage',
    doc:
      'Bytes of the change feed that are kept at least, about 300 an event; older events ' +
      'go, whether a consumer has read them or not.',
    unit: 'bytes',
  }),
  partitions: option(integer({ min: 1, max: 65_536 }), 256, {
    group: 'Storage',
    doc:
      'Virtual partitions, fixed when a crawl is created: at least 16 for each machine ' +
      'it will ever have.',
  }),
} as const;

/** Watching and driving it. */
export const OPERATION_OPTIONS = {
  http: optional(ENDPOINT, {
    group: 'Operation',
    flag: '--http',
    doc: 'Serve the dashboard, /metrics and /health here.',
    defaultText: 'off',
    example: "'127.0.0.1:8080'",
  }),
  httpOperate: option(BOOLEAN, false, {
    group: 'Operation',
    flag: '--http-operate',
    doc:
      'Let the dashboard pause, resume and inject, with the token in DIR/http-token; without ' +
      'this it only looks.',
  }),
  debugSocket: derived(SOCKET_PATH, {
    group: 'Operation',
    flag: '--debug-socket',
    doc: 'Unix socket for inspect and why.',
    defaultText: 'DIR/debug.sock',
    example: "'./crawl-data/debug.sock'",
  }),
  progress: option(choice(['auto', 'bar', 'json', 'none']), 'auto', {
    group: 'Operation',
    flag: '--progress',
    doc:
      'auto: a bar when standard error is a terminal; json: one object a second on ' +
      'standard error.',
  }),
  logLevel: option(
    choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'LEVEL'),
    'info',
    {
      group: 'Operation',
      flag: '--log-level',
      doc:
        'Least level that is logged, on standard error: trace, debug, info, warn, error, ' +
        'fatal, silent.',
    },
  ),
  json: option(BOOLEAN, false, {
    group: 'Operation',
    flag: '--json',
    isFlagOnly: true,
    doc: 'The last line on standard output is the final report as one JSON object.',
  }),
  nodesFile: optional(PATH, {
    group: 'Cluster',
    flag: '--nodes',
    doc: 'File of the machines of a cluster, the same on each; see docs/CLUSTER.md.',
    defaultText: 'one machine',
    example: "'hosts.txt'",
  }),
  nodeName: optional(NODE_NAME, {
    group: 'Cluster',
    flag: '--me',
    doc: "This machine's name in the file of --nodes.",
    defaultText: 'found by its addresses',
    example: "'node-1'",
  }),
  busPatienceMs: option(integer({ min: 100, max: 60 * MINUTE_MS }), MINUTE_MS, {
    group: 'Cluster',
    unit: 'milliseconds',
    doc: 'How long the bus is waited for at the start: its machines may start later.',
  }),
  leaseMs: option(integer({ min: 10_000, max: 300_000 }), 30_000, {
    group: 'Cluster',
    unit: 'milliseconds',
    doc: 'How long a machine of a cluster may fetch without word from the bus; others take over a sixth later.',
  }),
} as const;
