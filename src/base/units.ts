// Branded units: numbers and bigints that must not be mixed up (STYLE.md, names). A brand exists only for the compiler.

declare const brand: unique symbol;
type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };

/** Milliseconds since the Unix epoch by the wall clock; may jump. Stored on disk. */
export type WallMs = Brand<number, 'WallMs'>;
/** Milliseconds by a clock that never goes back, from an arbitrary zero in this process. Never stored. */
export type MonotonicMs = Brand<number, 'MonotonicMs'>;
/** xxhash64 (seeded per crawl) of a canonical URL: the identity of a URL. Unsigned 64 bits. */
export type UrlKey = Brand<bigint, 'UrlKey'>;
/** xxhash64 (seeded per crawl) of a canonical host name: the identity of a host. Unsigned 64 bits. */
export type HostKey = Brand<bigint, 'HostKey'>;
/** A virtual partition of the ring: 0 … partitions − 1. */
export type PartitionIndex = Brand<number, 'PartitionIndex'>;

export const wallMs = (value: number): WallMs => value as WallMs;
export const monotonicMs = (value: number): MonotonicMs => value as MonotonicMs;
export const urlKey = (value: bigint): UrlKey => value as UrlKey;
export const hostKey = (value: bigint): HostKey => value as HostKey;
export const partitionIndex = (value: number): PartitionIndex => value as PartitionIndex;
