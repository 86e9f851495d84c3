/** Node methods shared by indexing and verifying: single calls with checked answers, and calls for batches. */
import { UpstreamError } from '../errors.ts';
import { toQuantity } from '../lib/hex.ts';
import { onOneLine } from '../lib/one-line.ts';
import type { Capabilities } from '../types.ts';
import { type BlockHeader, readBlockHeader } from './block-header.ts';
import type { RpcCall, RpcClient } from './client.ts';
import { readQuantity, readText } from './field-readers.ts';

/** Where internal native transfers come from. */
export type TraceMethod = NonNullable<Capabilities['traces']>;

type BlockTag = 'latest' | 'finalized';

/**
 * Names the tracer, since geth's default is the opcode logger and some versions of Monad refuse a call without options.
 * Names the time limit, since geth and its kin give each transaction 5 s by default; whole seconds are read by all.
 */
function callTracer(timeoutMs: number): unknown {
  return { tracer: 'callTracer', timeout: `${Math.ceil(timeoutMs / 1000)}s` };
}

export async function fetchChainId(client: RpcClient, signal?: AbortSignal): Promise<number> {
  return readQuantity(await client.call('eth_chainId', [], signal), 'eth_chainId', 'result');
}

/** Longest name of a node's software that is kept, in characters: it is in every answer of /status. */
const MAX_SOFTWARE = 200;

/** Name and version of the node's software on one line, such as `Monad/0.16.0` or `anvil/v1.7.1`. */
export async function fetchClientVersion(client: RpcClient, signal?: AbortSignal): Promise<string> {
  const method = 'web3_clientVersion';
  const name = readText(await client.call(method, [], signal), method, 'result');
  return onOneLine(name.slice(0, MAX_SOFTWARE));
}

export async function fetchBlockNumber(client: RpcClient, signal?: AbortSignal): Promise<number> {
  return readQuantity(await client.call('eth_blockNumber', [], signal), 'eth_blockNumber', 'result');
}

/**
 * Header of a block by number or tag; null when the node does not have it (near the tip: not yet, or not now).
 * A block of another number than the one asked for is an UpstreamError `inconsistent`.
 */
export async function fetchHeader(
  client: RpcClient,
  tagOrNumber: BlockTag | number,
  signal?: AbortSignal,
): Promise<BlockHeader | null> {
  const { method, params } = headerCall(tagOrNumber);
  const block = await client.call(method, params, signal);
  if (block === null) return null;
  const read = readBlockHeader(block, method);
  if (typeof tagOrNumber === 'number' && read.number !== tagOrNumber) {
    throw new UpstreamError('inconsistent', `${method}: asked for block ${tagOrNumber}, got ${read.number}`);
  }
  return read;
}

/** A block with its whole transactions. */
export function blockCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), true] };
}

/** All receipts of a block. */
export function receiptsCall(number: number): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [toQuantity(number)] };
}

/**
 * All call frames of a block; `timeoutMs` is how long the caller waits for the answer. Call trees name no block: those
 * asked for by number may be of another block, which has taken that height meanwhile.
 */
export function traceCall(number: number, hash: string, method: TraceMethod, timeoutMs: number): RpcCall {
  switch (method) {
    case 'debug_traceBlockByHash':
      return { method, params: [hash, callTracer(timeoutMs)] };
    case 'debug_traceBlockByNumber':
      return { method, params: [toQuantity(number), callTracer(timeoutMs)] };
    case 'trace_block':
      return { method, params: [toQuantity(number)] };
  }
}

/** A block with only the hashes of its transactions. */
export function headerCall(tagOrNumber: BlockTag | number): RpcCall {
  const id = typeof tagOrNumber === 'number' ? toQuantity(tagOrNumber) : tagOrNumber;
  return { method: 'eth_getBlockByNumber', params: [id, false] };
}

export function receiptCall(txHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] };
}

/** Call frames of one transaction, in the form of the block method: for blocks too large for one answer. */
export function traceTransactionCall(txHash: string, blockMethod: TraceMethod, timeoutMs: number): RpcCall {
  if (blockMethod === 'trace_block') return { method: 'trace_transaction', params: [txHash] };
  return { method: 'debug_traceTransaction', params: [txHash, callTracer(timeoutMs)] };
}
