import { deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { HTTP_URL, OBJECT_STORE, REGION } from '../../../src/config/object-store-kinds.ts';

const passes = (kind: typeof REGION, texts: readonly string[]): boolean[] =>
  texts.map((text) => 'value' in kind.readText([text]));

test('OBJECT_STORE takes a bucket with or without prefix and nothing else', () => {
  const good = ['s3://abc', 's3://my.bucket-1/', 's3://abc/x/y=1/z_2.3'];
  const bad = ['abc', 's3://', 's3://ab', 's3://Abc', 's3://-abc', 's3://abc/x y', 'http://abc/'];
  deepStrictEqual(passes(OBJECT_STORE, good), [true, true, true]);
  deepStrictEqual(passes(OBJECT_STORE, bad), Array(bad.length).fill(false));
  deepStrictEqual(passes(HTTP_URL, ['http://127.0.0.1:9000', 's3://abc', 'https://']), [
    ...[true, false, false],
  ]);
  deepStrictEqual(passes(REGION, ['eu-central-1', 'a b', '']), [true, false, false]);
});
