// What is decided once, when a crawl is created, and never changes: the seed of all URL and host keys, the number of partitions, the
// crawl's id (steps 1 and 2 of a URL's life rest on them). Kept in LMDB table meta; a directory whose identity contradicts what the
// configuration asks for is refused, since every key in it would mean something else.

import { randomBytes, randomUUID } from 'node:crypto';
import { CrawlError } from '../base/errors.ts';
import type { WallMs } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { damaged } from './disk-error.ts';
import type { Tables } from './tables.ts';
import { nameKey } from './tables.ts';

/** The constants of one crawl. */
export interface CrawlIdentity {
  /** UUID; names the crawl in WARC files and on the bus. */
  readonly crawlId: string;
  /** Seed of xxhash64 for URL and host keys; unsigned 64 bits. */
  readonly hashSeed: bigint;
  /** Virtual partitions of the ring, 1 … 65,536. */
  readonly partitions: number;
  readonly createdAt: WallMs;
}

const IDENTITY = nameKey('identity');
const PARTITIONS_MAX = 65_536;

/**
 * The stored identity, or a new one when the directory holds none yet.
 * @param wanted partitions for a new crawl; of an existing one only compared, when `explicit`. `identity` joins a cluster's crawl.
 * @throws CrawlError config when the stored identity contradicts an explicit wish; data-damaged
 */
export function openOrCreateIdentity(
  tables: Tables,
  wanted: {
    readonly partitions: number;
    readonly explicit: boolean;
    readonly now: WallMs;
    readonly identity?: CrawlIdentity | undefined;
  },
): CrawlIdentity {
  const stored = readIdentity(tables);
  if (stored === undefined) {
    const created = wanted.identity ?? {
      crawlId: randomUUID(),
      hashSeed: randomBytes(8).readBigUInt64LE(0),
      partitions: wanted.partitions,
      createdAt: wanted.now,
    };
    checkPartitions(created.partitions);
    tables.root.transactionSync(() => {
      tables.meta.putSync(IDENTITY, encodeIdentity(created));
    });
    return created;
  }
  const asked = wanted.identity?.partitions ?? wanted.partitions;
  if (wanted.explicit && asked !== stored.partitions) {
    throw new CrawlError(
      'config',
      `this crawl has ${stored.partitions} partitions, the configuration asks for ${asked}`,
      { remedy: 'Partitions are fixed when a crawl is created: remove the option, or use --data.' },
    );
  }
  if (wanted.identity !== undefined && wanted.identity.crawlId !== stored.crawlId) {
    throw new CrawlError(
      'config',
      `this directory belongs to crawl ${stored.crawlId}, the cluster runs ${wanted.identity.crawlId}`,
      { remedy: 'Give this node the directory it had, or an empty one, with --data.' },
    );
  }
  return stored;
}

/**
 * @returns undefined when the directory holds no crawl yet
 * @throws CrawlError data-damaged
 */
export function readIdentity(tables: Tables): CrawlIdentity | undefined {
  const value = tables.meta.get(IDENTITY);
  if (value === undefined) return undefined;
  try {
    const reader = new ByteReader(value);
    const crawlId = reader.text();
    const hashSeed = reader.u64();
    const partitions = reader.varint();
    const createdAt = wallMs(reader.f64());
    reader.end();
    return { crawlId, hashSeed, partitions, createdAt };
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged('identity of the crawl', error);
    throw error;
  }
}

function encodeIdentity(identity: CrawlIdentity): Buffer {
  const writer = new ByteWriter(64);
  writer.text(identity.crawlId);
  writer.u64(identity.hashSeed);
  writer.varint(identity.partitions);
  writer.f64(identity.createdAt);
  return writer.copy();
}

function checkPartitions(partitions: number): void {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= PARTITIONS_MAX) return;
  throw new CrawlError('config', `${partitions} partitions`, {
    remedy: `Give a whole number from 1 to ${PARTITIONS_MAX}.`,
  });
}
