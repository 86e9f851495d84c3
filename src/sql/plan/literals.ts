/** Texts of a query in another spelling than the tables have: of addresses, hashes and times. */
import { isGroup, type Node } from '../text/nodes.ts';

/** Also as PostgreSQL writes it, with \x. */
const ADDRESS_OR_HASH = /^(?:0|\\)[xX]([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.0+)?Z?$/;

/** The replacements of such texts: lower-case digits, and a space within times, as `datetime()` writes them. */
export function literalEdits(nodes: readonly Node[]): { start: number; end: number; text: string }[] {
  return nodes.flatMap((node) => {
    if (isGroup(node)) return literalEdits(node.nodes);
    const text = node.kind === 'string' ? spelledAsStored(node.value) : node.value;
    return node.kind === 'string' && text !== node.value
      ? [{ start: node.start, end: node.end, text: `'${text}'` }]
      : [];
  });
}

export function spelledAsStored(text: string): string {
  const [, digits] = ADDRESS_OR_HASH.exec(text) ?? [];
  if (digits !== undefined) return `0x${digits.toLowerCase()}`;
  const [, day, time] = ISO_TIME.exec(text) ?? [];
  return day === undefined ? text : `${day} ${time}`;
}
