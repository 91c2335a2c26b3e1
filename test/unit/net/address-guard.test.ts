import { strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { AddressGuard } from '../../../src/net/address-guard.ts';

const none = new AddressGuard([]);

test('AddressGuard.admits global unicast addresses', () => {
  for (const address of [
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.0.1',
    '192.0.3.1',
    '191.255.255.255',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ]) {
    strictEqual(none.admits(address), true, address);
  }
});

test('AddressGuard.admits no special-purpose IPv4 address', () => {
  for (const address of [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ]) {
    strictEqual(none.admits(address), false, address);
    strictEqual(none.admits(`::ffff:${address}`), false, `mapped ${address}`);
    strictEqual(none.admits(`64:ff9b::${address}`), false, `NAT64 ${address}`);
    strictEqual(none.admits(`::${address}`), false, `compatible ${address}`);
  }
});

test('AddressGuard.admits no special-purpose IPv6 address, nor one that carries a forbidden IPv4 address', () => {
  for (const address of [
    '::',
    '::1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '2001:10::1',
    '2001:20::1',
    '2001:2::1',
    '64:ff9b:1::808:808',
    '5f00::1',
    '4000::1',
    '2002:7f00:1::1',
    '2002:c0a8:101::',
    '2001:0:7f00:1::f7f7:f7f7',
    '2001:0:808:808::80ff:fffe',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
  ]) {
    strictEqual(none.admits(address), false, address);
  }
});

test('AddressGuard.admits nothing that is not a plain address', () => {
  for (const text of [
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '08.8.8.8',
    '2130706433',
    '0x7f000001',
    '8.8.8.8:80',
    '[2606:4700::1111]',
    'fe80::1%eth0',
    '2606:4700::1111%1',
    '256.1.1.1',
    '1.1.1',
    '8.8.8.8 ',
    '8.8.8.8\0',
    'x'.repeat(100_000),
  ]) {
    strictEqual(none.admits(text), false, text.slice(0, 40));
  }
});

test('AddressGuard.admits exactly the allowed networks besides (field bug N6)', () => {
  const one = new AddressGuard(['127.0.0.1/32']);
  strictEqual(one.admits('127.0.0.1'), true);
  strictEqual(one.admits('::ffff:127.0.0.1'), true);
  for (const address of ['0.0.0.1', '255.0.0.1', '127.0.0.0', '127.0.0.2', '127.0.1.1']) {
    strictEqual(one.admits(address), false, address);
  }
  const some = new AddressGuard(['10.1.2.3/8', 'fd00::/8', '::1', '::ffff:192.168.0.0/112']);
  for (const address of ['10.255.0.1', 'fdff::1', '::1', '192.168.255.1']) {
    strictEqual(some.admits(address), true, address);
  }
  for (const address of ['11.0.0.1', '9.255.255.255'] as const) {
    strictEqual(some.isAllowed(address), false, address);
  }
  strictEqual(some.admits('fc00::1'), false);
  strictEqual(some.admits('172.16.0.1'), false);
  strictEqual(some.isAllowed('10.0.0.1'), true);
  strictEqual(some.isAllowed('8.8.8.8'), false);
});

test('AddressGuard.admits all but the unspecified address when all is allowed', () => {
  const all = new AddressGuard(['0.0.0.0/0', '::/0']);
  for (const address of ['127.0.0.1', '255.255.255.255', 'fe80::1', '::1']) {
    strictEqual(all.admits(address), true, address);
  }
  strictEqual(all.admits('0.0.0.0'), false);
  strictEqual(all.admits('::'), false);
});

test('AddressGuard refuses a network it cannot read as an error of configuration', () => {
  for (const cidr of [
    '',
    'x',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '::/129',
    'fe80::1%0/64',
    '10.0.0.0/8x',
  ]) {
    throws(
      () => new AddressGuard([cidr]),
      (error) => error instanceof CrawlError && error.code === 'config' && error.remedy !== '',
      cidr,
    );
  }
});
