/** Reads a transaction from the node: itself, its receipt, its block's time, and how it failed. */
import {
  KEPT,
  type NodeData,
  type NodeLog,
  type NodeLogs,
  type NodeReplay,
  type NodeTransaction,
} from '../api/node-transaction.ts';
import { createdContract } from '../decode/receipts.ts';
import { UpstreamError } from '../lib/errors.ts';
import { type Hex, spelledBigInt, spelledNumber, toQuantity } from '../lib/hex.ts';
import { isObject } from '../lib/text.ts';
import type { BlockRef } from '../model/block.ts';
import type { RpcClient, RpcReply } from '../node/client.ts';
import { readBlock, receiptCall } from '../node/methods.ts';
import { isExecutionFailure, isMissingData } from '../node/node-errors.ts';
import { readHash, readQuantity } from '../node/reply.ts';

const METHOD = 'eth_getTransactionByHash';

type Fields = Readonly<Record<string, unknown>>;

/** Null when the node does not know it. Rejects with an UpstreamError, or with the signal's reason. */
export async function readNodeTransaction(
  client: Pick<RpcClient, 'call' | 'batch'>,
  hash: Hex,
  signal: AbortSignal,
): Promise<NodeTransaction | null> {
  const [sent, received] = await client.batch(
    [{ method: METHOD, params: [hash] }, receiptCall(hash)],
    signal,
  );
  if (sent === undefined || 'error' in sent) throw sent?.error ?? new UpstreamError('malformed', METHOD);
  if (sent.result === null) return null;
  const transaction = readBlock(sent.result, METHOD);
  const block = blockOf(transaction);
  const found = resultOf(received);
  const receipt = block === null || !isObject(found) ? null : found;
  const facts = factsOf(transaction, receipt, block);
  if (block === null) return facts;
  const [timestamp, replay] = await Promise.all([
    timeOf(client, block, signal),
    facts.status === 'failed' ? replayed(client, transaction, block, signal) : null,
  ]);
  return { ...facts, timestamp, replay };
}

/** What the receipt lacks may be left out of an answer. */
function resultOf(reply: RpcReply | undefined): unknown {
  return reply !== undefined && 'result' in reply ? reply.result : null;
}

/** Null while it is pending. */
function blockOf({ blockNumber, blockHash }: Fields): BlockRef | null {
  if (blockNumber === null || blockNumber === undefined || blockHash === null) return null;
  return {
    number: readQuantity(blockNumber, METHOD, 'blockNumber'),
    hash: readHash(blockHash, METHOD, 'blockHash'),
  };
}

function factsOf(transaction: Fields, receipt: Fields | null, block: BlockRef | null): NodeTransaction {
  const { from, to, nonce, type, gas, gasPrice } = transaction;
  return {
    status: block === null ? 'pending' : statusOf(receipt),
    block,
    timestamp: null,
    from: addressOf(from),
    to: addressOf(to),
    createdContract: createdBy(to, receipt),
    value: amountOf(transaction.value),
    nonce: numberOf(nonce),
    type: numberOf(type),
    gasLimit: amountOf(gas),
    gasUsed: amountOf(receipt?.gasUsed),
    gasPrice: amountOf(receipt?.effectiveGasPrice) ?? amountOf(gasPrice),
    maxFeePerGas: amountOf(transaction.maxFeePerGas),
    maxPriorityFeePerGas: amountOf(transaction.maxPriorityFeePerGas),
    l1Fee: amountOf(receipt?.l1Fee),
    input: dataOf(transaction.input ?? transaction.data, KEPT.inputBytes),
    logs: receipt === null ? null : logsOf(receipt.logs),
    replay: null,
  };
}

/** Receipts of before the field existed have a root in place of a status. */
function statusOf(receipt: Fields | null): NodeTransaction['status'] {
  const status = receipt?.status;
  const code = typeof status === 'boolean' ? Number(status) : numberOf(status);
  if (code === 1) return 'succeeded';
  return code === 0 ? 'failed' : 'unknown';
}

function createdBy(to: unknown, receipt: Fields | null): Hex | null {
  if (receipt === null || statusOf(receipt) === 'failed') return null;
  try {
    return addressOf(createdContract(to, receipt));
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}

function logsOf(value: unknown): NodeLogs {
  const logs = Array.isArray(value) ? value.filter(isObject) : [];
  return { first: logs.slice(0, KEPT.logs).flatMap(logOf), count: logs.length };
}

function logOf({ address, topics, data, logIndex }: Fields): NodeLog[] {
  const emitter = addressOf(address);
  if (emitter === null) return [];
  return [
    {
      logIndex: numberOf(logIndex),
      address: emitter,
      topics: Array.isArray(topics) ? topics.slice(0, 4).flatMap(topicOf) : [],
      data: dataOf(data, KEPT.logBytes),
    },
  ];
}

function topicOf(value: unknown): Hex[] {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? [lower(value)] : [];
}

function addressOf(value: unknown): Hex | null {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? lower(value) : null;
}

function lower(hex: string): Hex {
  return `0x${hex.slice(2).toLowerCase()}`;
}

/** An integer as decimal text; null where the node leaves it out. */
function amountOf(value: unknown): string | null {
  return spelledBigInt(value)?.toString() ?? null;
}

function numberOf(value: unknown): number | null {
  const number = spelledNumber(value);
  return Number.isNaN(number) ? null : number;
}

/** Bytes, of which at most `max` are kept. */
function dataOf(value: unknown, max: number): NodeData {
  if (typeof value !== 'string' || value.length % 2 !== 0) return { hex: '0x', bytes: 0 };
  const hex = value.slice(0, 2 + 2 * max);
  return /^0x[0-9a-f]*$/i.test(hex)
    ? { hex: lower(hex), bytes: (value.length - 2) / 2 }
    : { hex: '0x', bytes: 0 };
}

/** The Unix time of a block; null where the node does not give it. */
async function timeOf(
  client: Pick<RpcClient, 'call'>,
  { hash }: BlockRef,
  signal: AbortSignal,
): Promise<number | null> {
  const header = await client
    .call('eth_getBlockByHash', [hash, false], signal)
    .catch((error: unknown) => ignored(error, signal));
  return isObject(header) ? numberOf(header.timestamp) : null;
}

/** The rest of the answer does not depend on it. */
function ignored(error: unknown, signal: AbortSignal): null {
  if (error instanceof UpstreamError || signal.aborted) return null;
  throw error;
}

/** Runs a failed transaction again on the state before its block. */
async function replayed(
  client: Pick<RpcClient, 'batch'>,
  transaction: Fields,
  block: BlockRef,
  signal: AbortSignal,
): Promise<NodeReplay> {
  const unknown = (problem: string): NodeReplay => ({ data: null, words: null, problem });
  const { from, to, gas, value, accessList } = transaction;
  const input = transaction.input ?? transaction.data;
  const members = Object.entries({ from, to, gas, value, data: input, accessList });
  const call = Object.fromEntries(members.filter(([, member]) => member !== null && member !== undefined));
  try {
    const params = [call, toQuantity(Math.max(0, block.number - 1))];
    // A batch of one: an error of the call is a reply, one of the connection rejects.
    const [reply] = await client.batch([{ method: 'eth_call', params }], signal);
    if (reply === undefined || 'result' in reply)
      return unknown(
        'run again on the state before its block it succeeds: an earlier transaction of its block matters',
      );
    return replayOf(reply.error);
  } catch (error) {
    ignored(error, signal);
    return unknown('the node did not run it again in time');
  }
}

/** How geth and anvil say that they pruned a state. */
const PRUNED_TEXT = /missing trie node|^BlockOutOfRangeError/i;

function replayOf(error: UpstreamError): NodeReplay {
  const words = error.message.replace(/^eth_call: /, '').replace(/ \(-?\d+\)$/, '');
  const data = returnedData(error.data);
  if (data !== null || isExecutionFailure(error)) return { data, words, problem: null };
  const problem =
    isMissingData(error) || PRUNED_TEXT.test(words)
      ? 'the node no longer has the state before its block'
      : `the node did not run it again: ${words}`;
  return { data: null, words: null, problem };
}

/** What a revert returned: as text, in some nodes behind a word, in others within an object. */
function returnedData(data: unknown): NodeData | null {
  if (isObject(data)) return returnedData(data.data ?? data.result ?? null);
  if (typeof data !== 'string') return null;
  const hex = /^(?:Reverted )?(0x(?:[0-9a-f]{2})*)$/i.exec(data.trim())?.[1];
  return hex === undefined ? null : dataOf(hex, KEPT.returnedBytes);
}
