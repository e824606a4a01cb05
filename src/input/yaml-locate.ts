import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';

/** A place in a file that a person wrote; line and column count from 1. */
export interface Position {
  file: string;
  line: number;
  column: number;
}

export type Path = readonly PropertyKey[];

/** The offset at which a node starts. */
export function start(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}

/** Finds the places of a document's values; `text` is what it was parsed from, `at` turns an offset into a place. */
export function locator(document: Document, text: string, at: (offset: number) => Position) {
  function walk(path: Path): { node: Node | null; key: number; whole: boolean } {
    let node = resolve(document.contents as Node | null, document);
    let key = start(node);
    for (const step of path) {
      const next = child(node, step);
      if (!next) return { node, key, whole: false };
      // An entry without a value (`key:`) has no node of its own: then its key is the place.
      key = start(next.key ?? next.value);
      node = resolve(next.value, document) ?? next.key;
    }
    return { node, key, whole: true };
  }

  return {
    locate: (path: Path): Position => {
      const { node, key, whole } = walk(path);
      return at(whole ? start(node) : key);
    },
    locateKey: (path: Path): Position => at(walk(path).key),
    locateText: (path: Path, line: number, column: number): Position => {
      const { node, whole } = walk(path);
      const head = at(start(node));
      if (!whole || !isScalar(node)) return head;
      if (node.type === 'BLOCK_LITERAL') {
        const row = head.line + line;
        // The value's lines lack the indentation of the block, and only that.
        const written = (text.split('\n')[row - 1] ?? '').replace(/\r$/, '').length;
        const indent = Math.max(0, written - (String(node.value).split('\n')[line - 1] ?? '').length);
        return { file: head.file, line: row, column: indent + column };
      }
      return node.type === 'PLAIN' && line === 1 ? { ...head, column: head.column + column - 1 } : head;
    },
  };
}

function child(node: Node | null, step: PropertyKey): { key: Node | null; value: Node | null } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    return pair && { key: pair.key as Node, value: pair.value as Node | null };
  }
  if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
    return { key: null, value: node.items[step] as Node };
  }
  return undefined;
}

function resolve(node: Node | null, document: Document): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? node) : node;
}
