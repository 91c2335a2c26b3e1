// Reads stored bodies whose WARC file was moved to an object store (step 11 for replay and exports): the offsets, which stay here, name the
// bytes of a record; just those are fetched. One client for each store met, opened at the first read. Never used on a crawl thread: pages
// that wait to be parsed keep their file here (archive-keeper.ts).

import type { StoredBody } from '../actors/ports.ts';
import type { BodyPointer } from '../actors/rows.ts';
import { CrawlError } from '../base/errors.ts';
import { ObjectStore, storeTrouble } from './object-store.ts';
import { type RemoteWarc, readRemote, remoteUrl } from './remote-warc.ts';
import { readMember } from './warc-gzip.ts';
import { warcPaths } from './warc-names.ts';
import { loadOffsets } from './warc-offsets.ts';
import { BODY_BYTES_MAX, parseRecord } from './warc-reader.ts';

interface RemoteFile {
  readonly remote: RemoteWarc;
  readonly offsets: readonly number[];
}

/** Indexes kept in memory; one of a file of 1 GiB may hold some 100,000 offsets. */
const FILES_MAX = 16;
/** Room for the heads of a record on top of its body: 1 MiB, as warc-reader.ts has it. */
const HEADS_BYTES_MAX = 1024 * 1024;

/** See the head of this file. */
export class RemoteBodies {
  readonly #directory: string;
  readonly #prefix: string;
  /** By file number, the least recently used first; undefined for one that was not moved. */
  readonly #files = new Map<number, RemoteFile>();
  readonly #stores = new Map<string, Promise<ObjectStore>>();

  /** @param directory `warc/` */
  constructor(directory: string, prefix: string) {
    this.#directory = directory;
    this.#prefix = prefix;
  }

  /**
   * The stored answer a pointer names.
   * @returns undefined when its file was not moved, or the record is no whole response
   * @throws CrawlError `disk` when the store cannot be read
   */
  async read({ file, record }: BodyPointer): Promise<StoredBody | undefined> {
    const found = this.#fileOf(file);
    const offset = found?.offsets[record];
    if (found === undefined || offset === undefined) return undefined;
    const end = found.offsets[record + 1] ?? found.remote.bytes;
    const bytes = await this.#fetch(found.remote, offset, end - offset);
    const member = readMember(bytes, 0, BODY_BYTES_MAX + HEADS_BYTES_MAX);
    if (member.kind !== 'member') return undefined;
    const stored = parseRecord(member.record, BODY_BYTES_MAX);
    if (stored === undefined || stored.type !== 'response') return undefined;
    return { status: stored.httpStatus, headers: stored.httpHeaders, body: stored.body };
  }

  /** Name and byte offset of a record in its store, as `s3://bucket/key`; undefined when its file was not moved. */
  place({
    file,
    record,
  }: BodyPointer): { readonly name: string; readonly offset: number } | undefined {
    const found = this.#fileOf(file);
    const offset = found?.offsets[record];
    if (found === undefined || offset === undefined) return undefined;
    return { name: remoteUrl(found.remote), offset };
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const stores = [...this.#stores.values()];
    this.#stores.clear();
    for (const store of stores) (await store).close();
  }

  #fileOf(file: number): RemoteFile | undefined {
    const known = this.#files.get(file) ?? this.#load(file);
    if (known === undefined) return undefined;
    this.#files.delete(file);
    this.#files.set(file, known);
    const [oldest] = this.#files.keys();
    if (this.#files.size > FILES_MAX && oldest !== undefined) this.#files.delete(oldest);
    return known;
  }

  #load(file: number): RemoteFile | undefined {
    const paths = warcPaths(this.#directory, this.#prefix, file);
    const remote = readRemote(paths);
    const index = remote === undefined ? undefined : loadOffsets(paths.offsets);
    return remote === undefined || index === undefined
      ? undefined
      : { remote, offsets: index.offsets };
  }

  async #fetch(remote: RemoteWarc, offset: number, bytes: number): Promise<Buffer> {
    const { bucket, endpoint, region, key } = remote;
    const name = JSON.stringify([bucket, endpoint, region]);
    const store =
      this.#stores.get(name) ?? ObjectStore.open({ bucket, endpoint, region, prefix: '' });
    this.#stores.set(name, store);
    try {
      return await (await store).readRange(key, offset, bytes);
    } catch (error) {
      throw new CrawlError('disk', `${remoteUrl(remote)}: ${storeTrouble(error)}`, {
        remedy: 'Check the credentials and the store; nothing was changed.',
        retriable: true,
        cause: error,
      });
    }
  }
}
