// What comes over links between threads and machines, what the bucket of a cluster holds, and the file that names its machines: decoded or
// refused, in linear time and bounded memory, whoever wrote it. Round trips of the codec are in codec.test.ts.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { isRemoteBatch, isShardPeerMessage } from '../../src/app/peer-messages.ts';
import { CrawlError } from '../../src/base/errors.ts';
import { type Envelope, EnvelopeCodec } from '../../src/cluster/envelopes.ts';
import { parseHostsFile } from '../../src/cluster/hosts-file.ts';
import { leaseKey, partKey, RING_KEY, readRecord } from '../../src/cluster/records.ts';
import { Codec } from '../../src/runtime/codec.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, keptBytes, shapes } from '../support/fuzz/linear.ts';

const LINK = {
  ...{ url: 'http://site.test/a', urlKey: 1n << 60n, host: 'site.test', hostKey: 1n << 61n },
  ...{ partition: 3, depth: 1, hops: 0, purpose: 'page', isRespelled: false, isSuspect: false },
};
const MESSAGES = [
  { kind: 'offer-links', from: 1, batch: 7, links: [LINK, { ...LINK, depth: 2 }] },
  { kind: 'links-committed', from: 0, through: 7 },
  { kind: 'robots-answered', askId: 3, answer: { kind: 'unreachable', reason: 'dns' } },
];
const ENVELOPES: readonly Envelope[] = [
  {
    ...{ kind: 'links', node: 'a', incarnation: 'i', run: 'r', shard: 0, batch: 1, base: 1 },
    bytes: new Uint8Array([1, 2, 3]),
  },
  { kind: 'acks', run: 'r', shard: 0, partition: 3, through: 9 },
  { kind: 'state', node: 'a', run: 'r', isQuiet: true, activity: 4, ending: undefined },
];
/** Bytes with a meaning in MessagePack: records, containers and strings of 8, 16 and 32 bits of length. */
const TELLING =
  '\x00\x40\x72\x91\x9f\xa1\xbf\xc4\xc6\xc7\xc9\xcb\xcf\xd4\xd9\xdb\xdc\xdd\xde\xdf\xff';

fuzz(
  'Codec.decodeBatch and the checks of peers decode or refuse any damaged batch, and the next is unharmed',
  damaged(
    fc.constantFrom(...[MESSAGES, [LINK], []].map((batch) => new Codec().encodeBatch(batch))),
    TELLING,
  ),
  (bytes) => {
    const codec = new Codec();
    const result = codec.decodeBatch(bytes, isShardPeerMessage);
    if (result.kind === 'ok') ok(result.messages.every(isShardPeerMessage));
    const remote = codec.decodeBatch(bytes, isRemoteBatch);
    if (remote.kind === 'ok') ok(remote.messages.every(isRemoteBatch));
    const good = codec.decodeBatch(codec.encodeBatch(MESSAGES), isShardPeerMessage);
    strictEqual(good.kind, 'ok');
  },
);

const envelopes = new EnvelopeCodec();
fuzz(
  'EnvelopeCodec.read answers an envelope of the kind asked for, or nothing, for any damaged bytes',
  damaged(fc.constantFrom(...ENVELOPES.map((one) => envelopes.encode(one))), TELLING),
  (bytes) => {
    for (const kind of ['links', 'acks', 'ask', 'answer', 'state'] as const) {
      const envelope = envelopes.read(kind, bytes);
      ok(envelope === undefined || envelope.kind === kind);
    }
  },
);

const RECORDS = [
  { incarnation: 'i', beat: 3, weight: 1, region: 'eu', state: 'live' },
  { epoch: 1, partitions: 256, members: [{ name: 'a', weight: 1 }] },
  { owner: 'a', incarnation: 'i', state: 'own' },
];
fuzz(
  'readRecord reads or refuses any damaged record under any key',
  damaged(fc.constantFrom(...RECORDS.map((one) => Buffer.from(JSON.stringify(one)))), '{}[]":,\\'),
  (bytes) => {
    const text = bytes.toString('utf8');
    for (const key of [RING_KEY, leaseKey('a'), partKey(3), 'part.x', '', '.']) {
      const record = readRecord(key, text);
      ok(record === undefined || ['lease', 'ring', 'part'].includes(record.kind));
    }
  },
);

/** Runs what may refuse, and only in the one way. */
function refusing(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    ok(error instanceof CrawlError, String(error));
    strictEqual(error.exitStatus, 2);
  }
}

const HOSTS =
  '# nodes\na 10.0.0.1:7070 weight=2 region=eu\nb [::1]:80\nc 10.0.0.3\nbus=nats://h:1\n';
fuzz(
  'parseHostsFile reads or refuses any damaged file',
  damaged(fc.constant(Buffer.from(HOSTS)), ' =:#\n\r\t[]@./0'),
  (bytes) => {
    refusing(() => ok(parseHostsFile(bytes.toString('utf8'), 'hosts.txt').nodes.length > 0));
  },
);

const HOSTS_PIECES = [
  ...['a ', 'b ', ' ', '\n', '\t', '#', '=', ':', '::', '[', ']', '@', '.', '0', '\0', '\xe9'],
  ...['10.0.0.1', '[::1]:80', 'weight=', 'weight=2 ', 'region=eu ', 'bus=nats://h:1 ', 'secret=@s'],
];
fuzz('parseHostsFile takes linear time on any text', shapes(HOSTS_PIECES), (shape) => {
  checkLinear(shape, (text) => refusing(() => parseHostsFile(text, 'hosts.txt')));
});

test('parseHostsFile takes linear time for machines without a name, and for one named again and again (found by fuzzing)', () => {
  for (const unit of ['10.0.0.1\n', '0\n', 'b [::1]:80\n']) {
    const read = (text: string) => refusing(() => parseHostsFile(text, 'hosts.txt'));
    checkLinear({ start: '', unit, end: '' }, read);
  }
});

const PACKED = [
  '\xdd\x7f\xff\xff\xff',
  '\x91',
  '\x90',
  '\xc0',
  '\xa1a',
  '\xd4\x72\x40',
  '\x92',
  '\x80',
];
fuzz('Codec.decodeBatch takes linear time on any repeated bytes', shapes(PACKED), (shape) => {
  const codec = new Codec();
  checkLinear(shape, (text) =>
    codec.decodeBatch(Buffer.from(`\x48\x01${text}`, 'latin1'), isShardPeerMessage),
  );
});

test('Codec.decodeBatch keeps nothing of a batch that names more than it holds', () => {
  for (const length of [
    '\xdd\x7f\xff\xff\xff',
    '\xdf\x7f\xff\xff\xff',
    '\xdc\xff\xff',
    '\xc6\x7f\xff\xff\xff',
  ]) {
    const bytes = Buffer.from(`\x48\x01${length.repeat(200_000)}`, 'latin1');
    const kept = keptBytes(() => new Codec().decodeBatch(bytes, isShardPeerMessage));
    ok(kept < 1_000_000, `${kept} bytes`);
  }
});
