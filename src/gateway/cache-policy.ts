/**
 * Decides which answers can never change: those about blocks at or below the finalized one. The block number is in the
 * parameters or, for a query by hash, in the answer. A hash alone guarantees nothing: a reorg changes a transaction's
 * receipt, and whether a block is still known.
 *
 * Computed answers (traces, estimates, simulations) are not cached, because they may be incomplete under load.
 */
import { toQuantity } from '../lib/hex.ts';
import { isObject } from '../lib/text.ts';
import type { Call } from './call.ts';
import { isResult } from './response-tail.ts';

/** The block that an answer depends on: its number, its hash, or the hash of one of its transactions. */
export type BlockKey = number | string;

/** Finds the block among the parameters; null when the answer may change or must not be cached. */
export type BlockKeyReader = (params: readonly unknown[]) => BlockKey | null;

const READERS: Readonly<Record<string, BlockKeyReader>> = {
  eth_getBlockByNumber: ([block]) => numberIn(block),
  eth_getBlockTransactionCountByNumber: ([block]) => numberIn(block),
  eth_getTransactionByBlockNumberAndIndex: ([block]) => numberIn(block),
  eth_getBlockByHash: ([block]) => hashIn(block),
  eth_getTransactionByHash: ([transaction]) => hashIn(transaction),
  eth_getTransactionReceipt: ([transaction]) => hashIn(transaction),
  eth_getTransactionByBlockHashAndIndex: ([block]) => hashIn(block),
  eth_getBlockReceipts: ([block]) => blockIn(block),
  eth_getLogs: ([filter]) => ofLogs(filter),
  eth_call: ([, block]) => numberIn(block),
  eth_getBalance: ([, block]) => numberIn(block),
  eth_getCode: ([, block]) => numberIn(block),
  eth_getTransactionCount: ([, block]) => numberIn(block),
  eth_getStorageAt: ([, , block]) => numberIn(block),
};

/** The reader for a method, or null when its answers must not be cached. */
export function blockKeyReader(method: string): BlockKeyReader | null {
  return Object.hasOwn(READERS, method) ? READERS[method]! : null;
}

/** Recognises a read of the latest state, the usual case, without parsing its parameters. */
const OF_THE_HEAD = /"(?:latest|pending)"\s*\]$/;

/** The block that the answer to a call will depend on; null when the answer may change or must not be cached. */
export function blockKeyOf(call: Call, reader: BlockKeyReader): BlockKey | null {
  if (OF_THE_HEAD.test(call.params)) return null;
  const { args } = call;
  return Array.isArray(args) ? reader(args) : null;
}

/**
 * The number of the block that an answer depends on: the answer is final once this block is. Null when the answer is an
 * error or null, or not about the requested block (near its tip Monad may answer with another block).
 */
export function blockNumberOf({ method }: Call, block: BlockKey, tail: Buffer): number | null {
  if (!isResult(tail) || isNull(tail)) return null;
  if (typeof block === 'number') {
    const right = method !== 'eth_getBlockByNumber' || tail.includes(`"number":"${toQuantity(block)}"`);
    return right ? block : null;
  }
  if (!tail.includes(block)) return null;
  return method === 'eth_getBlockByHash' ? numberOfBlock(tail) : numberAt(tail, '"blockNumber":"');
}

/**
 * The block number in a result that is a block. Null unless the field occurs exactly once, because it must be the
 * block's own.
 */
function numberOfBlock(tail: Buffer): number | null {
  const field = '"number":"';
  return tail.indexOf(field) === tail.lastIndexOf(field) ? numberAt(tail, field) : null;
}

function numberAt(tail: Buffer, field: string): number | null {
  const at = tail.indexOf(field);
  if (at < 0) return null;
  const start = at + field.length;
  return numberIn(tail.toString('latin1', start, tail.indexOf('"', start)));
}

function isNull(tail: Buffer): boolean {
  return /^"result"\s*:\s*null/.test(tail.toString('latin1', 0, 32));
}

function ofLogs(filter: unknown): BlockKey | null {
  if (!isObject(filter)) return null;
  const { blockHash, fromBlock, toBlock } = filter;
  if (blockHash !== undefined) return hashIn(blockHash);
  const from = numberIn(fromBlock);
  const to = numberIn(toBlock);
  return from === null || to === null ? null : Math.max(from, to);
}

function blockIn(value: unknown): BlockKey | null {
  if (isObject(value)) {
    const { blockHash, blockNumber } = value;
    return blockHash === undefined ? numberIn(blockNumber) : hashIn(blockHash);
  }
  return hashIn(value) ?? numberIn(value);
}

/** Accepts only a canonical quantity, because nodes disagree about other forms. */
function numberIn(value: unknown): number | null {
  return typeof value === 'string' && /^0x(0|[1-9a-f][0-9a-f]{0,12})$/.test(value) ? Number(value) : null;
}

function hashIn(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : null;
}
