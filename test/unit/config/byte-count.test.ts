import { deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { byteCount } from '../../../src/config/byte-count.ts';

test('byteCount reads plain numbers and units, and refuses what is neither', () => {
  const kind = byteCount({ min: 1, max: 2 ** 50 });
  const read = (text: string): unknown => {
    const reading = kind.readText([text]);
    return 'value' in reading ? reading.value : undefined;
  };
  deepStrictEqual(['1000', '1_000', '2K', '1.5m', '3 GiB', '4TB', '10KB'].map(read), [
    1000,
    1000,
    2048,
    1_572_864,
    3 * 2 ** 30,
    4 * 2 ** 40,
    10_240,
  ]);
  deepStrictEqual(
    ['', 'K', '1E', '-1', '0', '5P', '1.5', '2000T', 'NaN'].map(read),
    Array(9).fill(undefined),
  );
  deepStrictEqual(kind.read(4096), { value: 4096 });
});
