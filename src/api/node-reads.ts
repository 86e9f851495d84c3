/** The few facts that endpoints ask the node for because the index lacks them. */
import * as z from 'zod';
import { RequestError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import { weiToCoin } from '../lib/units.ts';
import type { BlockRef } from '../model/block.ts';
import type { IndexedBlockRow } from '../query/blocks.ts';
import type { Head } from '../query/snapshot.ts';
import { coinField, weiField } from '../schemas/fields.ts';
import type { NodeTransaction } from './node-transaction.ts';

/** Each method rejects with RequestError 503 `node_unavailable` when the node does not answer in time. */
export interface NodeReads {
  /** The block of a transaction, `pending` before it has one, null when the node does not know the transaction. */
  blockOfTransaction(hash: Hex): Promise<BlockRef | 'pending' | null>;
  /** A transaction with its outcome, null when the node does not know it. */
  transaction(hash: Hex): Promise<NodeTransaction | null>;
  /** The block with this hash, null when the node does not know it. */
  blockByHash(hash: Hex): Promise<BlockRef | null>;
  /** The native balances of addresses after a block, by address as given. A balance may be missing. */
  balancesAt(addresses: readonly string[], block: number): Promise<NodeBalances>;
  /** Who sent each transaction, in order; null when the node does not know or answer in time. */
  sendersOf(transactions: readonly TransactionInBlock[]): Promise<(Hex | null)[]>;
}

export interface TransactionInBlock {
  txHash: Hex;
  blockHash: Hex;
}

/** A native balance in wei, or why the node did not give it. */
export type NodeBalance = { wei: bigint; reason: null } | { wei: null; reason: string };

export type NodeBalances = ReadonlyMap<string, NodeBalance>;

/** The answers of the node, as sent to read threads. */
export interface NodeAnswer {
  /** The block of a transaction. */
  transactionBlock?: BlockRef | 'pending' | null;
  transaction?: NodeTransaction | null;
  /** The block with a hash. */
  block?: BlockRef | null;
  balances?: NodeBalances;
}

/** The members of a record about a wallet's native balance. */
export const nativeBalanceFields = {
  nativeBalance: coinField()
    .nullable()
    .describe(
      'Whole coins at the last indexed block, from the node; null unless asked for, and for nativeBalanceReason',
    ),
  nativeBalanceWei: weiField().nullable(),
  nativeBalanceReason: z
    .string()
    .nullable()
    .describe('Why the node did not give the balance; null if it did'),
};

/** Those members; `balance` is undefined if the node was not asked. */
export function nativeBalanceOf(balance: NodeBalance | undefined): {
  [Name in keyof typeof nativeBalanceFields]: string | null;
} {
  const wei = balance?.wei ?? null;
  return {
    nativeBalance: wei === null ? null : weiToCoin(wei),
    nativeBalanceWei: wei === null ? null : wei.toString(),
    nativeBalanceReason: balance?.reason ?? null,
  };
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
