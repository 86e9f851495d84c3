/** Fetches and decodes a range of blocks, for the backfill workers. */
import { BatchBuilder } from '../../decode/batch.ts';
import { type BlockParts, decodeBlock, releaseBlock } from '../../decode/block.ts';
import { IncompleteBlockError } from '../../decode/block-checks.ts';
import { InMilliseconds } from '../../decode/block-time.ts';
import type { LogProof } from '../../decode/bloom.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS } from '../../decode/decoded-fields.ts';
import {
  hashOfBlock,
  isList,
  type JsonObject,
  readItems,
  readingBlock,
  readObject,
} from '../../decode/read-json.ts';
import { OddParts } from '../../decode/receipts.ts';
import { type DecodeRules, decodeRules } from '../../decode/rules.ts';
import type { BlockCheck } from '../../decode/tolerance.ts';
import { IncompleteTraces } from '../../decode/traces.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { spelledNumber } from '../../lib/hex.ts';
import { isObject } from '../../lib/text.ts';
import { type BlockBatch, packedHash } from '../../model/block-batch.ts';
import type { IndexRules } from '../../model/index-rules.ts';
import type { Capabilities } from '../../model/index-status.ts';
import type { RpcClient, RpcReply } from '../../node/client.ts';
import { blockCall, receiptsCall } from '../../node/methods.ts';
import { proveLogs } from '../log-proof.ts';
import { MissingPart, MissingReceipts, requireTransactions } from '../require-transactions.ts';
import { type HeaderProof, RootCheck } from '../root-check.ts';
import { askAgain, isMissing } from './ask-again.ts';
import { mayLoseReceipts, receiptsOf, requireResult } from './load-receipts.ts';
import { type LoadedBlock, loadTraces, traceOneByOne, tracesOf } from './load-traces.ts';
import { mendReceipts } from './mend-receipts.ts';
import { mendTransactions } from './mend-transactions.ts';
import { whyMissing } from './skipped-height.ts';
import { countsMilliseconds } from './time-unit.ts';

/** `made`: the rules of the index. */
export function deriveLoadRules(
  { traces, blockReceipts }: Capabilities,
  made: IndexRules,
  checkRoots = false,
): LoadRules {
  return {
    traces,
    blockReceipts,
    checkRoots,
    learned: { countsFailed: false, milliseconds: false, areReceiptsOdd: false },
    ...decodeRules(made),
  };
}

/** The rules that depend on the node and the chain. */
export interface LoadRules extends DecodeRules {
  traces: Capabilities['traces'];
  blockReceipts: boolean;
  /** Verify transactions and receipts against the roots in the header. Needs unprojected answers. */
  checkRoots?: boolean;
  /** Read whole answers, not only what decoding needs, and let blooms prove the logs. */
  inFull?: boolean;
  /** Ask only once: to find out whether the node has a block. */
  isProbe?: boolean;
  /** Complete receipts that leave something out. */
  mendsReceipts?: boolean;
  /**
   * `countsFailed`: blooms have proved that the chain numbers logs of failed transactions, which receipts leave out.
   * `milliseconds`: the whole chain counts time in milliseconds. `areReceiptsOdd`: those of the last range, or its
   * transactions, had to be mended.
   */
  learned?: { countsFailed: boolean; milliseconds: boolean; areReceiptsOdd: boolean };
  /** What is known of the chain's headers where a loader starts. */
  headerProof?: HeaderProof;
}

/**
 * Loads blocks `from..to`, inclusive. Guarantees that all parts of a block have the same hash and that each block is
 * the child of its predecessor. Throws UpstreamError `inconsistent` when a part is missing, belongs to another block
 * or, with `checkRoots`, contradicts the header, and IncompleteBlockError when the answer contradicts itself, twice;
 * otherwise throws like the client. A block that the node does not trace is a gap of the batch.
 */
export async function loadBlocks(
  client: RpcClient,
  rules: LoadRules,
  from: number,
  to: number,
  signal?: AbortSignal,
  roots: RootCheck = new RootCheck(),
): Promise<BlockBatch> {
  return (await loadTwice(false, client, rules, from, to, signal, roots))[0]!;
}

/**
 * Like `loadBlocks`, but each block that the node does not trace is an unsettled batch of its own, and the batches may
 * end before `to`, where the node lacks a part of a later block.
 */
export async function loadRange(
  client: RpcClient,
  rules: LoadRules,
  from: number,
  to: number,
  signal?: AbortSignal,
  roots: RootCheck = new RootCheck(),
): Promise<BlockBatch[]> {
  return loadTwice(true, client, rules, from, to, signal, roots);
}

async function loadTwice(
  isSplit: boolean,
  client: RpcClient,
  rules: LoadRules,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
  roots: RootCheck,
): Promise<BlockBatch[]> {
  const { tolerance = {}, learned } = rules;
  const mendsReceipts = rules.mendsReceipts || learned?.areReceiptsOdd === true;
  const off: BlockCheck[] = [...(tolerance.off ?? [])];
  if (learned?.countsFailed) off.push('failed_index');
  const load = async (tolerant: LoadRules) => {
    const out = new RangeDecoder({ ...tolerant, milliseconds: learned?.milliseconds ?? false }, isSplit);
    await decodeRange(out, client, tolerant, from, to, signal, roots);
    return out.finish();
  };
  try {
    return await load({ ...rules, mendsReceipts, tolerance: { off } });
  } catch (error) {
    if (learned && !learned.milliseconds && isCausedByMilliseconds(error)) {
      learned.milliseconds = await countsMilliseconds(client, signal);
      if (learned.milliseconds) return loadTwice(isSplit, client, rules, from, to, signal, roots);
    }
    if (!mendsReceipts && hasOddParts(error))
      return loadTwice(isSplit, client, { ...rules, mendsReceipts: true }, from, to, signal, roots);
    const lost = error instanceof MissingReceipts ? error.missing : null;
    const mayLose = lost !== null && mayLoseReceipts(tolerance, lost.block, lost.hash);
    if (!(error instanceof IncompleteBlockError || mayLose)) throw error;
    // Read everything again, in full: only this shows which log is wrong, and whether the blooms prove the logs.
    const batches = await load({ ...rules, mendsReceipts, tolerance: { ...tolerance, off }, inFull: true });
    const isByFailures =
      error instanceof IncompleteBlockError && error.found.checks.every((check) => check === 'failed_index');
    const hasLogGap = batches.some(({ gaps }) => gaps.some(({ kind }) => kind === 'log'));
    if (learned && isByFailures && !hasLogGap) learned.countsFailed = true;
    return batches;
  }
}

function isCausedByMilliseconds(error: unknown): boolean {
  return error instanceof UpstreamError && error.cause instanceof InMilliseconds;
}

function hasOddParts(error: unknown): boolean {
  return error instanceof OddParts || (error instanceof UpstreamError && error.cause instanceof OddParts);
}

async function decodeRange(
  out: RangeDecoder,
  client: RpcClient,
  rules: LoadRules,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
  roots: RootCheck,
): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const blocks = await loadBlocksAndReceipts(client, rules, numbers, out.isSplit, signal);
  await requireTransactions(client, blocks, signal);
  if (rules.checkRoots) await roots.require(blocks);
  const answers = await loadTraces(client, rules, blocks, signal);
  for (const loaded of blocks) {
    const { block, receipts, number } = loaded;
    const traces = tracesOf(answers, number);
    const parts: BlockParts = { block, receipts, traces };
    if (rules.inFull) out.rules = await provenRules(rules, block, receipts);
    if ((answers.replies.has(number) && traces === null) || !out.add(parts))
      out.addUntraced(parts, await traceOneByOne(client, rules, answers, loaded, signal));
    releaseBlock(parts);
  }
  checkContinuity(out.finish(), numbers);
}

/** Decodes consecutive blocks into one batch or, with `isSplit`, into several around blocks that are not traced. */
class RangeDecoder {
  /** The rules for the next block. */
  rules: LoadRules;
  readonly isSplit: boolean;
  private readonly batches: BlockBatch[] = [];
  private out = new BatchBuilder();

  constructor(rules: LoadRules, isSplit: boolean) {
    this.rules = rules;
    this.isSplit = isSplit;
  }

  /** Returns false, and adds nothing, when the traces of the block are incomplete. */
  add(parts: BlockParts): boolean {
    try {
      decodeBlock(this.out, parts, this.rules);
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamError && error.cause instanceof IncompleteTraces)) throw error;
      this.out.abandonBlock();
      return false;
    }
  }

  addUntraced(parts: BlockParts, { traces, untraced }: Awaited<ReturnType<typeof traceOneByOne>>): void {
    const isAlone = this.isSplit && untraced !== null;
    if (isAlone) this.cut(null);
    if (untraced !== null) this.out.addGap('trace', untraced.words);
    decodeBlock(this.out, { ...parts, traces }, this.rules);
    if (isAlone) this.cut(untraced);
  }

  /** The batches of all blocks so far. */
  finish(): BlockBatch[] {
    this.cut(null);
    return this.batches;
  }

  private cut(unsettled: BlockBatch['unsettled']): void {
    if (this.out.blockCount === 0) return;
    this.batches.push({ ...this.out.finish(this.rules.traces !== null), unsettled });
    this.out = new BatchBuilder();
  }
}

/**
 * The rules for a block read in full: where blooms prove that it has all logs, it does not matter how they are
 * numbered.
 */
async function provenRules(rules: LoadRules, block: JsonObject, receipts: unknown): Promise<LoadRules> {
  const logProof = await proveLogs(block, receipts);
  const off = [...(rules.tolerance?.off ?? []), ...NEEDLESS_CHECKS[logProof]];
  return { ...rules, logProof, tolerance: { ...rules.tolerance, off } };
}

/** The checks that a proof makes needless, and those of blooms where they are no blooms of logs. */
const NEEDLESS_CHECKS: Readonly<Record<LogProof, readonly BlockCheck[]>> = {
  complete: ['log_index', 'failed_index'],
  lacking: [],
  unknown: [],
  other: ['bloom'],
};

/** The block, with its number, a hash and a list of transactions. */
function requireBlock(reply: RpcReply, number: number): JsonObject {
  const result = requireResult(reply, 'header', number);
  const other = otherNumber(result, number);
  if (other !== null)
    throw new MissingPart('header', number, ` (it sent block ${other} instead of ${number})`);
  return readingBlock({ number }, () => {
    const block = readObject(result, 'block');
    hashOfBlock(block);
    readItems(block['transactions'], 'transactions');
    return block;
  });
}

/** The number of another block than the one asked for, as one of several nodes that lags may send it; else null. */
function otherNumber(block: unknown, number: number): number | null {
  const sent = isObject(block) ? spelledNumber(block['number']) : Number.NaN;
  return Number.isNaN(sent) || sent === number ? null : sent;
}

/** Whether it is the block asked for, whatever is in it. */
function isBlock(reply: RpcReply, number: number): boolean {
  return 'result' in reply && reply.result !== null && otherNumber(reply.result, number) === null;
}

function lacksBlock(reply: RpcReply, number: number): boolean {
  return isMissing(reply) || ('result' in reply && otherNumber(reply.result, number) !== null);
}

/** With `mayEndEarly`, those before the first block of which a part is missing, at least one. */
async function loadBlocksAndReceipts(
  client: RpcClient,
  rules: LoadRules,
  numbers: readonly number[],
  mayEndEarly: boolean,
  signal?: AbortSignal,
): Promise<LoadedBlock[]> {
  // Two batches: blocks are parsed while receipts arrive, and a single answer could be too large.
  const isWhole = rules.checkRoots || rules.inFull || rules.mendsReceipts;
  const askBlocks = (of: readonly number[]) =>
    client.batch(of.map(blockCall), signal, isWhole ? undefined : BLOCK_FIELDS);
  const askReceipts = (of: readonly number[]) =>
    client.batch(
      rules.blockReceipts ? of.map(receiptsCall) : [],
      signal,
      isWhole ? undefined : RECEIPTS_FIELDS,
    );
  const asked = [askBlocks(numbers), askReceipts(numbers)] as const;
  await Promise.allSettled(asked); // a failure must not leave the other request running
  const [blockReplies, receiptReplies] = await Promise.all(asked);
  const at = (positions: readonly number[]) => positions.map((i) => numbers[i]!);
  await askAgain(
    blockReplies,
    (positions) => askBlocks(at(positions)),
    (reply, i) => lacksBlock(reply, numbers[i]!),
    signal,
    rules.isProbe,
  );
  const lacksReceipts = (reply: RpcReply, i: number) => isMissing(reply) && hasTransactions(blockReplies[i]!);
  await askAgain(
    receiptReplies,
    (positions) => askReceipts(at(positions)),
    lacksReceipts,
    signal,
    rules.isProbe,
  );
  const blocks: LoadedBlock[] = [];
  let hasHashes = false;
  for (const [i, number] of numbers.entries()) {
    try {
      const sent = requireBlock(blockReplies[i]!, number);
      const block = rules.mendsReceipts ? await mendTransactions(client, sent, number, signal) : sent;
      hasHashes ||= block !== sent;
      const mayLose = mayLoseReceipts(rules.tolerance ?? {}, number, hashOfBlock(block));
      const receipts = await receiptsOf(client, { number, block }, receiptReplies[i], signal, mayLose);
      blocks.push({ number, block, receipts });
    } catch (error) {
      const isMissing = error instanceof MissingPart || error instanceof MissingReceipts;
      const isHeader = error instanceof UpstreamError && !isBlock(blockReplies[i]!, number);
      if ((isMissing || isHeader) && mayEndEarly && i > 0) break;
      throw isHeader && !rules.isProbe ? await whyMissing(client, number, error, signal) : error;
    }
  }
  if (!rules.mendsReceipts) return blocks;
  const { isMended, whole } = await mended(client, blocks, rules, signal);
  if (rules.learned) rules.learned.areReceiptsOdd = isMended || hasHashes;
  return whole;
}

function hasTransactions(reply: RpcReply): boolean {
  const block = 'result' in reply && isObject(reply.result) ? reply.result : {};
  const { transactions } = block;
  return isList(transactions) && readItems(transactions, 'transactions').length > 0;
}

async function mended(
  client: RpcClient,
  blocks: readonly LoadedBlock[],
  { tolerance = {} }: LoadRules,
  signal?: AbortSignal,
): Promise<{ isMended: boolean; whole: LoadedBlock[] }> {
  const mends = await Promise.all(
    blocks.map((loaded) => {
      const mayLose = mayLoseReceipts(tolerance, loaded.number, hashOfBlock(loaded.block));
      return mendReceipts(client, loaded, signal, mayLose);
    }),
  );
  return {
    isMended: mends.some(({ isMended }) => isMended),
    whole: blocks.map((block, i) => ({ ...block, receipts: mends[i]!.receipts })),
  };
}

/** Throws for a block with an unexpected number, and for a block that is not the child of its predecessor. */
function checkContinuity(batches: readonly BlockBatch[], numbers: readonly number[]): void {
  let next = 0;
  let before: Uint8Array | null = null;
  for (const batch of batches) {
    for (let i = 0; i < batch.blockCount; i++) {
      const number = numbers[next++]!;
      if (batch.number[i] !== number)
        throw new UpstreamError(
          'inconsistent',
          `the node sent block ${batch.number[i]} instead of ${number}`,
        );
      if (before !== null && Buffer.compare(packedHash(batch.parent, i), before) !== 0)
        throw new UpstreamError(
          'inconsistent',
          `the node's block ${number} is not a child of its block ${number - 1}`,
        );
      before = packedHash(batch.hash, i);
    }
  }
}
