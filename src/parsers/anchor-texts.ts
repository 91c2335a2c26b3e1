// The words under which a page links (step 11, for `export links`): the link scanner has no use for them, so they are read from parse5's tree, in
// the guarded pool, when somebody asks for the link graph. One walk over the tree: text counts for the innermost link around it.

import { type DefaultTreeAdapterMap, parse } from 'parse5';
import type { PageInput, ParsedPage } from '../domain/page-links.ts';
import { resolveReference } from '../domain/resolve-reference.ts';

type Node = DefaultTreeAdapterMap['node'];

/** Characters of a link's text that are kept. */
export const ANCHOR_TEXT_CHARACTERS_MAX = 256;
/** Bytes of a page that is built into a tree for its texts; a longer one gives links without them. */
const TREE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The first text of each link target on a page that has any: what `a` elements contain, images by their alternative text.
 * @param page a stored page of any type
 * @param parsed what the page's parser said: its base and its encoding
 * @returns text by absolute URL without fragment, blanks collapsed; empty for a page that is no text. Throws nothing of its own
 */
export function anchorTexts(
  page: PageInput,
  parsed: Pick<ParsedPage, 'base' | 'charset'>,
): Map<string, string> {
  const texts = new Map<string, string>();
  if (parsed.charset === undefined || page.body.byteLength > TREE_BYTES_MAX) return texts;
  const root = parse(decoded(page.body, parsed.charset), { scriptingEnabled: false });
  walk(root, (reference, text) => {
    const words = text.replace(/\s+/g, ' ').trim().slice(0, ANCHOR_TEXT_CHARACTERS_MAX);
    const url = words === '' ? undefined : resolveReference(reference, parsed.base);
    if (url !== undefined && !texts.has(url)) texts.set(url, words);
  });
  return texts;
}

function decoded(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

interface OpenLink {
  readonly reference: string;
  text: string;
}

/** Visits every node once, without recursion; tells each link when it ends. */
function walk(root: Node, ended: (reference: string, text: string) => void): void {
  const links: OpenLink[] = [];
  const open: (Node | 'link-end')[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node === 'link-end') {
      const link = links.pop();
      if (link !== undefined) ended(link.reference, link.text);
      continue;
    }
    const href = attributeOf(node, 'a', 'href');
    if (href !== undefined) {
      links.push({ reference: href, text: '' });
      open.push('link-end');
    }
    const words = 'value' in node ? node.value : attributeOf(node, 'img', 'alt');
    const link = links.at(-1);
    if (words !== undefined && link !== undefined) addText(link, words);
    if (!('childNodes' in node)) continue;
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      open.push(node.childNodes[index] as Node);
    }
  }
}

function addText(link: OpenLink, words: string): void {
  // Blanks may still collapse; four times the bound is enough of any text that people read.
  const room = 4 * ANCHOR_TEXT_CHARACTERS_MAX - link.text.length;
  if (room > 0) link.text += words.slice(0, room);
}

function attributeOf(node: Node, tag: string, name: string): string | undefined {
  if (!('attrs' in node) || node.tagName !== tag) return undefined;
  return node.attrs.find((attribute) => attribute.name === name)?.value;
}
