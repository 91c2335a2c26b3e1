// What a host's URLs have been worth (actors/host-budget.ts) as bytes: the last part of a host row, which every commit writes that touched
// the host, so it is hand-packed and small: some 20 bytes, and 15 for each shape of URLs that is remembered (step 10).

import type { HostWorthRow } from '../actors/rows.ts';
import { wallMs } from '../base/units.ts';
import { FORM, SHAPE, SHAPE_COLUMNS } from '../domain/shape-table.ts';
import { ByteDamage, type ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** A decoder's bound on shapes; more is damage. */
const SHAPES_MAX = 4_096;

const COUNT_MAX = 2 ** 31 - 1;

/** Appends it to a row. */
export function writeHostWorth(writer: ByteWriter, worth: HostWorthRow): void {
  const { tally, votes, enteredAt, reviews, reviewAt } = worth;
  writer.varint(tally.urls);
  writer.varint(tally.pages);
  writer.varint(tally.freshPages);
  writer.varint(tally.granted);
  writer.u32(votes[0]);
  writer.u32(votes[1]);
  writer.f64(enteredAt);
  writer.varint(reviews);
  writer.f64(reviewAt);
  writeShapes(writer, tally.shapes);
}

/** Hashes, which are first and last in a row, take four bytes each, counts mostly one. */
function writeShapes(writer: ByteWriter, shapes: readonly number[]): void {
  writer.varint(shapes.length / SHAPE_COLUMNS);
  for (let row = 0; row < shapes.length; row += SHAPE_COLUMNS) {
    for (let column = 0; column < SHAPE_COLUMNS; column += 1) {
      const number = shapes[row + column] as number;
      if (isHash(column)) writer.u32(number >>> 0);
      else writer.varint(number);
    }
  }
}

function isHash(column: number): boolean {
  return column === SHAPE || column >= FORM;
}

/** @throws ByteDamage when the bytes are none */
export function readHostWorth(reader: ByteReader): HostWorthRow {
  const [urls, pages] = [reader.varint(), reader.varint()];
  const [freshPages, granted] = [reader.varint(), reader.varint()];
  const votes = [reader.u32(), reader.u32()] as const;
  const enteredAt = wallMs(reader.f64());
  const reviews = reader.varint();
  const reviewAt = wallMs(reader.f64());
  const count = reader.varint();
  if (count > SHAPES_MAX) throw new ByteDamage(`a host row with ${count} shapes`);
  const shapes: number[] = [];
  for (let at = 0; at < count * SHAPE_COLUMNS; at += 1) {
    const isSigned = isHash(at % SHAPE_COLUMNS);
    const number = isSigned ? reader.u32() : reader.varint();
    if (!isSigned && number > COUNT_MAX) throw new ByteDamage(`a host row that counts ${number}`);
    shapes.push(number | 0);
  }
  const tally = { urls, pages, freshPages, granted, shapes };
  return { tally, votes, enteredAt, reviews, reviewAt };
}
