// The columns of `export pages --parquet` and `export links --parquet`: those of the JSON lines, flat, under the names that those have, with an
// underscore where a field lies in another.

import type { LinkRecord, PageRecord } from './export-records.ts';
import type { ParquetColumn } from './parquet-output.ts';

export const PAGE_COLUMNS: readonly ParquetColumn<PageRecord>[] = [
  { name: 'url', type: 'STRING', of: ({ url }) => url },
  { name: 'fetchedAt', type: 'TIMESTAMP', of: ({ fetchedAt }) => new Date(fetchedAt) },
  { name: 'status', type: 'INT32', of: ({ status }) => status },
  { name: 'failure', type: 'STRING', of: ({ failure }) => failure },
  { name: 'depth', type: 'INT32', of: ({ depth }) => depth },
  { name: 'contentType', type: 'STRING', of: ({ contentType }) => contentType },
  { name: 'contentHash', type: 'STRING', of: ({ contentHash }) => contentHash },
  { name: 'bodyKey', type: 'STRING', of: ({ bodyKey }) => bodyKey },
  { name: 'bodyBytes', type: 'INT64', of: ({ bodyBytes }) => BigInt(bodyBytes) },
  { name: 'parsed', type: 'BOOLEAN', of: ({ parsed }) => parsed },
  { name: 'warc_file', type: 'STRING', of: ({ warc }) => warc?.file },
  { name: 'warc_offset', type: 'INT64', of: ({ warc }) => warc && BigInt(warc.offset) },
  { name: 'warc_record', type: 'INT32', of: ({ warc }) => warc?.record },
  { name: 'duplicateOf', type: 'STRING', of: ({ duplicateOf }) => duplicateOf },
  { name: 'nearDuplicateOf', type: 'STRING', of: ({ nearDuplicateOf }) => nearDuplicateOf },
  { name: 'simhash', type: 'STRING', of: ({ simhash }) => simhash },
  { name: 'redirectTo', type: 'STRING', of: ({ redirectTo }) => redirectTo },
  { name: 'truncated', type: 'STRING', of: ({ truncated }) => truncated },
  { name: 'etag', type: 'STRING', of: ({ etag }) => etag },
  { name: 'lastModified', type: 'STRING', of: ({ lastModified }) => lastModified },
  { name: 'rendered_bodyKey', type: 'STRING', of: ({ rendered }) => rendered?.bodyKey },
];

export const LINK_COLUMNS: readonly ParquetColumn<LinkRecord>[] = [
  { name: 'from', type: 'STRING', of: ({ from }) => from },
  { name: 'to', type: 'STRING', of: ({ to }) => to },
  { name: 'text', type: 'STRING', of: ({ text }) => text },
  { name: 'rel', type: 'STRING', of: ({ rel }) => rel },
  { name: 'nofollow', type: 'BOOLEAN', of: ({ nofollow }) => nofollow },
];
