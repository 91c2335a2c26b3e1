// Kinds of text that name an object store: its bucket, its server, its region. As strict as the store's client, so that a wrong value is refused
// before a crawl starts and not when its first file is full.

import { parseUrl } from '../base/parse-url.ts';
import { text } from './value-kind.ts';

/** Bucket and key prefix. Bucket names: 3 to 63 lower-case letters, digits, dots, hyphens (S3's general purpose buckets). */
export const OBJECT_STORE = text({
  expected: 'a bucket as s3://bucket or s3://bucket/prefix',
  placeholder: 'URL',
  parse: (value) =>
    /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w.=/-]{0,512})?$/.test(value)
      ? value
      : undefined,
});

/** A server. */
export const HTTP_URL = text({
  expected: 'an http(s) URL',
  placeholder: 'URL',
  parse: (value) =>
    /^https?:\/\//i.test(value) && parseUrl(value) !== undefined ? value : undefined,
});

/** A region's name. */
export const REGION = text({
  expected: "a region's name, such as eu-central-1",
  placeholder: 'NAME',
  parse: (value) => (/^[a-z0-9][a-z0-9-]{0,62}$/i.test(value) ? value : undefined),
});
