// hosts.txt: what it may say, what is wrong with one that cannot be used, and which line a machine is.
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { parseHostsFile } from '../../../src/cluster/hosts-file.ts';
import { ownLines } from '../../../src/cluster/own-line.ts';

const parse = (text: string) => parseHostsFile(text, 'hosts.txt');

/** What is said of a file, and that the exit status is 2 and a way out is named. */
function problemsOf(text: string): string {
  let said = '';
  throws(
    () => parse(text),
    (error) => {
      ok(error instanceof CrawlError);
      strictEqual(error.exitStatus, 2);
      ok(error.remedy !== '');
      said = error.message;
      return true;
    },
  );
  return said;
}

test('parseHostsFile reads names, addresses, ports, options and settings', () => {
  const file = parse(`# the nodes
a  10.0.0.1   bus            # runs the bus
b  10.0.0.2   bus weight=2
c  10.0.0.3   bus region=eu
d  10.0.0.4:7100
secret=@cluster.secret tls=./tls
`);
  deepStrictEqual(
    file.nodes.map(({ name }) => name),
    ['a', 'b', 'c', 'd'],
  );
  deepStrictEqual(
    file.nodes.map(({ port }) => port),
    [7070, 7070, 7070, 7100],
  );
  deepStrictEqual(
    file.nodes.map(({ weight }) => weight),
    [1, 2, 1, 1],
  );
  strictEqual(file.nodes[2]?.region, 'eu');
  deepStrictEqual(file.bus, { kind: 'own', servers: ['a', 'b', 'c'] });
  strictEqual(file.secretFile, 'cluster.secret');
  strictEqual(file.tlsDir, './tls');
  strictEqual(file.isLoopback, false);
});

test('parseHostsFile takes bare addresses and names them by address', () => {
  const file = parse('127.0.0.1\n127.0.0.1\n[::1]:9000\n');
  deepStrictEqual(
    file.nodes.map(({ name }) => name),
    ['127-0-0-1', '127-0-0-1-2', '1'],
  );
  deepStrictEqual(
    file.nodes.map(({ port }) => port),
    [7070, 7170, 9000],
  );
  ok(file.isLoopback);
});

test('parseHostsFile chooses three bus servers, one where there are fewer machines, none with bus=', () => {
  const servers = (text: string) => {
    const { bus } = parse(text);
    return bus.kind === 'own' ? bus.servers.length : bus.url;
  };
  strictEqual(servers('10.0.0.1\n10.0.0.2\n10.0.0.3\n10.0.0.4\nsecret=@s'), 3);
  strictEqual(servers('127.0.0.1\n127.0.0.2\n127.0.0.3'), 1);
  strictEqual(servers('127.0.0.1\n127.0.0.2'), 1);
  strictEqual(servers('127.0.0.1\n127.0.0.2\nbus=nats://mybus:4222'), 'nats://mybus:4222');
});

test('parseHostsFile tells every problem with its line', () => {
  const said = problemsOf(`a 10.0.0.1 weight=0
a 10.0.0.256
b 10.0.0.2 buss
!! 10.0.0.3
c 10.0.0.4:99999
d 10.0.0.5 region=
pass=1
secret=open
bus=http://x
`);
  for (const part of [
    'line 1: weight="0"',
    'line 2: "10.0.0.256" is no address',
    'line 3: "buss" is no option',
    'line 4: "!!" is no name',
    'line 5: "10.0.0.4:99999" is no address',
    'line 6: region=""',
    'line 7: "pass=1" is no setting',
    'line 8: secret= takes a file',
    'line 9: bus="http://x" is no address',
  ]) {
    ok(said.includes(part), `${part} in:\n${said}`);
  }
});

test('parseHostsFile refuses an empty file, a name twice, an even number of voters, shared ports, no secret', () => {
  ok(problemsOf('# nothing\n').includes('names no machine'));
  ok(problemsOf('a 127.0.0.1\na 127.0.0.2').includes('line 2: a is the name of line 1'));
  ok(problemsOf('127.0.0.1 bus\n127.0.0.2 bus').includes('2 machines run the bus'));
  ok(problemsOf('a 127.0.0.1:8000\nb 127.0.0.1:8002').includes('a and b share ports'));
  ok(problemsOf('a 10.0.0.1').includes('no secret'));
  ok(problemsOf('a 127.0.0.1 bus\nbus=nats://x:1').includes('both bus= and a machine'));
});

test('ownLines finds the machine by address, by --me, and starts all of a loopback file', () => {
  const file = parse('a 10.0.0.1\nb 10.0.0.2\nsecret=@s');
  deepStrictEqual(ownLines(file, undefined, ['10.0.0.2', 'fe80::1']), {
    kind: 'one',
    node: file.nodes[1],
  });
  deepStrictEqual(ownLines(file, 'a', ['10.0.0.2']), { kind: 'one', node: file.nodes[0] });
  const trial = parse('127.0.0.1\n127.0.0.2');
  deepStrictEqual(ownLines(trial, undefined, ['10.0.0.2']), { kind: 'all' });
  deepStrictEqual(ownLines(trial, '127-0-0-2', []), { kind: 'one', node: trial.nodes[1] });
});

test('ownLines refuses to guess and lists the choices', () => {
  const file = parse('a 10.0.0.1\nb 10.0.0.1:7200\nsecret=@s');
  const refusal = (me: string | undefined, local: string[]) => {
    let said = '';
    throws(
      () => ownLines(file, me, local),
      (error) => {
        ok(error instanceof CrawlError && error.exitStatus === 2);
        said = `${error.message} ${error.remedy}`;
        return true;
      },
    );
    return said;
  };
  ok(refusal(undefined, ['10.0.0.1']).includes('--me NAME, of a, b'));
  ok(refusal(undefined, ['10.9.9.9']).includes('no line of the nodes file is this machine'));
  ok(refusal('z', []).includes('Its names are a, b'));
});
