import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { LineSplitter } from '../../../src/base/line-splitter.ts';

test('LineSplitter.push joins a line and a character cut anywhere', () => {
  const bytes = Buffer.from('ä\r\nb\n\nlast ü');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const splitter = new LineSplitter(100);
    const lines = [
      ...splitter.push(bytes.subarray(0, cut)),
      ...splitter.push(bytes.subarray(cut)),
      ...splitter.finish(),
    ];
    deepStrictEqual(lines, [{ text: 'ä' }, { text: 'b' }, { text: '' }, { text: 'last ü' }]);
  }
});

test('LineSplitter.push skips a line that is too long, tells so, and goes on behind it', () => {
  const splitter = new LineSplitter(8);
  deepStrictEqual([...splitter.push(Buffer.from('12345678\n1234567'))], [{ text: '12345678' }]);
  equal(splitter.isSkipping, false);
  deepStrictEqual([...splitter.push(Buffer.from('89'))], []);
  equal(splitter.isSkipping, true);
  deepStrictEqual([...splitter.push(Buffer.from('0\nab\n'))], [{ tooLong: true }, { text: 'ab' }]);
  equal(splitter.isSkipping, false);
  deepStrictEqual([...splitter.finish()], []);
});
