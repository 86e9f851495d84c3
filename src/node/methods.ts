/** The node methods that atlas-node uses: single calls with checked answers, and calls for batches. */
import { onOneLine, UpstreamError } from '../lib/errors.ts';
import { type Hex, toQuantity } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import { redactNodeText } from '../log/redact.ts';
import type { BlockRef } from '../model/block.ts';
import type { BlockId } from '../model/finality.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { RpcCall, RpcClient } from './client.ts';
import { isBusy, isUnknownMethod } from './node-errors.ts';
import { malformed, readHash, readQuantity } from './reply.ts';

/** The source of internal native transfers. */
export type TraceMethod = NonNullable<Capabilities['traces']>;

/**
 * Names the tracer because geth defaults to the opcode logger and some versions of Monad refuse a call without options.
 * Sets the timeout because geth and its forks default to 5 s per transaction. All nodes parse whole seconds.
 */
function callTracer(timeoutMs: number): unknown {
  return { tracer: 'callTracer', timeout: `${Math.ceil(timeoutMs / 1000)}s` };
}

/** Nodes from before EIP-695 have only the id of their network, which is that of the chain but for a few chains. */
export async function fetchChainId(client: RpcClient, signal?: AbortSignal): Promise<number> {
  try {
    return readQuantity(await client.call('eth_chainId', [], signal), 'eth_chainId', 'result');
  } catch (error) {
    if (!(error instanceof UpstreamError) || !isUnknownMethod(error)) throw error;
    const [reply] = await client.batch([{ method: 'net_version', params: [] }], signal);
    if (reply === undefined || 'error' in reply) throw error;
    return readQuantity(reply.result, 'net_version', 'result');
  }
}

/** Longest stored software name, in characters. Every answer of /status contains the name. */
const MAX_SOFTWARE = 200;

/** Name and version of the node's software on one line, such as `Monad/0.16.0` or `anvil/v1.7.1`; null if none. */
export async function fetchClientVersion(client: RpcClient, signal?: AbortSignal): Promise<string | null> {
  const name = await client.call('web3_clientVersion', [], signal);
  if (typeof name !== 'string') return null;
  return redactNodeText(onOneLine(name.slice(0, 4 * MAX_SOFTWARE))).slice(0, MAX_SOFTWARE) || null;
}

export async function fetchBlockNumber(client: RpcClient, signal?: AbortSignal): Promise<number> {
  return readQuantity(await client.call('eth_blockNumber', [], signal), 'eth_blockNumber', 'result');
}

/**
 * Header of a block by number or tag; null when the node does not have it, which near the tip may mean "not yet".
 * Throws UpstreamError `inconsistent` for a block with another number.
 */
export async function fetchHeader(
  client: RpcClient,
  tagOrNumber: BlockId,
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

/** Headers of blocks by number, in one batch if the node accepts it; null for each block that the node lacks. */
export async function fetchHeaders(
  client: Pick<RpcClient, 'batch'>,
  numbers: readonly number[],
  signal?: AbortSignal,
): Promise<(BlockHeader | null)[]> {
  const replies = await client.batch(numbers.map(headerCall), signal);
  return replies.map((reply, i) => {
    if ('error' in reply) {
      if (isMissing(reply.error)) return null;
      throw reply.error;
    }
    if (reply.result === null) return null;
    const header = readBlockHeader(reply.result, HEADER_METHOD);
    if (header.number === numbers[i]) return header;
    throw new UpstreamError(
      'inconsistent',
      `${HEADER_METHOD}: asked for block ${numbers[i]}, got ${header.number}`,
    );
  });
}

const HEADER_METHOD = 'eth_getBlockByNumber';

/** A node that pruned its history may refuse a block instead of answering null. */
function isMissing(error: UpstreamError): boolean {
  return error.reason === 'rpc' && !isBusy(error);
}

/** A block with full transactions. */
export function blockCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), true] };
}

/** All receipts of a block. */
export function receiptsCall(number: number): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [toQuantity(number)] };
}

/** The same by the block's hash: the answer is about that block, whatever it says. */
export function receiptsOfHashCall(hash: string): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [hash] };
}

/** All logs of a block. */
export function blockLogsCall(hash: string): RpcCall {
  return { method: 'eth_getLogs', params: [{ blockHash: hash }] };
}

/**
 * All call frames of a block. `timeoutMs`: how long the caller waits. Call trees do not name their block: after a
 * reorg, trees requested by number may belong to a different block.
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

/** A block with transaction hashes only. */
export function headerCall(tagOrNumber: BlockId): RpcCall {
  const id = typeof tagOrNumber === 'number' ? toQuantity(tagOrNumber) : tagOrNumber;
  return { method: 'eth_getBlockByNumber', params: [id, false] };
}

export function transactionCall(txHash: string): RpcCall {
  return { method: 'eth_getTransactionByHash', params: [txHash] };
}

export function receiptCall(txHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] };
}

/** Call frames of one transaction, in the form of the block method, for blocks too large for one answer. */
export function traceTransactionCall(txHash: string, blockMethod: TraceMethod, timeoutMs: number): RpcCall {
  if (blockMethod === 'trace_block') return { method: 'trace_transaction', params: [txHash] };
  return { method: 'debug_traceTransaction', params: [txHash, callTracer(timeoutMs)] };
}

/** Gas limit of a call: enough to return a megabyte of text, yet a bound on contracts that burn gas. */
const GAS = toQuantity(10_000_000);

/** The `eth_call` of a contract with encoded `data`, at a block (a quantity) or the newest one. */
export function contractCall(to: string, data: string, block: Hex | 'latest'): RpcCall {
  return { method: 'eth_call', params: [{ to, data, gas: GAS }, block] };
}

export interface BlockHeader extends BlockRef {
  parentHash: Hex;
}

/** Checks that a block or header is an object. `what` names it in errors. Throws UpstreamError `malformed`. */
export function readBlock(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw malformed(what, `result is ${previewValue(value)}, not a block`);
  return value;
}

/** Reads a block or its header; `what` names it in errors. Throws UpstreamError `malformed`. */
export function readBlockHeader(value: unknown, what: string): BlockHeader {
  const block = readBlock(value, what);
  return {
    number: readQuantity(block.number === '0x' ? '0x0' : block.number, what, 'number'),
    hash: readHash(block.hash, what, 'hash'),
    parentHash: readHash(block.parentHash, what, 'parentHash'),
  };
}
