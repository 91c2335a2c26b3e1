// Writes the smallest MaxMind databases (format 2.0) that tests need: IPv4 blocks and the number of their autonomous system, with
// 24-bit records. Only to have a file whose content is known; what reads it is the package that reads real ones.

/** A block and its number. */
export interface MmdbBlock {
  readonly address: readonly [number, number, number, number];
  readonly bits: number;
  readonly asn: number;
}

type Node = { zero: Node | number | undefined; one: Node | number | undefined };

/** The bytes of a database. */
export function mmdbFile(blocks: readonly MmdbBlock[]): Buffer {
  const root: Node = { zero: undefined, one: undefined };
  const entries = blocks.map(({ asn }) => map([['autonomous_system_number', uint32(asn)]]));
  const offsets = entries.map((_, at) =>
    entries.slice(0, at).reduce((sum, entry) => sum + entry.length, 0),
  );
  for (const [at, block] of blocks.entries()) insert(root, block, offsets[at] as number);
  const nodes: Node[] = [];
  number(root, nodes);
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [at, { zero, one }] of nodes.entries()) {
    tree.writeUIntBE(recordOf(zero, nodes), at * 6, 3);
    tree.writeUIntBE(recordOf(one, nodes), at * 6 + 3, 3);
  }
  const metadata = map([
    ['binary_format_major_version', uint16(2)],
    ['binary_format_minor_version', uint16(0)],
    ['build_epoch', uint32(1)],
    ['database_type', text('ASN')],
    ['description', map([['en', text('test')]])],
    ['ip_version', uint16(4)],
    ['languages', Buffer.from([0x00, 0x04])],
    ['node_count', uint32(nodes.length)],
    ['record_size', uint16(24)],
  ]);
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);
  return Buffer.concat([tree, Buffer.alloc(16), ...entries, marker, metadata]);
}

function insert(root: Node, { address, bits }: MmdbBlock, offset: number): void {
  let node = root;
  for (let bit = 0; bit < bits; bit += 1) {
    const side = ((address[bit >> 3] as number) >> (7 - (bit & 7))) & 1 ? 'one' : 'zero';
    if (bit === bits - 1) {
      node[side] = offset;
      return;
    }
    const next = node[side];
    const below: Node = typeof next === 'object' ? next : { zero: undefined, one: undefined };
    node[side] = below;
    node = below;
  }
}

function number(node: Node, nodes: Node[]): void {
  nodes.push(node);
  for (const below of [node.zero, node.one]) if (typeof below === 'object') number(below, nodes);
}

function recordOf(below: Node | number | undefined, nodes: readonly Node[]): number {
  if (below === undefined) return nodes.length;
  return typeof below === 'number' ? nodes.length + 16 + below : nodes.indexOf(below);
}

function map(fields: readonly (readonly [string, Buffer])[]): Buffer {
  const parts = fields.flatMap(([name, value]) => [text(name), value]);
  return Buffer.concat([Buffer.from([0xe0 | fields.length]), ...parts]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const head = bytes.length < 29 ? [0x40 | bytes.length] : [0x40 | 29, bytes.length - 29];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function uint16(value: number): Buffer {
  return Buffer.from([0xa2, value >> 8, value & 255]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = 0xc4;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}
