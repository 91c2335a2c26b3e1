// What a host's URLs have been worth (actors/host-budget.ts) as bytes: the last part of a host row, which every commit writes that touched
// the host, so it is hand-packed and small: some 20 bytes, and 15 for each shape of URLs that is remembered (step 10).

import type { HostRepeatsRow, HostWorthRow } from '../actors/rows.ts';
import { wallMs } from '../base/units.ts';
import { FORM, SHAPE, SHAPE_COLUMNS } from '../domain/shape-table.ts';
import { SOFT_404_COLUMNS } from '../domain/soft-404.ts';
import { ByteDamage, type ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** A decoder's bound on shapes; more is damage. */
const SHAPES_MAX = 4_096;

/** A decoder's bound on what a host repeats; more is damage. */
const REPEATS_MAX = 1_024;

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
  if (worth.repeats !== undefined) writeRepeats(writer, worth.repeats);
}

function writeRepeats(writer: ByteWriter, { soft404, twins }: HostRepeatsRow): void {
  writer.varint(soft404.length);
  for (const number of soft404) writer.u32(number >>> 0);
  writer.varint(twins.length);
  for (const { own, other, agreements, compared } of twins) {
    writer.text(own);
    writer.text(other);
    writer.varint(agreements);
    writer.varint(compared);
  }
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
  // Rows of older versions, and of hosts that have repeated nothing, end here.
  const repeats = reader.left > 0 ? readRepeats(reader) : undefined;
  return { tally, votes, enteredAt, reviews, reviewAt, repeats };
}

function readRepeats(reader: ByteReader): HostRepeatsRow {
  const length = reader.varint();
  if (length > REPEATS_MAX || length % SOFT_404_COLUMNS !== 0) {
    throw new ByteDamage(`a host row with ${length} numbers of soft 404s`);
  }
  const soft404 = Array.from({ length }, () => reader.u32() | 0);
  const pairs = reader.varint();
  if (pairs > REPEATS_MAX) throw new ByteDamage(`a host row with ${pairs} twins`);
  const twins = Array.from({ length: pairs }, () => ({
    own: reader.text(),
    other: reader.text(),
    agreements: reader.varint(),
    compared: reader.varint(),
  }));
  return { soft404, twins };
}
