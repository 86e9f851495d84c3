/** The node methods that indexing and verifying share: single answers read and checked, and the calls that go into batches. */
import { UpstreamError } from '../errors.ts';
import { toQuantity } from '../lib/hex.ts';
import type { Capabilities } from '../types.ts';
import { type BlockHeader, readBlockHeader } from './block-header.ts';
import type { RpcCall, RpcClient } from './client.ts';
import { readQuantity, readText } from './shape.ts';

/** Where internal native transfers come from. */
export type TraceMethod = NonNullable<Capabilities['traces']>;

/** Named, since Monad and geth refuse or mean something else without it (geth's default is the opcode logger). */
const CALL_TRACER = { tracer: 'callTracer' };

export async function chainId(client: RpcClient, signal?: AbortSignal): Promise<number> {
  return readQuantity(await client.call('eth_chainId', [], signal), 'eth_chainId', 'result');
}

/** Name and version of the node's software, such as `Monad/0.16.0` or `anvil/v1.7.1`. */
export async function clientVersion(client: RpcClient, signal?: AbortSignal): Promise<string> {
  return readText(await client.call('web3_clientVersion', [], signal), 'web3_clientVersion', 'result');
}

export async function blockNumber(client: RpcClient, signal?: AbortSignal): Promise<number> {
  return readQuantity(await client.call('eth_blockNumber', [], signal), 'eth_blockNumber', 'result');
}

/**
 * Header of a block by number or tag; null when the node does not have it (near the tip: not yet, or not now).
 * A block of another number than the one asked for is an UpstreamError `inconsistent`.
 */
export async function header(
  client: RpcClient,
  tagOrNumber: 'latest' | 'finalized' | number,
  signal?: AbortSignal,
): Promise<BlockHeader | null> {
  const method = 'eth_getBlockByNumber';
  const id = typeof tagOrNumber === 'number' ? toQuantity(tagOrNumber) : tagOrNumber;
  const block = await client.call(method, [id, false], signal);
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

/** All call frames of a block. Call trees name no block: asked for by number they may be of one that stands there by then. */
export function traceCall(number: number, hash: string, method: TraceMethod): RpcCall {
  switch (method) {
    case 'debug_traceBlockByHash':
      return { method, params: [hash, CALL_TRACER] };
    case 'debug_traceBlockByNumber':
      return { method, params: [toQuantity(number), CALL_TRACER] };
    case 'trace_block':
      return { method, params: [toQuantity(number)] };
  }
}

/** A block without its transactions. */
export function headerCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] };
}

export function receiptCall(txHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] };
}

/** Call frames of one transaction, in the form of the block method: for blocks too large for one answer. */
export function traceTransactionCall(txHash: string, blockMethod: TraceMethod): RpcCall {
  if (blockMethod === 'trace_block') return { method: 'trace_transaction', params: [txHash] };
  return { method: 'debug_traceTransaction', params: [txHash, CALL_TRACER] };
}
