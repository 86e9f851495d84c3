/** Fetches and decodes a range of blocks, for the backfill workers. */
import { BatchBuilder } from '../../decode/batch.ts';
import {
  type BlockParts,
  type DecodeRules,
  decodeBlock,
  decodeRules,
  needsTraces,
  releaseBlock,
} from '../../decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../decode/decoded-fields.ts';
import { hashOfBlock, type JsonObject, readObject } from '../../decode/read-json.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { type BlockBatch, packedHash } from '../../model/block-batch.ts';
import type { IndexRules } from '../../model/index-rules.ts';
import type { Capabilities } from '../../model/index-status.ts';
import type { RpcClient, RpcReply } from '../../node/client.ts';
import {
  blockCall,
  headerCall,
  receiptsCall,
  type TraceMethod,
  traceCall,
  traceTransactionCall,
} from '../../node/methods.ts';
import { isOverLimit } from '../../node/send-in-batches.ts';
import { requireTransactions } from '../require-transactions.ts';
import { type HeaderProof, RootCheck } from '../root-check.ts';
import { fetchPerTransaction, receiptsOf, requireResult } from './load-receipts.ts';

/** `made`: the rules of the index. */
export function deriveLoadRules(
  { traces, blockReceipts }: Capabilities,
  made: IndexRules,
  checkRoots = false,
): LoadRules {
  return { traces, blockReceipts, checkRoots, ...decodeRules(made) };
}

/** The rules that depend on the node and the chain. */
export interface LoadRules extends DecodeRules {
  traces: Capabilities['traces'];
  blockReceipts: boolean;
  /** Verify transactions and receipts against the roots in the header. Needs unprojected answers. */
  checkRoots?: boolean;
  /** What is known of the chain's headers where a loader starts. */
  headerProof?: HeaderProof;
}

/**
 * Loads blocks `from..to`, inclusive. Guarantees that all parts of a block have the same hash and that each block is
 * the child of its predecessor. Throws UpstreamError `inconsistent` when a part is missing, belongs to another block
 * or, with `checkRoots`, contradicts the header; otherwise throws like the client.
 */
export async function loadBlocks(
  client: RpcClient,
  rules: LoadRules,
  from: number,
  to: number,
  signal?: AbortSignal,
  roots: RootCheck = new RootCheck(),
): Promise<BlockBatch> {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const blocks = await loadBlocksAndReceipts(client, rules, numbers, signal);
  await requireTransactions(client, blocks, signal);
  if (rules.checkRoots) await roots.require(blocks);
  const traces = await loadTraces(client, rules, blocks, signal);
  const out = new BatchBuilder();
  for (const { number, block, receipts } of blocks) {
    const parts: BlockParts = { block, receipts, traces: traces.get(number) ?? null };
    decodeBlock(out, parts, rules);
    releaseBlock(parts);
  }
  const batch = out.finish(rules.traces !== null);
  checkContinuity(batch, numbers);
  return batch;
}

interface LoadedBlock {
  number: number;
  block: JsonObject;
  receipts: unknown;
}

function requireBlock(reply: RpcReply, number: number): JsonObject {
  return readObject(requireResult(reply, 'header', number), 'block');
}

async function loadBlocksAndReceipts(
  client: RpcClient,
  rules: LoadRules,
  numbers: readonly number[],
  signal?: AbortSignal,
): Promise<LoadedBlock[]> {
  // Two batches: blocks are parsed while receipts arrive, and a single answer could be too large.
  const asked = [
    client.batch(numbers.map(blockCall), signal, rules.checkRoots ? undefined : BLOCK_FIELDS),
    client.batch(
      rules.blockReceipts ? numbers.map(receiptsCall) : [],
      signal,
      rules.checkRoots ? undefined : RECEIPTS_FIELDS,
    ),
  ] as const;
  await Promise.allSettled(asked); // a failure must not leave the other request running
  const [blockReplies, receiptReplies] = await Promise.all(asked);
  const blocks: LoadedBlock[] = [];
  for (const [i, number] of numbers.entries()) {
    const block = requireBlock(blockReplies[i]!, number);
    const receipts = await receiptsOf(client, { number, block }, receiptReplies[i], signal);
    blocks.push({ number, block, receipts });
  }
  return blocks;
}

/** Traces of the blocks that can contain internal transfers, by block number; empty when the node offers none. */
async function loadTraces(
  client: RpcClient,
  rules: LoadRules,
  blocks: readonly LoadedBlock[],
  signal?: AbortSignal,
): Promise<Map<number, NonNullable<BlockParts['traces']>>> {
  const traces = new Map<number, NonNullable<BlockParts['traces']>>();
  const method = rules.traces;
  if (method === null) return traces;
  const wanted = blocks.filter(({ block, receipts }) => needsTraces(block, receipts, rules));
  const form = method === 'trace_block' ? 'flat' : 'tree';
  const unverified: LoadedBlock[] = [];
  const replies = await client.tracing.batch(
    wanted.map(({ number, block }) => traceCall(number, hashOfBlock(block), method, client.timeoutMs)),
    signal,
    TRACE_FIELDS[form],
  );
  for (const [i, loaded] of wanted.entries()) {
    const { number, block } = loaded;
    const reply = replies[i]!;
    const tooLarge = isOverLimit(reply);
    const value = tooLarge
      ? await fetchTracesPerTransaction(client.tracing, method, block, number, signal)
      : requireResult(reply, 'traces', number);
    traces.set(number, { form, value });
    if (form === 'tree' && (tooLarge || method === 'debug_traceBlockByNumber')) unverified.push(loaded);
  }
  await requireUnchanged(client.tracing, unverified, signal);
  return traces;
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
  const replies = await client.batch(
    blocks.map(({ number }) => headerCall(number)),
    signal,
  );
  for (const [i, { block, number }] of blocks.entries()) {
    if (hashOfBlock(requireBlock(replies[i]!, number)) !== hashOfBlock(block))
      throw new UpstreamError('inconsistent', `the node's block ${number} changed while it was traced`);
  }
}

/**
 * Fetches the traces of a block too large for one answer: one request per transaction, returned in the form of the
 * block method.
 */
async function fetchTracesPerTransaction(
  client: RpcClient,
  method: TraceMethod,
  block: JsonObject,
  number: number,
  signal?: AbortSignal,
): Promise<unknown[]> {
  const results = await fetchPerTransaction(
    client,
    block,
    number,
    'trace',
    (hash) => traceTransactionCall(hash, method, client.timeoutMs),
    signal,
  );
  return method === 'trace_block' ? results.flat() : results.map((result) => ({ result }));
}

/** Throws for a block with an unexpected number, and for a block that is not the child of its predecessor. */
function checkContinuity(batch: BlockBatch, numbers: readonly number[]): void {
  for (const [i, number] of numbers.entries()) {
    if (batch.number[i] !== number) {
      throw new UpstreamError('inconsistent', `the node sent block ${batch.number[i]} instead of ${number}`);
    }
    const linked =
      i === 0 || Buffer.compare(packedHash(batch.parent, i), packedHash(batch.hash, i - 1)) === 0;
    if (!linked)
      throw new UpstreamError(
        'inconsistent',
        `the node's block ${number} is not a child of its block ${number - 1}`,
      );
  }
}
