import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { RobotsErrands } from '../../../src/actors/robots-errands.ts';

const askOf = (askId: number) => ({ from: 0, askId, url: `http://h.test/r${askId}` });

test('RobotsErrands.next gives asks of others in order, then the own hop', () => {
  const errands = new RobotsErrands();
  errands.follow('http://h.test', 'http://h.test/rules.txt');
  errands.take(askOf(1));
  errands.take(askOf(2));
  const order: string[] = [];
  for (let next = errands.next(); next !== undefined; next = errands.next()) {
    order.push(next.url);
    errands.done();
  }
  deepStrictEqual(order, ['http://h.test/r1', 'http://h.test/r2', 'http://h.test/rules.txt']);
  strictEqual(errands.isEmpty, true);
  throws(() => errands.done(), /no errand is done/);
});

test('RobotsErrands.take refuses beyond its bound (I10)', () => {
  const errands = new RobotsErrands();
  for (let n = 0; n < 256; n += 1) strictEqual(errands.take(askOf(n)), true);
  strictEqual(errands.take(askOf(256)), false);
});

test('RobotsErrands.answered takes the awaited answer once and no other', () => {
  const errands = new RobotsErrands();
  errands.expect(5, 'http://h.test', 'http://other.test/robots.txt');
  strictEqual(errands.isAwaiting, true);
  strictEqual(errands.answered(4), undefined);
  deepStrictEqual(errands.answered(5), {
    ...{ askId: 5, origin: 'http://h.test', url: 'http://other.test/robots.txt' },
  });
  strictEqual(errands.answered(5), undefined);
  strictEqual(errands.isEmpty, true);
});
