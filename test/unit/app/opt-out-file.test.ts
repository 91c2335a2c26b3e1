import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { parseOptOut } from '../../../src/app/opt-out-file.ts';
import { ShardOptOut } from '../../../src/app/shard-opt-out.ts';

test('parseOptOut reads one domain a line as people write them', () => {
  const text =
    '\uFEFF# asked by mail\r\nExample.COM  # 2026-03-01\n\n*.shop.example\nhttps://www.site.test/page\n' +
    'bücher.example\r10.0.0.1\n';
  deepStrictEqual(parseOptOut(text), {
    domains: ['example.com', 'shop.example', 'www.site.test', 'xn--bcher-kva.example', '10.0.0.1'],
    problems: [],
  });
});

test('parseOptOut reports a line that is no domain and keeps the others', () => {
  const { domains, problems } = parseOptOut('a.test\nnot a domain\nb.test');
  deepStrictEqual(domains, ['a.test', 'b.test']);
  strictEqual(problems.length, 1);
  strictEqual(problems[0]?.startsWith('line 2: "not a domain" is not a domain'), true);
});

test('ShardOptOut.replace forgets the old file and keeps what is configured', () => {
  const optOut = new ShardOptOut(['always.test'], ['old.test']);
  optOut.replace(['new.test']);
  const asked = ['always.test', 'www.always.test', 'old.test', 'new.test', 'a.new.test', 'x.test'];
  deepStrictEqual(
    asked.map((host) => optOut.has(host)),
    [true, true, false, true, true, false],
  );
});
