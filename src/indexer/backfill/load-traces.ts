/** The traces of blocks, by block or, where the node's answer lacks some, transaction by transaction. */
import { arrangeTraces } from '../../decode/arrange-traces.ts';
import {
  type BlockParts,
  needsTraces,
  needsTracesOf,
  readTransactions,
  transactionHash,
} from '../../decode/block.ts';
import { TRACE_FIELDS } from '../../decode/decoded-fields.ts';
import { hashOfBlock, isNone, type JsonObject } from '../../decode/read-json.ts';
import { BlockReceipts } from '../../decode/receipts.ts';
import type { DecodeRules } from '../../decode/rules.ts';
import { isFrame, nameTheirBlock, rootFrame, tracedHash } from '../../decode/traces.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { isSameHex, spelledNumber } from '../../lib/hex.ts';
import { isObject } from '../../lib/text.ts';
import { unwrapList } from '../../lib/unwrap-list.ts';
import type { UnsettledGap } from '../../model/block-gap.ts';
import type { RpcClient, RpcReply } from '../../node/client.ts';
import { headerCall, type TraceMethod, traceCall, traceTransactionCall } from '../../node/methods.ts';
import { isReason, wordsOf } from '../../node/node-errors.ts';
import { isOverLimit } from '../../node/send-in-batches.ts';
import { batchTraces } from '../../node/trace-calls.ts';
import { askAgain, isMissing } from './ask-again.ts';
import { requireResult } from './load-receipts.ts';

/** A block with its receipts. */
export interface LoadedBlock {
  number: number;
  block: JsonObject;
  receipts: unknown;
}

interface TraceRules extends DecodeRules {
  traces: TraceMethod | null;
  isProbe?: boolean;
}

/** The node's answers about the traces of a range. */
export interface TraceReplies {
  /** Of the blocks that can contain internal transfers, by number. */
  replies: ReadonlyMap<number, RpcReply>;
  method: TraceMethod | null;
}

/**
 * Asks for the traces of the blocks that can contain internal transfers. Throws when the node gave none of several: it
 * is failing or busy, which says nothing about a block.
 */
export async function loadTraces(
  client: RpcClient,
  rules: TraceRules,
  blocks: readonly LoadedBlock[],
  signal?: AbortSignal,
): Promise<TraceReplies> {
  const method = rules.traces;
  if (method === null) return { replies: new Map(), method };
  const wanted = blocks.filter(({ block, receipts }) => needsTraces(block, receipts, rules));
  const replies = await askAgain(
    await askBlocks(client, method, wanted, signal),
    (positions) =>
      askBlocks(
        client,
        method,
        positions.map((i) => wanted[i]!),
        signal,
      ),
    isMissing,
    signal,
    rules.isProbe,
  );
  if (wanted.length > 1 && !replies.some(isTraced))
    for (const [i, { number }] of wanted.entries())
      if (!isOverLimit(replies[i]!)) requireResult(replies[i]!, 'traces', number);
  if (method !== 'debug_traceBlockByHash')
    await requireUnchanged(
      client,
      wanted.filter((_block, i) => isUnnamed(replies[i]!)),
      signal,
    );
  return { replies: new Map(wanted.map(({ number }, i) => [number, replies[i]!])), method };
}

function isTraced(reply: RpcReply): boolean {
  return 'result' in reply && reply.result !== null;
}

function isUnnamed(reply: RpcReply): boolean {
  return 'result' in reply && reply.result !== null && !nameTheirBlock(unwrapList(reply.result));
}

/**
 * One block that the node is too slow to trace, or breaks the connection for, is that block's failure: its header and
 * receipts have just arrived.
 */
async function askBlocks(
  client: RpcClient,
  method: TraceMethod,
  wanted: readonly LoadedBlock[],
  signal: AbortSignal | undefined,
): Promise<RpcReply[]> {
  try {
    return await batchTraces(
      client,
      wanted.map(({ number, block }) => traceCall(number, hashOfBlock(block), method, client.timeoutMs)),
      signal,
      TRACE_FIELDS[formOf(method)],
    );
  } catch (error) {
    const isAlone = wanted.length === 1 && error instanceof UpstreamError && !signal?.aborted;
    if (!isAlone || error.reason === 'queue-full') throw error;
    return [{ error }];
  }
}

/**
 * Throws unless the node still has these blocks. Call trees requested by number may belong to another block at that
 * height, where the same transactions had other effects.
 */
async function requireUnchanged(
  client: RpcClient,
  blocks: readonly LoadedBlock[],
  signal?: AbortSignal,
): Promise<void> {
  const ask = (positions: readonly number[]) =>
    client.tracing.batch(
      positions.map((i) => headerCall(blocks[i]!.number)),
      signal,
    );
  const replies = await askAgain(await ask([...blocks.keys()]), ask, isMissing, signal);
  for (const [i, { block, number }] of blocks.entries()) {
    const header = requireResult(replies[i]!, 'header', number);
    if (!isObject(header) || hashOfBlock(header) !== hashOfBlock(block))
      throw new UpstreamError('inconsistent', `the node's block ${number} changed while it was traced`);
  }
}

/** The traces in a complete answer about a block. */
export function tracesOf({ replies, method }: TraceReplies, number: number): BlockParts['traces'] {
  const reply = replies.get(number);
  if (method === null || reply === undefined || 'error' in reply || reply.result === null) return null;
  return { form: formOf(method), value: unwrapList(reply.result) };
}

function formOf(method: TraceMethod): 'tree' | 'flat' {
  return method === 'trace_block' ? 'flat' : 'tree';
}

/** What is missing of a block, and why. */
export interface Untraced extends UnsettledGap {
  /** The reason as it is recorded. */
  words: string;
}

/** The traces of a block whose answer lacks some, each of the missing transactions asked for alone. */
export async function traceOneByOne(
  client: RpcClient,
  rules: TraceRules,
  { replies, method }: TraceReplies,
  loaded: LoadedBlock,
  signal?: AbortSignal,
): Promise<{ traces: BlockParts['traces']; untraced: Untraced | null }> {
  if (method === null) return { traces: null, untraced: null };
  const { block, number } = loaded;
  const form = formOf(method);
  const transactions = readTransactions(block);
  const hashes = transactions.map(transactionHash);
  const receipts = new BlockReceipts(loaded.receipts, hashOfBlock(block), hashes);
  const reply = replies.get(number);
  const about = refusalOf(reply);
  const value = reply !== undefined && 'result' in reply ? unwrapList(reply.result) : [];
  const { perTransaction, errors } = arrangeTraces(form, value ?? [], hashes, hashOfBlock(block));
  const missing = [...perTransaction.keys()].filter(
    (i) => perTransaction[i] === null && needsTracesOf(block, transactions[i]!, receipts.of(i), rules),
  );
  const wanted = missing.map((i) => hashes[i]!);
  const alone = await askTransactions(client, method, wanted, signal);
  const reasons: TraceRefusal[] = [];
  for (const [at, i] of missing.entries()) {
    const found = traceIn(form, alone[at]!, hashes[i]!, hashOfBlock(block));
    if (found !== null) perTransaction[i] = found;
    else reasons.push(...refusalsOf(alone[at]!, errors[i] ?? null));
  }
  await requireUnchanged(client, [loaded], signal);
  const traces = { form, value, perTransaction };
  const unknown = missing.filter((i) => perTransaction[i] === null);
  if (unknown.length === 0) return { traces, untraced: null };
  const { message } = (about?.isReason ? about : reasons[0]) ?? NO_ANSWER;
  const isReasoned = [...reasons, ...(about === null ? [] : [about])].every((each) => each.isReason);
  const isIdle = unknown.every((i) => spelledNumber(receipts.of(i)['gasUsed']) === 0);
  const isPartial = perTransaction.some((found) => found !== null);
  return { traces, untraced: { message, words: wordsOf(message), isReasoned, isPartial, isIdle } };
}

/** Why there is no trace. */
interface TraceRefusal {
  message: string;
  /** Whether the node gave a reason that concerns this block or transaction. */
  isReason: boolean;
}

const NO_ANSWER: TraceRefusal = { message: 'the node has no traces, not yet or no longer', isReason: false };
const NO_FRAMES: TraceRefusal = { message: 'the node answers without call frames', isReason: true };

/** Null for a result, which may be incomplete. */
function refusalOf(reply: RpcReply | undefined): TraceRefusal | null {
  if (reply === undefined) return NO_ANSWER;
  if ('error' in reply) return { message: reply.error.message, isReason: isReason(reply.error) };
  return reply.result === null ? NO_ANSWER : null;
}

/** `listed`: the error in the answer about the block. */
function refusalsOf(reply: RpcReply, listed: string | null): TraceRefusal[] {
  const alone =
    refusalOf(reply) ?? (isObject('result' in reply ? reply.result : null) ? NO_FRAMES : NO_ANSWER);
  if (listed === null) return [alone];
  return [alone, { message: listed, isReason: isReason(new UpstreamError('rpc', listed)) }];
}

async function askTransactions(
  client: RpcClient,
  method: TraceMethod,
  hashes: readonly string[],
  signal: AbortSignal | undefined,
): Promise<RpcReply[]> {
  const calls = hashes.map((hash) => traceTransactionCall(hash, method, client.timeoutMs));
  try {
    return await batchTraces(client, calls, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal?.aborted) throw error;
    return hashes.map(() => ({ error }));
  }
}

/** The trace in an answer about one transaction, in the form of `arrangeTraces`; null if there is none. */
function traceIn(form: 'tree' | 'flat', reply: RpcReply, txHash: string, blockHash: string): unknown {
  if ('error' in reply || reply.result === null) return null;
  const { result } = reply;
  if (form === 'tree') return treeIn(result, txHash);
  if (!Array.isArray(result) || result.length === 0) return null;
  const isNamed = nameTheirBlock(result);
  const isOfBlock = result.every(
    (trace: unknown) => isObject(trace) && (!isNamed || isSameHex(trace.blockHash, blockHash)),
  );
  return isOfBlock ? result : null;
}

/** The frame itself, or as an item of a block's traces, perhaps in a list. */
function treeIn(result: unknown, txHash: string): unknown {
  const item: unknown = Array.isArray(result) && result.length === 1 ? result[0] : result;
  if (!isObject(item)) return null;
  const hash = tracedHash(item);
  return isNone(hash) || isSameHex(hash, txHash) ? frameOf(item) : null;
}

function frameOf(item: JsonObject): unknown {
  const frame = isFrame(item) ? item : rootFrame(item);
  return frame === null ? null : { result: frame };
}
