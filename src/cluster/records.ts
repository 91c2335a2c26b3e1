// What the bucket of a cluster holds, as text (CLUSTER.md, Ownership): leases, the ring, owners of partitions. Written by any node of any version,
// so each is validated when read, like everything from the bus; what cannot be read counts as unknown, and unknown is never dead (rule 4).

/** `live.<node>`: the lease. */
export interface LeaseRecord {
  /** Drawn anew by each process, and each time one loses its lease (rules 2 and 6). */
  readonly incarnation: string;
  /** Counts the renewals of this incarnation, so that a renewal whose answer was lost is known when it is seen. */
  readonly beat: number;
  readonly weight: number;
  readonly region: string | undefined;
  /** `leaving` hands its partitions over; `left` and `dead` own nothing any more, by their own word and by another's. */
  readonly state: 'live' | 'leaving' | 'left' | 'dead';
}

/** `ring`: who shares the partitions. */
export interface RingRecord {
  /** Grows with each change. */
  readonly epoch: number;
  /** P of the crawl. */
  readonly partitions: number;
  readonly members: readonly { readonly name: string; readonly weight: number }[];
}

/** `part.<p>`: its revision is the fencing token of the owner. */
export interface PartRecord {
  /** The last owner's name, also when free. */
  readonly owner: string;
  readonly incarnation: string;
  readonly state: 'own' | 'free';
}

/** One value of the bucket, with its key taken apart. */
export type BucketRecord =
  | { readonly kind: 'lease'; readonly node: string; readonly lease: LeaseRecord }
  | { readonly kind: 'ring'; readonly ring: RingRecord }
  | { readonly kind: 'part'; readonly partition: number; readonly part: PartRecord };

/** Bytes of a record, at most; a ring of 4,096 members is the longest. */
export const RECORD_CHARS_MAX = 512 * 1024;
const MEMBERS_MAX = 4_096;
const PARTITIONS_MAX = 65_536;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const STATES = ['live', 'leaving', 'left', 'dead'] as const;

export const RING_KEY = 'ring';
export function leaseKey(node: string): string {
  return `live.${node}`;
}
export function partKey(partition: number): string {
  return `part.${partition}`;
}

/** Reads a value; undefined for a key that is not ours or a value that is damaged. Never throws. */
export function readRecord(key: string, text: string): BucketRecord | undefined {
  const value = jsonObject(text);
  if (value === undefined) return undefined;
  if (key === RING_KEY) return asRing(value);
  const [kind, rest = '', more] = key.split('.');
  if (more !== undefined) return undefined;
  if (kind === 'live' && NAME.test(rest)) return asLease(rest, value);
  const partition = /^\d{1,5}$/.test(rest) ? Number(rest) : PARTITIONS_MAX;
  if (kind === 'part' && partition < PARTITIONS_MAX) return asPart(partition, value);
  return undefined;
}

function asLease(node: string, value: Record<string, unknown>): BucketRecord | undefined {
  const { incarnation, beat, weight, region } = value;
  const state = STATES.find((each) => each === value.state);
  if (!isName(incarnation) || !isCount(beat) || !isWeight(weight) || state === undefined) {
    return undefined;
  }
  if (region !== undefined && !isName(region)) return undefined;
  return { kind: 'lease', node, lease: { incarnation, beat, weight, region, state } };
}

function asRing({ epoch, partitions, members }: Record<string, unknown>): BucketRecord | undefined {
  if (!isCount(epoch) || !isCount(partitions)) return undefined;
  if (partitions < 1 || partitions > PARTITIONS_MAX) return undefined;
  if (!Array.isArray(members) || members.length > MEMBERS_MAX) return undefined;
  const read: { name: string; weight: number }[] = [];
  for (const member of members) {
    if (typeof member !== 'object' || member === null) return undefined;
    const { name, weight } = member as Record<string, unknown>;
    if (!isName(name) || !isWeight(weight)) return undefined;
    read.push({ name, weight });
  }
  if (new Set(read.map(({ name }) => name)).size !== read.length) return undefined;
  return { kind: 'ring', ring: { epoch, partitions, members: read } };
}

function asPart(
  partition: number,
  { owner, incarnation, state }: Record<string, unknown>,
): BucketRecord | undefined {
  if (!isName(owner) || !isName(incarnation)) return undefined;
  if (state !== 'own' && state !== 'free') return undefined;
  return { kind: 'part', partition, part: { owner, incarnation, state } };
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  if (text.length > RECORD_CHARS_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isWeight(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= 100;
}
