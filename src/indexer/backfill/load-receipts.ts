/** The receipts of a block, by block or transaction by transaction. */

import { readTransactions, transactionHash } from '../../decode/block.ts';
import { hashOfBlock, isList, isNone, type JsonObject, readItems } from '../../decode/read-json.ts';
import { lostReceipt } from '../../decode/receipts.ts';
import type { Tolerance } from '../../decode/tolerance.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { anotherNode } from '../../lib/setting-name.ts';
import { isObject } from '../../lib/text.ts';
import { unwrapList } from '../../lib/unwrap-list.ts';
import type { RpcClient, RpcReply } from '../../node/client.ts';
import { receiptCall } from '../../node/methods.ts';
import { isBusy, isTooLarge } from '../../node/node-errors.ts';
import { isOverLimit } from '../../node/send-in-batches.ts';
import { hasNoReceipts, MissingPart, MissingReceipts } from '../require-transactions.ts';

/**
 * The receipts of a block from the node's answer about all of them; `undefined` for a node that offers no such method.
 * Asks one by one where the answer is too large, fails for this block, is short, as on Bor and Celo, is no list, or is
 * null although the node has the first receipt. Throws when a receipt is missing, MissingReceipts where that may stay;
 * with `mayLose`, a lost receipt takes its place.
 */
export async function receiptsOf(
  client: RpcClient,
  { number, block }: { number: number; block: JsonObject },
  reply: RpcReply | undefined,
  signal?: AbortSignal,
  mayLose = false,
): Promise<unknown> {
  const oneByOne = () => fetchReceipts(client, block, number, signal, mayLose);
  if (reply === undefined) return oneByOne();
  const count = readItems(block['transactions'], 'transactions').length;
  if ('error' in reply) {
    const { error } = reply;
    if (isOverLimit(reply)) return oneByOne();
    return afterFailure(ofBlock(error, number), count === 0 && !hasNoReceipts(block), oneByOne);
  }
  if (reply.result === null && count === 0) return [];
  if (reply.result === null && (mayLose || (await hasReceipt(client, block, signal)))) return oneByOne();
  if (reply.result === null) throw missingReceipts(block, number, new MissingPart('receipts', number), false);
  const receipts = unwrapList(requireResult(reply, 'receipts', number));
  const isWhole = isList(receipts) && readItems(receipts, 'receipts').length >= count;
  return isWhole ? receipts : oneByOne();
}

async function hasReceipt(client: RpcClient, block: JsonObject, signal?: AbortSignal): Promise<boolean> {
  const [first] = readTransactions(block);
  if (first === undefined) return false;
  const [reply] = await client.batch([receiptCall(transactionHash(first))], signal);
  return reply !== undefined && 'result' in reply && reply.result !== null;
}

/** The receipts one by one. If that fails as well, the first error says more. */
async function afterFailure(
  error: UpstreamError,
  mayHaveOthers: boolean,
  oneByOne: () => Promise<unknown[]>,
): Promise<unknown[]> {
  if (error.reason !== 'rpc' || isBusy(error) || mayHaveOthers) throw error;
  try {
    return await oneByOne();
  } catch (second) {
    if (!(second instanceof MissingReceipts) || second.missing.hasOthers) throw second;
    const { reason, message } = error;
    throw new MissingReceipts({ ...second.missing, reason, message });
  }
}

/** Whether a block's receipts may be lost: it is a log gap, or becomes one. */
export function mayLoseReceipts(
  { accepted = [], gaps = [] }: Tolerance,
  number: number,
  hash: string,
): boolean {
  const start = digestOf(hash, '');
  return (
    accepted.some((digest) => digest.startsWith(start)) ||
    gaps.some(({ first, last }) => first <= number && number <= last)
  );
}

function missingReceipts(
  block: JsonObject,
  number: number,
  { reason, message }: UpstreamError,
  hasOthers: boolean,
  words = message,
): MissingReceipts {
  const hash = hashOfBlock(block);
  return new MissingReceipts({
    block: number,
    hash,
    checks: ['receipt'],
    digest: digestOf(hash, words),
    message,
    reason: reason === 'rpc' ? reason : 'inconsistent',
    hasOthers,
  });
}

function digestOf(hash: string, words: string): string {
  return `${hash} receipts: ${words}`;
}

/** Throws when a result is missing. Near the tip null means "not yet", so callers retry. */
export function requireResult(reply: RpcReply, what: string, number: number): unknown {
  if ('error' in reply || reply.result === null) throw failureIn(reply, what, number);
  return reply.result;
}

function failureIn(reply: RpcReply, what: string, number: number): UpstreamError {
  return 'error' in reply ? ofBlock(reply.error, number) : new MissingPart(what, number);
}

/** An error about a part of a block, with its number and, unless it passes, the way out. */
function ofBlock(error: UpstreamError, number: number): UpstreamError {
  const { reason, message, code, data } = error;
  if (isTooLarge(error)) return new UpstreamError('too-large', `block ${number}: ${message}`, code);
  if (reason !== 'rpc' || isBusy(error)) return error;
  return new UpstreamError(reason, `block ${number}: ${message}; ${anotherNode()}`, code, {
    data,
    cause: error,
  });
}

/** The receipts of a block's transactions in their order, each asked for by its transaction and so of that one. */
export async function fetchReceipts(
  client: RpcClient,
  block: JsonObject,
  number: number,
  signal?: AbortSignal,
  mayLose = false,
): Promise<unknown[]> {
  const hashes = readTransactions(block).map(transactionHash);
  const replies = await client.batch(hashes.map(receiptCall), signal);
  const isLost = replies.map(isUnanswered);
  const first = isLost.indexOf(true);
  if (first >= 0 && !mayLose) {
    const lost = hashes.filter((_hash, i) => isLost[i]);
    const error = failureIn(replies[first]!, `receipt of ${hashes[first]}`, number);
    throw missingReceipts(block, number, error, lost.length < hashes.length, lost.join());
  }
  return replies.map((reply, i) => {
    const hash = hashes[i]!;
    if (isLost[i]) return lostReceipt(hash, hashOfBlock(block));
    const receipt = requireResult(reply, `receipt of ${hash}`, number);
    const isNamed = !isObject(receipt) || !isNone(receipt.transactionHash);
    return isNamed ? receipt : { ...receipt, transactionHash: hash };
  });
}

/** Whether the node says that it has no such receipt, or cannot give it. */
function isUnanswered(reply: RpcReply): boolean {
  return 'error' in reply ? reply.error.reason === 'rpc' && !isBusy(reply.error) : reply.result === null;
}
