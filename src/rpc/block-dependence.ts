/**
 * Which answers can never change: those about blocks at or below the finalized one. The block is named by a number in
 * the parameters or, for a query by hash, by a number in the answer. A hash alone is no guarantee: the receipt of a
 * transaction, or whether its block is still known, changes with a reorg.
 *
 * Answers that a node computes (traces, estimates, simulations) are not cached: they may fail in part under load.
 */
import { toQuantity } from '../lib/hex.ts';
import { isObject } from '../lib/is-object.ts';
import type { Call } from './call.ts';
import { isResult } from './payload.ts';

/** The block an answer depends on: its number, or its hash or that of one of its transactions. */
export type Dependence = number | string;

/** Finds the block among the parameters; null when the answer may change or must not be cached. */
export type DependenceReader = (params: readonly unknown[]) => Dependence | null;

const READERS: Readonly<Record<string, DependenceReader>> = {
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
export function dependenceReader(method: string): DependenceReader | null {
  return Object.hasOwn(READERS, method) ? READERS[method]! : null;
}

/** Recognises parameters that ask for the latest state, as most reads do, without parsing them. */
const OF_THE_HEAD = /"(?:latest|pending)"\s*\]$/;

/** The block on which the answer to a call will depend, or null when it may change or must not be cached. */
export function dependenceOf(call: Call, reader: DependenceReader): Dependence | null {
  if (OF_THE_HEAD.test(call.params)) return null;
  const { args } = call;
  return Array.isArray(args) ? reader(args) : null;
}

/**
 * The number of the block on which an answer depends: the answer is final once this block is. Null when the answer is an
 * error or null, or not about the requested block (near its tip Monad may answer with another one).
 */
export function dependentBlock({ method }: Call, block: Dependence, payload: Buffer): number | null {
  if (!isResult(payload) || isNull(payload)) return null;
  if (typeof block === 'number') {
    const right = method !== 'eth_getBlockByNumber' || payload.includes(`"number":"${toQuantity(block)}"`);
    return right ? block : null;
  }
  if (!payload.includes(block)) return null;
  return method === 'eth_getBlockByHash' ? numberOfBlock(payload) : numberAt(payload, '"blockNumber":"');
}

/** The number of a block that is the result. Null unless the field occurs exactly once, since it must be the block's own. */
function numberOfBlock(payload: Buffer): number | null {
  const field = '"number":"';
  return payload.indexOf(field) === payload.lastIndexOf(field) ? numberAt(payload, field) : null;
}

function numberAt(payload: Buffer, field: string): number | null {
  const at = payload.indexOf(field);
  if (at < 0) return null;
  const start = at + field.length;
  return numberIn(payload.toString('latin1', start, payload.indexOf('"', start)));
}

function isNull(payload: Buffer): boolean {
  return /^"result"\s*:\s*null/.test(payload.toString('latin1', 0, 32));
}

function ofLogs(filter: unknown): Dependence | null {
  if (!isObject(filter)) return null;
  const { blockHash, fromBlock, toBlock } = filter;
  if (blockHash !== undefined) return hashIn(blockHash);
  const from = numberIn(fromBlock);
  const to = numberIn(toBlock);
  return from === null || to === null ? null : Math.max(from, to);
}

function blockIn(value: unknown): Dependence | null {
  if (isObject(value)) {
    const { blockHash, blockNumber } = value;
    return blockHash === undefined ? numberIn(blockNumber) : hashIn(blockHash);
  }
  return hashIn(value) ?? numberIn(value);
}

/** Accepts only a quantity as nodes write it; how a node reads anything else is unknown. */
function numberIn(value: unknown): number | null {
  return typeof value === 'string' && /^0x(0|[1-9a-f][0-9a-f]{0,12})$/.test(value) ? Number(value) : null;
}

function hashIn(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : null;
}
