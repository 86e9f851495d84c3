/** Which columns a query can read, so that the others are not computed. */
import { isGroup, isSymbol, isWord, type Node, nameOf } from '../text/nodes.ts';

/** Every name in a query, in lower case; null where it selects all columns or joins by all common ones. */
export function namedColumns(nodes: readonly Node[]): ReadonlySet<string> | null {
  const names = new Set<string>();
  return collect(nodes, names) ? names : null;
}

function collect(nodes: readonly Node[], names: Set<string>): boolean {
  return nodes.every((node, i) => {
    if (isGroup(node)) return collect(node.nodes, names);
    if (isStar(node, nodes[i - 1]) || isWord(node, 'natural')) return false;
    const name = nameOf(node);
    if (name !== undefined) names.add(name);
    return true;
  });
}

/** Whether an asterisk stands for all columns: not that of count(*), nor a multiplication. */
export function isStar(node: Node | undefined, before: Node | undefined): boolean {
  if (!isSymbol(node, '*')) return false;
  return isWord(before, 'select', 'distinct', 'all') || isSymbol(before, ',') || isSymbol(before, '.');
}
