import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeReferences, namedCharacter } from '../../../src/domain/html-entities.ts';

test('decodeReferences reads names, numbers and legacy names by their context', () => {
  const both = {
    '&amp;&lt;&CounterClockwiseContourIntegral;': '&<\u2233',
    '&NotEqualTilde;': '\u2242\u0338',
    '&#65;&#x42;&#X43&#68': 'ABCD',
    '&#0;&#xD800;&#x110000;&#99999999999;': '\ufffd\ufffd\ufffd\ufffd',
    '&#128;&#x9f;': '\u20ac\u0178',
    '&nope; &; &#; &#x; &': '&nope; &; &#; &#x; &',
    '&copy &copy.': '\u00a9 \u00a9.',
    '&&amp;': '&&',
  };
  for (const [text, decoded] of Object.entries(both)) {
    assert.equal(decodeReferences(text, 'text'), decoded);
    assert.equal(decodeReferences(text, 'attribute'), decoded);
  }
  assert.equal(decodeReferences('?a&copy=1&notit;&ltx', 'attribute'), '?a&copy=1&notit;&ltx');
  assert.equal(decodeReferences('?a&copy=1&notit;&ltx', 'text'), '?a\u00a9=1\u00acit;<x');
});

test('namedCharacter knows no inherited names', () => {
  assert.equal(namedCharacter('constructor'), undefined);
  assert.equal(namedCharacter('eacute'), '\u00e9');
});
