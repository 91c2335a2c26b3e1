// A process to be killed: appends records as fast as it can, syncs, and tells each durable end on stdout, as a commit would record it.
// Usage: node warc-crash-child.js <directory> <end as JSON>
import { writeSync } from 'node:fs';
import { compressWarc } from '../../src/storage/warc-compress.ts';
import { warcFileNumber, warcPaths } from '../../src/storage/warc-names.ts';
import { buildResponseMembers } from '../../src/storage/warc-record.ts';
import type { WarcEnd } from '../../src/storage/warc-writer.ts';
import { answer, FETCHED_AT, newWriter } from './warc-fixtures.ts';

const COMMITS_MAX = 20_000;

const [directory = '', committed = '[]'] = process.argv.slice(2);
const writer = newWriter(directory, 300_000);
writer.open(JSON.parse(committed) as WarcEnd[]);
let closed: string[] = [];
for (let commit = 0; commit < COMMITS_MAX; commit += 1) {
  for (let record = 0; record < 1 + (commit % 5); record += 1) {
    const payload = Buffer.alloc((commit * 997) % 40_000, `${commit} `);
    const { response, request } = buildResponseMembers({
      url: `http://a.test/${commit}/${record}`,
      fetchedAt: FETCHED_AT,
      response: answer({ payload, body: payload }),
      warcinfoId: undefined,
    });
    writer.append(response);
    writer.append(request);
  }
  writer.sync();
  writeSync(1, `${JSON.stringify(writer.ends())}\n`);
  // Files closed after the commit before this one: no longer named as open by a durable state.
  for (const path of closed) {
    const name = path.slice(directory.length + 1);
    compressWarc(warcPaths(directory, 'hostler', warcFileNumber(name, 'hostler')!.file), 1);
  }
  closed = writer.rollIfNeeded();
}
