// A hosts file is typed by hand: whatever it holds, it is read or refused with a reason, never half.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { CrawlError } from '../../src/base/errors.ts';
import { parseHostsFile } from '../../src/cluster/hosts-file.ts';

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'bus',
    '10.0.0.1',
    '127.0.0.1',
    '[::1]:80',
    'weight=2',
    'weight=',
    '#',
    '::',
    'x.y:',
  ),
  fc.constantFrom(
    'region=eu',
    'secret=@s',
    'secret=',
    'bus=nats://h:1',
    'tls=d',
    '=',
    'a=b=c',
    '127.0.0.1:65532',
  ),
  fc.string({ maxLength: 12, unit: 'binary' }),
);
const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const text = fc.oneof(
  fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')),
  fc.string({ maxLength: 300, unit: 'binary' }),
);

test('parseHostsFile gives usable nodes or a CrawlError config, for any text', () => {
  fc.assert(
    fc.property(text, (content) => {
      try {
        const { nodes, bus } = parseHostsFile(content, 'hosts.txt');
        ok(nodes.length > 0);
        strictEqual(new Set(nodes.map(({ name }) => name)).size, nodes.length);
        for (const { name, port, weight } of nodes) {
          ok(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name), name);
          ok(port >= 1 && port <= 65_532);
          ok(weight > 0);
        }
        if (bus.kind === 'own') {
          strictEqual(bus.servers.length % 2, 1);
          for (const server of bus.servers) ok(nodes.some(({ name }) => name === server));
        }
      } catch (error) {
        ok(error instanceof CrawlError, String(error));
        strictEqual(error.exitStatus, 2);
        ok(error.remedy !== '');
      }
    }),
    { numRuns: 2_000 },
  );
});

test('parseHostsFile takes linear time', () => {
  const content = `${'a '.repeat(400_000)}\n`;
  const before = performance.now();
  try {
    parseHostsFile(content, 'hosts.txt');
  } catch (error) {
    ok(error instanceof CrawlError);
  }
  ok(performance.now() - before < 2_000);
});
