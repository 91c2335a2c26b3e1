import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packAudit, readAuditLog } from '../../src/storage/audit-log.ts';
import {
  openFrontierLog,
  packDiscovered,
  readFrontierSegment,
} from '../../src/storage/frontier-log.ts';
import { auditOf, discoveredAt } from '../fixtures/checkpoint-batches.ts';
import { removeFolder, temporaryFolder } from '../fixtures/store-session.ts';

const first = discoveredAt(1, 7, { sequence: 0 });
const second = discoveredAt(2, 8, { sequence: 5, band: 2 });

function withFolder(work: (dir: string) => void): void {
  const dir = temporaryFolder();
  mkdirSync(join(dir, 'frontier'));
  mkdirSync(join(dir, 'audit'));
  try {
    work(dir);
  } finally {
    removeFolder(dir);
  }
}

test('SegmentLog cuts back to the committed end and reads on from there', () =>
  withFolder((dir) => {
    const log = openFrontierLog(dir, 1_000, []);
    log.append([packDiscovered([first])]);
    log.sync();
    const committed = log.segments;
    log.append([packDiscovered([second])]);
    log.close();
    appendFileSync(join(dir, 'frontier', 'urls-1.log'), 'torn');
    writeFileSync(join(dir, 'frontier', 'urls-2.log'), 'begun and not committed');
    const again = openFrontierLog(dir, 1_000, committed);
    ok(!existsSync(join(dir, 'frontier', 'urls-2.log')));
    again.append([packDiscovered([second])]);
    again.close();
    const [segment] = again.segments;
    ok(segment);
    deepStrictEqual([...readFrontierSegment(dir, segment)], [first, second]);
  }));

test('SegmentLog rolls, forgets and removes segments', () =>
  withFolder((dir) => {
    const log = openFrontierLog(dir, 1, []);
    strictEqual(log.roll(), undefined, 'an empty segment is not followed');
    log.append([packDiscovered([first])]);
    strictEqual(log.roll(), 2);
    ok(log.forget(2), 'the old segment goes, the current one stays');
    deepStrictEqual(log.segments, [{ number: 2, bytes: 0 }]);
    ok(existsSync(log.pathOf(1)));
    log.removeForgotten();
    ok(!existsSync(log.pathOf(1)));
    log.close();
  }));

test('SegmentLog.revert returns to a commit that knew no segment', () =>
  withFolder((dir) => {
    const log = openFrontierLog(dir, 1_000, []);
    log.append([packDiscovered([first])]);
    log.revert([]);
    ok(!existsSync(join(dir, 'frontier', 'urls-1.log')));
  }));

test('readBlocks names file and offset of a damaged or missing committed block', () =>
  withFolder((dir) => {
    const log = openFrontierLog(dir, 1_000, []);
    log.append([packDiscovered([first]), packDiscovered([second])]);
    log.close();
    const [segment] = log.segments;
    ok(segment);
    const path = log.pathOf(1);
    const whole = readFileSync(path);
    for (const at of [0, 5, 20, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      writeFileSync(path, damaged);
      throws(() => [...readFrontierSegment(dir, segment)], {
        code: 'data-damaged',
        message: /urls-1\.log at offset \d+/,
      });
    }
    writeFileSync(path, whole);
    truncateSync(path, whole.length - 1);
    throws(() => openFrontierLog(dir, 1_000, log.segments), { code: 'data-damaged' });
  }));

test('readAuditLog gives back every entry', () =>
  withFolder((dir) => {
    const failed = {
      ...auditOf(2, 50),
      status: 0,
      failure: 'timeout' as const,
      purpose: 'robots' as const,
    };
    const block = packAudit([auditOf(1, 10), failed]);
    writeFileSync(join(dir, 'audit', 'audit-1.log'), block);
    const segments = [{ number: 1, bytes: block.length }];
    deepStrictEqual([...readAuditLog(dir, segments)], [auditOf(1, 10), failed]);
  }));
