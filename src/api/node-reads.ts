/** What endpoints ask the node: a few facts that the index does not hold. */
import { RequestError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import type { IndexedBlockRow } from '../query/blocks.ts';
import type { Head } from '../query/snapshot.ts';

/** Each rejects with RequestError 503 `node_unavailable` when the node does not answer in time. */
export interface NodeReads {
  /** The block that contains a transaction, `pending` before it is in one, null when the node does not know it. */
  blockOfTransaction(hash: Hex): Promise<BlockRef | 'pending' | null>;
  /** The block with a hash, null when the node does not know it. */
  blockByHash(hash: Hex): Promise<BlockRef | null>;
  /** The native balance of an address after a block, in wei; null when the node does not tell in time. */
  balanceAt(address: string, block: number): Promise<bigint | null>;
}

/** Sent to read threads. */
export interface NodeAnswer {
  /** The block of a transaction. */
  transactionBlock?: BlockRef | 'pending' | null;
  /** The block with a hash. */
  block?: BlockRef | null;
  /** Wei. */
  balance?: bigint | null;
}

/**
 * The indexed block that the node named. `what` was looked for. Throws RequestError 404 where there is none, 503
 * `not_ready` where the index has yet to reach it.
 */
export function requireIndexed(
  block: NodeAnswer['transactionBlock'],
  what: string,
  head: Head,
  readBlock: (number: number) => IndexedBlockRow | undefined,
): IndexedBlockRow {
  if (block === undefined || block === null) {
    throw new RequestError(404, 'not_found', `the node does not know ${what}`);
  }
  if (block === 'pending') throw new RequestError(503, 'not_ready', `${what} is not in a block yet`);
  const indexed = requireReached(block.number, head, readBlock);
  if (indexed.hash === block.hash) return indexed;
  throw new RequestError(
    503,
    'not_ready',
    `the node names ${block.hash} as block ${block.number}, the index ${indexed.hash}: one of them follows a reorg`,
  );
}

/** The indexed block of a height; throws as `requireIndexed`. */
export function requireReached(
  number: number,
  head: Head,
  readBlock: (number: number) => IndexedBlockRow | undefined,
): IndexedBlockRow {
  const block = readBlock(number);
  if (block !== undefined) return block;
  if (number > head.number) {
    throw new RequestError(
      503,
      'not_ready',
      `block ${number} is not indexed yet; the last indexed block is ${head.number}`,
    );
  }
  throw new RequestError(
    404,
    'not_found',
    `block ${number} is before the first indexed block ${head.startBlock}`,
  );
}
