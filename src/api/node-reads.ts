/** The few facts that endpoints ask the node for because the index lacks them. */
import { RequestError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import type { IndexedBlockRow } from '../query/blocks.ts';
import type { Head } from '../query/snapshot.ts';

/** Each method rejects with RequestError 503 `node_unavailable` when the node does not answer in time. */
export interface NodeReads {
  /** The block of a transaction, `pending` before it has one, null when the node does not know the transaction. */
  blockOfTransaction(hash: Hex): Promise<BlockRef | 'pending' | null>;
  /** The block with this hash, null when the node does not know it. */
  blockByHash(hash: Hex): Promise<BlockRef | null>;
  /** The native balance of an address after a block, in wei; null when the node does not answer in time. */
  balanceAt(address: string, block: number): Promise<bigint | null>;
  /** Who sent each transaction, in order; null when the node does not know or answer in time. */
  sendersOf(transactions: readonly TransactionInBlock[]): Promise<(Hex | null)[]>;
}

export interface TransactionInBlock {
  txHash: Hex;
  blockHash: Hex;
}

/** The answers of the node, as sent to read threads. */
export interface NodeAnswer {
  /** The block of a transaction. */
  transactionBlock?: BlockRef | 'pending' | null;
  /** The block with a hash. */
  block?: BlockRef | null;
  /** Wei. */
  balance?: bigint | null;
}

/**
 * The indexed block that the node named; `what` describes the wanted item. Throws RequestError 404 if the item does not
 * exist, 503 `not_ready` if the index has yet to reach the block.
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
    `block ${block.number} is ${block.hash} on the node but ${indexed.hash} in the index: a reorg is in progress`,
  );
}

/** The indexed block at a height. Throws like `requireIndexed`. */
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
