/** Checks that the parts of a block have one hash, and decodes them into transfers. */

import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledNumber } from '../lib/hex.ts';
import { previewValue } from '../lib/text.ts';
import { ZERO_ADDRESS as NO_ADDRESS, ZERO_DIGITS } from '../model/address.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { arrangedTraces } from './arrange-traces.ts';
import type { BatchBuilder } from './batch.ts';
import { BlockChecks, type IncompleteBlock, IncompleteBlockError, logGapReason } from './block-checks.ts';
import { readBlockTime } from './block-time.ts';
import { decodeLogs, type Log, readLogs } from './logs.ts';
import {
  hashOfBlock,
  type Items,
  isAddress,
  isNone,
  isZero,
  type JsonObject,
  readAddress,
  readAmount,
  readHex,
  readItems,
  readingBlock,
  readObject,
  readQuantity,
  readStatus,
  releaseItems,
} from './read-json.ts';
import {
  addressText,
  BlockReceipts,
  createdContract,
  isLostReceipt,
  OddParts,
  readReceipt,
  receiverOf,
} from './receipts.ts';
import { repeatedHashes } from './repeated-hashes.ts';
import { rootFrameProblem } from './root-frame.ts';
import type { DecodeRules } from './rules.ts';
import { decodeStakingPayouts, STAKING_CONTRACT, SYSTEM_SENDER } from './staking.ts';
import type { Tolerance } from './tolerance.ts';
import { type BlockTraces, flatTraces, type TransactionTrace, treeTraces } from './traces.ts';

/** The node's answers for one block, as parsed JSON. `traces` is null when not requested. */
export interface BlockParts {
  block: unknown;
  receipts: unknown;
  traces: RequestedTraces | null;
}

/** What the node sent of a block's traces. */
export interface RequestedTraces {
  form: 'tree' | 'flat';
  /** The answer about the block. */
  value: unknown;
  /** Instead: what is known of each transaction (`arrangeTraces`), null where nothing is. */
  perTransaction?: readonly unknown[];
}

/** Gas of a transaction that runs no code, on chains without EIP-2780. */
const PLAIN_TRANSFER_GAS = 21_000;

/**
 * Appends one block to the batch. Throws UpstreamError, which names the block: `malformed` for a value that cannot be
 * understood, `inconsistent` when the parts belong to different blocks, IncompleteBlockError when they contradict each
 * other and `rules.tolerance` does not put up with it; then discard the batch.
 */
export function decodeBlock(out: BatchBuilder, parts: BlockParts, rules: DecodeRules): void {
  const block = readObject(parts.block, 'block');
  const incomplete = readingBlock(block, () => decodeParts(out, block, parts, rules));
  if (incomplete !== null) throw new IncompleteBlockError(incomplete);
}

/** What decoding a block needs beside its parts. */
interface Decoding {
  out: BatchBuilder;
  receipts: BlockReceipts;
  checks: BlockChecks;
  rules: DecodeRules;
}

function decodeParts(
  out: BatchBuilder,
  block: JsonObject,
  parts: BlockParts,
  rules: DecodeRules,
): IncompleteBlock | null {
  const hash = hashOfBlock(block);
  const transactions = readTransactions(block);
  const txHashes = transactions.map(transactionHash);
  const receipts = new BlockReceipts(parts.receipts, hash, txHashes);
  const repeats = rules.version < 2 ? null : repeatedHashes(txHashes);
  const checks = new BlockChecks(hash, [...(rules.tolerance?.off ?? []), ...(repeats ? ORDER_CHECKS : [])]);
  const decoding: Decoding = { out, receipts, checks, rules };
  const traces =
    parts.traces === null ? null : readTraces(parts.traces, txHashes, hash, receipts.extraHashes);
  const decodeAt = (i: number, isRepeat = false): void => {
    const trace = traces === null ? null : traces.at(i);
    const receipt = receipts.of(i); // before its position, which reading it may correct
    const [hash, at, tx] = [txHashes[i]!, receipts.positionOf(i), transactions[i]!];
    ifReadable(decoding, hash, () => decodeTransaction(decoding, { hash, at, tx, receipt, trace, isRepeat }));
  };
  for (let i = 0; i < transactions.length; i++) {
    decodeExtraReceipts(decoding, i);
    const same = repeats?.get(txHashes[i]!);
    if (same === undefined) decodeAt(i);
    else if (same[0] === i) for (const each of same) decodeAt(each, each > i);
  }
  decodeExtraReceipts(decoding, transactions.length);
  checks.end(block['logsBloom'], receipts.lastBloom());
  if (rules.logProof === 'lacking') checks.add('bloom', 'its blooms show more logs than its receipts have');
  const number = readQuantity(block['number'], 'block number');
  if (traces !== null) out.tracedBlock = number;
  const found = checks.found(number);
  // The loader lets a receipt be lost only where that is accepted.
  const isStored = found === null || found.checks.includes('receipt') || isAccepted(found, rules.tolerance);
  if (found !== null && isStored) out.addGap('log', logGapReason(found.checks));
  if (checks.isRenumbered) out.countRenumbered();
  const parent = readHex(block['parentHash'], 64, 'parentHash');
  out.endBlock(number, hash, parent, readBlockTime(block['timestamp'], rules));
  return isStored ? null : found;
}

/**
 * Decodes a part of a transaction. Where the node's words make no sense the part is left out, and the block incomplete:
 * one value must not stop the index for ever.
 */
function ifReadable({ out, checks }: Decoding, txHash: string, decode: () => void): void {
  const before = out.mark();
  try {
    decode();
  } catch (error) {
    const isUnreadable = error instanceof UpstreamError && error.reason === 'malformed';
    if (!isUnreadable || error instanceof OddParts) throw error;
    out.revert(before);
    checks.add('unreadable', `${error.message} of ${txHash}`);
  }
}

/** Transactions with the same hash are decoded one after another, so not in the order of the logs. */
const ORDER_CHECKS = ['log_order', 'log_index', 'failed_index'] as const;

function isAccepted({ block, digest }: IncompleteBlock, tolerance: Tolerance = {}): boolean {
  const { accepted = [], gaps = [] } = tolerance;
  return accepted.includes(digest) || gaps.some(({ first, last }) => first <= block && block <= last);
}

interface TransactionParts {
  hash: string;
  /** Position of the receipt. */
  at: number;
  tx: JsonObject;
  receipt: JsonObject;
  trace: TransactionTrace | null;
  /** Whether the transaction before has the same hash. */
  isRepeat: boolean;
}

function decodeTransaction(decoding: Decoding, parts: TransactionParts): void {
  const { out, checks, rules } = decoding;
  const { hash, at, tx, receipt, isRepeat } = parts;
  if (isLostReceipt(receipt)) checks.add('receipt', `the receipt of ${hash} is missing`);
  const trace = usableTrace(decoding, parts);
  const logs = logsOf(decoding, receipt, at, hash);
  const mint = rules.version < 2 ? null : mintOf(tx);
  const hasSucceeded = succeeded(receipt, trace);
  if (!hasSucceeded && logs.length === 0) checks.skipFailed();
  if (!hasSucceeded && mint === null) return;
  const to = receiverOf(tx['to'], receipt, trace?.root);
  const from = addressText(tx['from'], 'transaction from');
  if (!isRepeat || !out.isTxStored)
    out.beginTransaction(hash, from === '' ? NO_ADDRESS : from, to === '' ? NO_ADDRESS : to);
  if (mint !== null) {
    const minter = readAddress(from, 'transaction from');
    out.push(TransferKind.nativeDirect, ZERO_DIGITS, minter, '', -1, mint, 2, mint.length);
  }
  if (!hasSucceeded) return;
  const isToSelf = mint !== null && isSameHex(to, from.toLowerCase());
  if (!isToSelf) decodeDirect(out, tx, to, rules); // a deposit to its own sender is the mint alone
  ifReadable(decoding, hash, () =>
    trace?.forEachInternalTransfer(
      (payer, payee, amount) =>
        out.push(TransferKind.nativeInternal, payer, payee, '', -1, amount, 2, amount.length),
      (reason) => out.skipPayment(reason),
    ),
  );
  if (rules.monad) decodeStakingPayouts(out, logs, trace);
  decodeLogs(out, logs, rules);
}

/** The trace, unless its root frame is another transaction's. */
function usableTrace(
  { out, checks, rules }: Decoding,
  { hash, tx, receipt, trace }: TransactionParts,
): TransactionTrace | null {
  if (trace === null || (rules.monad && isSystemTransaction(tx))) return trace;
  const problem = rootFrameProblem(tx, receipt, trace.root, hash);
  if (problem === null || !checks.add(problem.check, problem.text)) return trace;
  out.addGap('trace', 'the trace belongs to another transaction');
  return null;
}

/** The logs of a receipt that are its own. */
function logsOf(
  { receipts, checks }: Decoding,
  receipt: JsonObject,
  at: number,
  hash: string,
): readonly Log[] {
  const logs = readLogs(receipt);
  if (logs.length === 0) {
    checks.noLogs(receipt, hash);
    return logs;
  }
  checks.follow(logs, at, hash);
  const isPlaced = receipts.isPlaced(at);
  if (isPlaced === null) return checks.placed(logs, receipt, hash);
  if (!isPlaced) checks.add('log_place', `a log of ${hash} is removed or names another block or transaction`);
  return logs;
}

/** Decodes the logs of the receipts that belong to no transaction and come before the transaction of this index. */
function decodeExtraReceipts(decoding: Decoding, index: number): void {
  const { out, receipts, checks, rules } = decoding;
  for (const extra of receipts.extrasBefore(index)) {
    if (receipts.isOfTransaction(extra))
      checks.add('log_place', `the receipt of ${extra.hash}, which it does not list as a transaction`);
    const logs = logsOf(decoding, extra.receipt, extra.at, extra.hash);
    if (readStatus(extra.receipt['status']) === false) continue;
    out.beginTransaction(extra.hash, NO_ADDRESS, NO_ADDRESS);
    decodeLogs(out, logs, rules);
  }
}

/** Frees the memory of a decoded block. */
export function releaseBlock({ block, receipts, traces }: BlockParts): void {
  releaseItems(readObject(block, 'block')['transactions']);
  releaseItems(receipts);
  releaseItems(traces?.value);
}

/**
 * Whether a block needs traces: a transaction may have run code, or has no status, so that only its root call shows
 * whether it failed. Spares the node from tracing other blocks.
 */
export function needsTraces(block: unknown, receipts: unknown, rules: DecodeRules): boolean {
  const header = readObject(block, 'block');
  return readingBlock(header, () => mayPayInternally(header, receipts, rules));
}

function mayPayInternally(block: JsonObject, receipts: unknown, rules: DecodeRules): boolean {
  const transactions = readItems(block['transactions'], 'transactions');
  const receiptOf = receiptReader(block, receipts, transactions);
  for (let i = 0; i < transactions.length; i++)
    if (needsTracesOf(block, readTransaction(transactions, i), receiptOf(i), rules)) return true;
  return false;
}

/**
 * Whether a transaction of the block needs traces, for the reasons of `needsTraces`. True for whatever cannot be
 * understood; decoding it says so.
 */
export function needsTracesOf(
  block: JsonObject,
  tx: JsonObject,
  receipt: JsonObject,
  rules: DecodeRules,
): boolean {
  try {
    return mayPay(block, tx, receipt, rules);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return true;
  }
}

function mayPay(block: JsonObject, tx: JsonObject, receipt: JsonObject, rules: DecodeRules): boolean {
  const status = readStatus(receipt['status']);
  if (status === false || (rules.monad && isSystemTransaction(tx))) return false;
  return status === null || hasAmsterdamFields(block) || mayRunCode(tx, receipt);
}

/** Reads the receipt of a transaction. Pairs them by hash only where their numbers differ. */
function receiptReader(block: JsonObject, value: unknown, transactions: Items): (i: number) => JsonObject {
  const receipts = readItems(value, 'receipts');
  if (receipts.length === transactions.length) return (i) => readReceipt(receipts, i);
  const txHashes = readTransactions(block).map(transactionHash);
  const paired = new BlockReceipts(value, hashOfBlock(block), txHashes);
  return (i) => paired.of(i);
}

/**
 * Whether a header has fields of the Amsterdam fork (EIP-7928, EIP-7843). EIP-2780 came with it and changed the gas of
 * plain transfers: from then on 21,000 gas may include code.
 */
function hasAmsterdamFields({ blockAccessListHash, slotNumber }: JsonObject): boolean {
  return (blockAccessListHash ?? slotNumber ?? null) !== null;
}

/** Whether a successful transaction may have run code. True for whatever cannot be understood. */
function mayRunCode(tx: JsonObject, receipt: JsonObject): boolean {
  const { to, input } = tx;
  if (isNone(to) || input === undefined || !isNone(input)) return true;
  return spelledNumber(receipt['gasUsed']) !== PLAIN_TRANSFER_GAS || createdContract(to, receipt) !== null;
}

/** The transactions of a block that was fetched with full transactions. */
export function readTransactions(block: JsonObject): JsonObject[] {
  const items = readItems(block['transactions'], 'transactions');
  return Array.from({ length: items.length }, (_, i) => readTransaction(items, i));
}

/** Some nodes send the hashes, whatever they were asked for. */
function readTransaction(transactions: Items, index: number): JsonObject {
  const transaction = transactions.at(index);
  if (typeof transaction === 'string')
    throw new OddParts('malformed', `the node sent ${previewValue(transaction)} as transaction`);
  return readObject(transaction, 'transaction');
}

export function transactionHash(transaction: JsonObject): string {
  return readHex(transaction['hash'], 64, 'transaction hash');
}

function readTraces(
  traces: RequestedTraces,
  txHashes: readonly string[],
  blockHash: string,
  extraHashes: readonly string[],
): BlockTraces {
  if (traces.perTransaction !== undefined)
    return arrangedTraces(traces.form, traces.perTransaction, txHashes);
  return traces.form === 'tree'
    ? treeTraces(traces.value, txHashes, extraHashes)
    : flatTraces(traces.value, txHashes, blockHash, extraHashes);
}

/**
 * Before Byzantium receipts had no status: the root call decides, and without traces success is assumed, unless the
 * receipt is lost.
 */
function succeeded(receipt: JsonObject, trace: TransactionTrace | null): boolean {
  return readStatus(receipt['status']) ?? (trace === null ? !isLostReceipt(receipt) : !trace.root.failed);
}

function isSystemTransaction(tx: JsonObject): boolean {
  return isAddress(tx['from'], SYSTEM_SENDER);
}

/** The type of the OP stack's deposits. */
const DEPOSIT_TYPE = 0x7e;

/**
 * The coins that an OP stack deposit creates for its sender, as a `0x` quantity above zero; null if none. The sender
 * keeps them when the transaction fails.
 */
export function mintOf({ mint, type }: JsonObject): string | null {
  if (mint === undefined || mint === null || spelledNumber(type) !== DEPOSIT_TYPE) return null;
  const amount = readAmount(mint, 'mint');
  return isZero(amount) ? null : amount;
}

/** The transaction's own value, to its receiver or the contract it created. Monad's block reward is a mint. */
function decodeDirect(out: BatchBuilder, tx: JsonObject, receiver: string, rules: DecodeRules): void {
  const amount = readAmount(tx['value'], 'transaction value');
  if (isZero(amount)) return;
  const sender = readAddress(tx['from'], 'transaction from');
  const to = readAddress(receiver, 'transaction to');
  const from = rules.monad && isSystemTransaction(tx) && to === STAKING_CONTRACT ? ZERO_DIGITS : sender;
  out.push(TransferKind.nativeDirect, from, to, '', -1, amount, 2, amount.length);
}
