// A number of bytes as an option: plain in the config file, and with a unit on the command line, since nobody wants to type eleven zeros.

import { type Bounds, integer, type ValueKind } from './value-kind.ts';

/** Factors of the units, which are powers of 1024 as disks are filled in them: K, M, G, T, each also as KiB or KB. */
const UNITS: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4 };
const WITH_UNIT = /^([\d_]+(?:\.\d+)?)\s*([KMGT])(?:i?B)?$/i;
const KIB = 1024;

/** A whole number of bytes; as text also `500M`, `1.5G` or `2TiB`. */
export function byteCount(bounds: Bounds): ValueKind<number> {
  const plain = integer(bounds, 'BYTES');
  return {
    ...plain,
    readText(texts) {
      const match = WITH_UNIT.exec((texts.at(-1) ?? '').trim());
      if (match === null) return plain.readText(texts);
      const [, digits = '', unit = ''] = match;
      const factor = KIB ** (UNITS[unit.toUpperCase()] ?? 0);
      return plain.read(Math.floor(Number(digits.replaceAll('_', '')) * factor));
    },
  };
}
