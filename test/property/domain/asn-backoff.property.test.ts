// The back-off of networks for any history, and the hours of hosts at any time.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { wallMs } from '../../../src/base/units.ts';
import {
  afterVoice,
  NETWORK_FACTOR_MAX,
  networkFactorOf,
  troubledShareOf,
} from '../../../src/domain/asn-backoff.ts';
import { msUntilPermitted, parsePermittedHours } from '../../../src/domain/permitted-hours.ts';
import { createWordsMemory, SharedWords } from '../../../src/runtime/shared-words.ts';

const voices = fc.array(fc.constantFrom('answered' as const, 'troubled' as const), {
  maxLength: 300,
});

test('afterVoice keeps factor and share in their bounds, and an answer never slows', () => {
  fc.assert(
    fc.property(voices, (history) => {
      let word = 0;
      for (const voice of history) {
        // As shared memory keeps it.
        const next = afterVoice(word, voice) | 0;
        const [factor, share] = [networkFactorOf(next), troubledShareOf(next)];
        ok(factor >= 1 && factor <= NETWORK_FACTOR_MAX && share >= 0 && share <= 1);
        const isLower = factor <= networkFactorOf(word) && share <= troubledShareOf(word);
        const isHigher = factor >= networkFactorOf(word) && share >= troubledShareOf(word);
        ok(voice === 'answered' ? isLower : isHigher);
        word = next;
      }
    }),
  );
});

test('SharedWords.update changes the word of one key alone, whatever the keys', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4_294_967_295), { maxLength: 100 }), (keys) => {
      const words = new SharedWords(createWordsMemory(64));
      const expected = new Map<number, number>();
      for (const key of keys) {
        words.update(key, (word) => afterVoice(word, 'troubled'));
        const row = key % 64;
        expected.set(row, afterVoice(expected.get(row) ?? 0, 'troubled') | 0);
      }
      for (let row = 0; row < 64; row += 1) strictEqual(words.read(row), expected.get(row) ?? 0);
    }),
  );
});

test('msUntilPermitted names the next moment within the hours, and 0 exactly within them', () => {
  const minute = fc.nat(1_439);
  fc.assert(
    fc.property(minute, minute, fc.nat(4_000_000_000_000), (from, to, now) => {
      fc.pre(from !== to);
      const hours = { fromMinute: from, toMinute: to };
      const waitMs = msUntilPermitted(hours, wallMs(now));
      ok(waitMs >= 0 && waitMs < 86_400_000);
      strictEqual(msUntilPermitted(hours, wallMs(now + waitMs)), 0);
      if (waitMs > 0) ok(msUntilPermitted(hours, wallMs(now + waitMs - 1)) > 0);
    }),
  );
});

test('parsePermittedHours reads what a clock shows and nothing else', () => {
  fc.assert(
    fc.property(fc.nat(23), fc.nat(59), fc.nat(23), fc.nat(59), (fromHour, from, toHour, to) => {
      const two = (value: number) => String(value).padStart(2, '0');
      const text = `${two(fromHour)}:${two(from)}-${two(toHour)}:${two(to)}`;
      const hours = parsePermittedHours(text);
      if (fromHour === toHour && from === to) strictEqual(hours, undefined);
      else strictEqual(hours?.fromMinute, fromHour * 60 + from);
      strictEqual(parsePermittedHours(`${text} `), undefined);
    }),
  );
  strictEqual(parsePermittedHours('22:00-24:00')?.toMinute, 1_440);
  for (const text of ['', '22-6', '24:00-06:00', '22:60-06:00']) {
    strictEqual(parsePermittedHours(text), undefined, text);
  }
});
