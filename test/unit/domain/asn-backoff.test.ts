// One autonomous system in and out of trouble, told host by host.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  afterVoice,
  NETWORK_FACTOR_MAX,
  networkFactorOf,
  networkVoice,
  troubledShareOf,
} from '../../../src/domain/asn-backoff.ts';

/** The word after `count` hosts said the same. */
function heard(word: number, voice: 'answered' | 'troubled', count: number): number {
  let after = word;
  for (let at = 0; at < count; at += 1) after = afterVoice(after, voice);
  return after;
}

test('networkVoice lets a host in trouble speak once, until it has answered', () => {
  strictEqual(networkVoice('timeout', 1), 'troubled');
  strictEqual(networkVoice('timeout', 2), 'silent');
  strictEqual(networkVoice(undefined, 0), 'answered');
});

test('networkVoice hears overload and broken connections, not broken pages or names', () => {
  for (const failure of ['status-429', 'status-5xx', 'reset', 'connect-timeout'] as const) {
    strictEqual(networkVoice(failure, 1), 'troubled', failure);
  }
  for (const failure of ['dns-failed', 'tls-failed', 'address-forbidden', 'aborted'] as const) {
    strictEqual(networkVoice(failure, 1), 'silent', failure);
  }
});

test('afterVoice slows a network that is wholly down to the cap within 25 hosts', () => {
  const word = heard(0, 'troubled', 25);
  strictEqual(networkFactorOf(word), NETWORK_FACTOR_MAX);
  ok(troubledShareOf(word) > 0.75);
});

test('afterVoice does not slow a network for its first few troubled hosts', () => {
  strictEqual(networkFactorOf(heard(0, 'troubled', 7)), 1);
});

test('afterVoice recovers slowly: some 35 answers halve the excess, all of it goes in the end', () => {
  const down = heard(0, 'troubled', 25);
  const half = networkFactorOf(heard(down, 'answered', 35));
  ok(half > 7 && half < 9, `${half}`);
  strictEqual(networkFactorOf(heard(down, 'answered', 400)), 1);
});

test('afterVoice leaves a network alone in which every fifth host is dead', () => {
  let word = 0;
  for (let at = 0; at < 10_000; at += 1) {
    word = afterVoice(word, at % 5 === 0 ? 'troubled' : 'answered');
    strictEqual(networkFactorOf(word), 1);
  }
});
