// S3-compatible object storage through its official client (DESIGN.md §5): what uploads and range reads need, and nothing else. The client is
// loaded when the first store is opened, since a crawl without one shall not pay for it. Credentials come from where that client looks for
// them (environment, profile, instance role), never from our configuration.
// Every part carries its MD5, which the server checks, and the object its SHA-256 as metadata: old and foreign servers know both, unlike newer checksums.

import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';
import { assert } from '../base/assert.ts';

/** Where objects go; plain data, so that it can be part of a thread's workerData. */
export interface ObjectStoreAddress {
  readonly bucket: string;
  /** Start of every key; empty, or ends in `/`. */
  readonly prefix: string;
  /** http(s) URL of a server that is not Amazon's; buckets are then part of the path. */
  readonly endpoint: string | undefined;
  readonly region: string;
}

/** What a store says of an object. */
export interface ObjectState {
  readonly bytes: number;
  /** Hexadecimal, as the uploader noted it. */
  readonly sha256: string | undefined;
}

/** A part that a store holds of an unfinished upload. */
export interface StoredPart {
  readonly number: number;
  readonly bytes: number;
  readonly etag: string;
}

/** Tries of one request, waits between them by the client. */
const ATTEMPTS_MAX = 4;
const CONNECT_MS_MAX = 10_000;
const REQUEST_MS_MAX = 120_000;

type Commands = typeof import('@aws-sdk/client-s3');

/** See the head of this file. Methods reject with the client's errors. */
export class ObjectStore {
  readonly address: ObjectStoreAddress;
  readonly #client: S3Client;
  readonly #commands: Commands;

  private constructor(address: ObjectStoreAddress, client: S3Client, commands: Commands) {
    this.address = address;
    this.#client = client;
    this.#commands = commands;
  }

  /** Loads the client; makes no request. */
  static async open(address: ObjectStoreAddress): Promise<ObjectStore> {
    const commands = await import('@aws-sdk/client-s3');
    const client = new commands.S3Client({
      region: address.region,
      maxAttempts: ATTEMPTS_MAX,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_MS_MAX, socketTimeout: REQUEST_MS_MAX },
      ...(address.endpoint === undefined
        ? {}
        : { endpoint: address.endpoint, forcePathStyle: true }),
    });
    return new ObjectStore(address, client, commands);
  }

  /** What is stored under a key; undefined for nothing. */
  async stat(key: string): Promise<ObjectState | undefined> {
    try {
      const head = await this.#client.send(new this.#commands.HeadObjectCommand(this.#at(key)));
      return { bytes: head.ContentLength ?? 0, sha256: head.Metadata?.sha256 };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Stores a small object in one request. @param md5 base64 */
  async put(key: string, body: Buffer, digests: { md5: string; sha256: string }): Promise<void> {
    const { md5: ContentMD5, sha256 } = digests;
    const input = { ...this.#at(key), Body: body, ContentMD5, Metadata: { sha256 } };
    await this.#client.send(new this.#commands.PutObjectCommand(input));
  }

  /** Begins an upload in parts. @returns its id, which stays good until it is completed or aborted, over restarts */
  async begin(key: string, sha256: string): Promise<string> {
    const input = { ...this.#at(key), Metadata: { sha256 } };
    const begun = await this.#client.send(new this.#commands.CreateMultipartUploadCommand(input));
    assert(begun.UploadId !== undefined, () => 'an upload without id');
    return begun.UploadId;
  }

  /** Parts that an upload has already; undefined when the store knows no such upload (any more). */
  async parts(key: string, uploadId: string): Promise<readonly StoredPart[] | undefined> {
    const parts: StoredPart[] = [];
    try {
      for (let marker: string | undefined, more = true; more; ) {
        const page = await this.#client.send(
          new this.#commands.ListPartsCommand({
            ...this.#at(key),
            UploadId: uploadId,
            PartNumberMarker: marker,
          }),
        );
        for (const { PartNumber = 0, Size = 0, ETag = '' } of page.Parts ?? []) {
          parts.push({ number: PartNumber, bytes: Size, etag: ETag });
        }
        marker = page.NextPartNumberMarker;
        more = page.IsTruncated === true && marker !== undefined;
      }
      return parts;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Sends one part. @param md5 base64 @returns its entity tag */
  async putPart(
    upload: { readonly key: string; readonly uploadId: string; readonly number: number },
    body: Buffer,
    md5: string,
  ): Promise<string> {
    const sent = await this.#client.send(
      new this.#commands.UploadPartCommand({
        ...this.#at(upload.key),
        UploadId: upload.uploadId,
        PartNumber: upload.number,
        Body: body,
        ContentMD5: md5,
      }),
    );
    return sent.ETag ?? '';
  }

  /** Makes one object of the parts. @param etags in the order of the parts */
  async complete(key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const Parts: CompletedPart[] = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    const input = { ...this.#at(key), UploadId: uploadId, MultipartUpload: { Parts } };
    await this.#client.send(new this.#commands.CompleteMultipartUploadCommand(input));
  }

  /** Bytes of an object; fewer where it ends earlier. */
  async readRange(key: string, offset: number, bytes: number): Promise<Buffer> {
    const Range = `bytes=${offset}-${offset + bytes - 1}`;
    const input = { ...this.#at(key), Range };
    const answer = await this.#client.send(new this.#commands.GetObjectCommand(input));
    return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
  }

  /** Closes its connections. */
  close(): void {
    this.#client.destroy();
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.address.bucket, Key: key };
  }
}

/** The answer says that there is no such key or upload; a missing bucket is trouble of another kind. */
function isMissing(error: unknown): boolean {
  const { name } = error as Error;
  return name === 'NotFound' || name === 'NoSuchKey' || name === 'NoSuchUpload';
}

/** What went wrong with a store, for the operator: the error's name and text. */
export function storeTrouble(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  return `${name}: ${message}${status === undefined ? '' : ` (status ${status})`}`;
}
