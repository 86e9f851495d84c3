/** Texts of a query in another spelling than the tables have: of addresses, hashes and times. */
import { isGroup, isWord, type Node } from '../text/nodes.ts';
import type { Token } from '../text/tokens.ts';

/** Also as PostgreSQL writes it, with \x; other databases have blobs. */
const ADDRESS_OR_HASH = /^(?:0|\\)[xX]([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.0+)?Z?$/;

const COMPARING = ['=', '==', '<>', '!='];

/** The replacements of such texts: lower-case digits, and a space within times, as `datetime()` writes them. */
export function literalEdits(
  nodes: readonly Node[],
  isList = false,
): { start: number; end: number; text: string }[] {
  return nodes.flatMap((node, at) => {
    const [before, after] = [nodes[at - 1], nodes[at + 1]];
    if (isGroup(node)) return literalEdits(node.nodes, isWord(before, 'in'));
    const isCompared = isList || isOneOf(before, COMPARING) || isOneOf(after, COMPARING);
    const text = storedText(node, isCompared);
    return text === null ? [] : [{ start: node.start, end: node.end, text: `'${text}'` }];
  });
}

/** Null where the node is no such text. A blob is one where it is compared: no column has blobs. */
function storedText({ kind, value }: Token, isCompared: boolean): string | null {
  const text = kind === 'blob' && isCompared ? `\\x${value.slice(2, -1)}` : value;
  const stored = kind === 'string' || text !== value ? spelledAsStored(text) : text;
  return stored === text ? null : stored;
}

function isOneOf(node: Node | undefined, symbols: readonly string[]): boolean {
  return node?.kind === 'symbol' && symbols.includes(node.value);
}

export function spelledAsStored(text: string): string {
  const [, digits] = ADDRESS_OR_HASH.exec(text) ?? [];
  if (digits !== undefined) return `0x${digits.toLowerCase()}`;
  const [, day, time] = ISO_TIME.exec(text) ?? [];
  return day === undefined ? text : `${day} ${time}`;
}
