// What is stored of renderings besides their documents (step 10, docs/RENDERING.md): how one went, behind the row of its document (page-codec.ts),
// and what they have been worth on a host, at the end of the host's row (row-codec.ts). Hand-packed, some 20 bytes each.

import type { RenderFacts } from '../actors/rows.ts';
import type { RenderMemory } from '../domain/render-memory.ts';
import { RENDER_REASONS } from '../domain/render-need.ts';
import { ByteDamage, type ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

export function writeRenderFacts(writer: ByteWriter, facts: RenderFacts): void {
  writer.u8(RENDER_REASONS.indexOf(facts.reason));
  writer.text(facts.outcome);
  writer.varint(facts.plainWords);
  writer.varint(facts.words);
  writer.varint(facts.links);
  writer.varint(facts.newLinks);
  writer.varint(facts.requests);
  writer.varint(facts.elapsedMs);
}

/** @throws ByteDamage when the bytes are none */
export function readRenderFacts(reader: ByteReader): RenderFacts {
  const reason = RENDER_REASONS[reader.u8()];
  if (reason === undefined) throw new ByteDamage('unknown reason of a rendering');
  return {
    reason,
    outcome: reader.text(),
    plainWords: reader.varint(),
    words: reader.varint(),
    links: reader.varint(),
    newLinks: reader.varint(),
    requests: reader.varint(),
    elapsedMs: reader.varint(),
  };
}

export function writeRenderMemory(writer: ByteWriter, memory: RenderMemory): void {
  writer.varint(memory.tried);
  writer.varint(memory.gained);
  writer.varint(memory.passed);
}

/** @throws ByteDamage when the bytes are none */
export function readRenderMemory(reader: ByteReader): RenderMemory {
  return { tried: reader.varint(), gained: reader.varint(), passed: reader.varint() };
}
