// The links of a page by parse5, a complete HTML tree builder (step 11): the reference that the byte scanner is measured against and
// the reader of the guarded pool, where time and memory limits stand around it. It is ten times slower than the scanner and holds
// the whole tree; on a crawl thread it has no place. Scripting counts as off, so the content of noscript is markup.
import { type DefaultTreeAdapterMap, parse } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

/** A link of the tree: the element it came from and its decoded attribute value. */
export interface TreeLink {
  readonly kind: 'a' | 'area' | 'frame' | 'iframe' | 'link';
  readonly reference: string;
}

export interface TreeFacts {
  /** In the order of the tree. */
  readonly links: readonly TreeLink[];
  /** The href of the first base element that has one. */
  readonly base: string | undefined;
}

const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Builds the tree of a page and reads its links. The content of templates is left out, as it is no part of the document.
 * @param html the decoded page, of any length: the caller bounds it
 * @returns links unresolved. Throws nothing of its own; deep pages may exhaust memory, hence the guarded pool
 */
export function parse5Links(html: string): TreeFacts {
  const links: TreeLink[] = [];
  let base: string | undefined;
  const open: Node[] = [parse(html, { scriptingEnabled: false })];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('attrs' in node) {
      links.push(...linksOf(node));
      if (node.tagName === 'base' && node.namespaceURI === XHTML) {
        base ??= attributeOf(node, 'href');
      }
    }
    if ('childNodes' in node) {
      for (let index = node.childNodes.length - 1; index >= 0; index--) {
        open.push(node.childNodes[index]!);
      }
    }
  }
  return { links, base };
}

function linksOf(element: Element): TreeLink[] {
  if (element.namespaceURI === SVG && element.tagName === 'a') {
    return element.attrs
      .filter(({ name, prefix }) => name === 'href' && (prefix ?? '') !== 'xml')
      .map(({ value }) => ({ kind: 'a', reference: value }));
  }
  if (element.namespaceURI !== XHTML) return [];
  switch (element.tagName) {
    case 'a':
    case 'area':
      return linkOf(element, element.tagName, 'href');
    case 'frame':
    case 'iframe':
      return linkOf(element, element.tagName, 'src');
    case 'link':
      return attributeOf(element, 'rel') === undefined ? [] : linkOf(element, 'link', 'href');
    default:
      return [];
  }
}

function linkOf(element: Element, kind: TreeLink['kind'], name: string): TreeLink[] {
  const reference = attributeOf(element, name);
  return reference === undefined ? [] : [{ kind, reference }];
}

function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value;
}
