import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import { globMatches } from '../../../src/domain/robots-glob.ts';

const LONG = 40_000;
const found = (piece: string, path: string, chars = 10_000_000): boolean =>
  globMatches({ head: '', pieces: [piece], anchored: false }, path, { chars });

test('globMatches finds pieces that overlap themselves in texts long enough for the linear search', () => {
  for (const piece of ['aab', 'aaab', 'abaab', 'ababac', 'aabaaab', 'abcabd']) {
    const start = piece.slice(0, -1);
    const falseStarts = start.repeat(2) + start.slice(0, 2);
    const path = `${'a'.repeat(LONG)}${falseStarts}${start}${piece}`;
    strictEqual(found(piece, path), true, piece);
    strictEqual(found(piece, 'a'.repeat(LONG) + piece), true, piece);
    strictEqual(found(piece, 'a'.repeat(LONG) + start), false, piece);
  }
});

test('globMatches finds each piece behind the one before', () => {
  const glob = { head: '/', pieces: ['ab', 'ab'], anchored: false };
  strictEqual(globMatches(glob, '/abab', { chars: 100 }), true);
  strictEqual(globMatches(glob, '/ab', { chars: 100 }), false);
});

test('globMatches stops when its budget is spent and says so by a negative rest', () => {
  const budget = { chars: 10 };
  const glob = { head: '', pieces: ['x', 'y'], anchored: false };
  strictEqual(globMatches(glob, `${'a'.repeat(20)}xy`, budget), false);
  strictEqual(budget.chars < 0, true);
});
