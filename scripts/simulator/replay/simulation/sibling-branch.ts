/** Creates siblings of blocks: the same block without its last transaction. */
import { createHash } from 'node:crypto';
import type { ChainBlock } from '../blocks/block.ts';
import type { RpcBlock } from '../rpc-json.ts';

/** The sibling under another hash, child of `parentHash` (null: the same parent). The other header fields stay. */
export function siblingBlock(original: ChainBlock, parentHash: string | null): ChainBlock {
  const hash = siblingHash(original.hash);
  const block: RpcBlock = JSON.parse(original.block.toString());
  const dropped = block.transactions.at(-1)?.hash;
  const oldHash = block.hash;
  const rehash = (text: string) => text.replaceAll(`"blockHash":"${oldHash}"`, `"blockHash":"${hash}"`);
  const rewrite = (text: string | Buffer | null | undefined, keep: (list: ListItem[]) => ListItem[]) =>
    text === null || text === undefined ? null : rehash(JSON.stringify(keep(JSON.parse(text.toString()))));
  return {
    number: original.number,
    hash,
    block: rehash(
      JSON.stringify({
        ...block,
        hash,
        parentHash: parentHash ?? block.parentHash,
        transactions: block.transactions.slice(0, -1),
      }),
    ),
    receipts: rewrite(original.receipts, (receipts) => receipts.slice(0, -1)),
    trace: rewrite(original.trace, (traces) => traces.slice(0, -1)),
    flatTrace: rewrite(original.flatTrace, (traces) =>
      traces.filter((trace) => trace.transactionHash !== dropped),
    ),
  };
}

interface ListItem {
  transactionHash?: string;
}

/** A linked run of siblings, one of each block; the first is a child of `parentHash`. */
export function siblingBranch(originals: readonly ChainBlock[], parentHash: string | null): ChainBlock[] {
  let parent = parentHash;
  return originals.map((original) => {
    const sibling = siblingBlock(original, parent);
    parent = sibling.hash;
    return sibling;
  });
}

function siblingHash(hash: string): string {
  return `0x${createHash('sha256').update(`fork${hash}`).digest('hex')}`;
}
