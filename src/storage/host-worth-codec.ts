// What a host's URLs have been worth (actors/host-budget.ts) as bytes: the last part of a host row, which every commit writes that touched
// the host, so it is hand-packed and small: some 20 bytes, and 15 for each shape of URLs that is remembered (step 10).

import type { HostWorthRow } from '../actors/rows.ts';
import { wallMs } from '../base/units.ts';
import type { ShapeTally } from '../domain/url-budget.ts';
import { ByteDamage, type ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** A decoder's bound on shapes; more is damage. */
const SHAPES_MAX = 4_096;

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
  writer.varint(tally.shapes.length);
  for (const { shape, urls, weight, pages, freshPages, alikePages, forms } of tally.shapes) {
    writer.u32(shape);
    writer.varint(urls);
    writer.varint(weight);
    writer.varint(pages);
    writer.varint(freshPages);
    writer.varint(alikePages);
    writer.u32(forms[0]);
    writer.u32(forms[1]);
  }
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
  const shapes = Array.from({ length: count }, () => readShape(reader));
  const tally = { urls, pages, freshPages, granted, shapes };
  return { tally, votes, enteredAt, reviews, reviewAt };
}

function readShape(reader: ByteReader): ShapeTally {
  return {
    shape: reader.u32(),
    urls: reader.varint(),
    weight: reader.varint(),
    pages: reader.varint(),
    freshPages: reader.varint(),
    alikePages: reader.varint(),
    forms: [reader.u32(), reader.u32()],
  };
}
