/**
 * The root of the trie of a block's transactions or receipts (Yellow Paper, appendix D). All values are known from the
 * start, so each node is hashed once.
 */
import { keccak256, toRlp } from 'viem/utils';
import { bigIntToBytes, type Hex } from '../lib/hex.ts';

export type Encodable = Uint8Array | Encodable[];

interface Leaf {
  /** Half bytes of the encoded position. No encoding begins with another, so no branch has a value of its own. */
  path: readonly number[];
  value: Uint8Array;
}

const EMPTY = new Uint8Array(0);
const HASH_BYTES = 32;

export function encodeRlp(value: Encodable): Uint8Array {
  return toRlp(value, 'bytes');
}

/** The root of the trie that holds each value under its position. */
export function rootOf(values: readonly Uint8Array[]): Hex {
  const leaves = values.map((value, i) => ({ path: halves(encodeRlp(bigIntToBytes(BigInt(i)))), value }));
  return keccak256(encodeRlp(leaves.length === 0 ? EMPTY : nodeOf(leaves, 0)));
}

/** The node of leaves whose paths agree in the first `depth` half bytes. */
function nodeOf(leaves: readonly Leaf[], depth: number): Encodable[] {
  const { path, value } = leaves[0]!;
  if (leaves.length === 1) return [packed(path.slice(depth), 2), value];
  let shared = depth;
  while (leaves.every((leaf) => leaf.path[shared] === path[shared])) shared++;
  if (shared > depth) return [packed(path.slice(depth, shared), 0), reference(nodeOf(leaves, shared))];
  const children = Array.from({ length: 16 }, (_, half) =>
    leaves.filter((leaf) => leaf.path[depth] === half),
  );
  return [
    ...children.map((child) => (child.length > 0 ? reference(nodeOf(child, depth + 1)) : EMPTY)),
    EMPTY,
  ];
}

/** A node in its parent: its hash, unless it is shorter than that. */
function reference(node: Encodable[]): Encodable {
  const encoded = encodeRlp(node);
  return encoded.length < HASH_BYTES ? node : keccak256(encoded, 'bytes');
}

function halves(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);
}

/** Half bytes as bytes: the first one tells a leaf, and whether their number is odd. */
function packed(path: readonly number[], kind: 0 | 2): Uint8Array {
  const all = path.length % 2 === 0 ? [kind, 0, ...path] : [kind + 1, ...path];
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i]! * 16 + all[2 * i + 1]!);
}
