/** Checks that the parts of a block have one hash, and decodes them into transfers. */

import { UpstreamError } from '../lib/errors.ts';
import { quantityToNumber } from '../lib/hex.ts';
import { previewValue } from '../lib/text.ts';
import { ZERO_DIGITS } from '../model/address.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import type { BatchBuilder } from './batch.ts';
import { decodeLogs, readLogs } from './logs.ts';
import {
  type Items,
  isAddress,
  isZero,
  type JsonObject,
  readAddress,
  readAmount,
  readHex,
  readItems,
  readObject,
  readQuantity,
  releaseItems,
} from './read-json.ts';
import { decodeStakingPayouts, STAKING_CONTRACT, SYSTEM_SENDER } from './staking.ts';
import { type BlockTraces, flatTraces, type TransactionTrace, treeTraces } from './traces.ts';

/** The differences between chains. */
export interface DecodeRules {
  /** Whether the chain has Monad's system transactions and staking payouts. */
  monad: boolean;
  /** Wrapped native contracts, lower-case `0x` text. */
  wrappedNative: ReadonlySet<string>;
}

/** The node's answers for one block, as parsed JSON. `traces` is null when not requested. */
export interface BlockParts {
  block: unknown;
  receipts: unknown;
  traces: { form: 'tree' | 'flat'; value: unknown } | null;
}

/** Gas of a transaction that runs no code. */
const PLAIN_TRANSFER_GAS = 21_000;

/** The latest time that a Date can represent, Unix seconds. */
const MAX_SECONDS = 8_640_000_000_000;

/**
 * Appends one block to the batch. Throws UpstreamError `malformed` for wrong types and `inconsistent` when the parts
 * belong to different blocks; then discard the batch.
 */
export function decodeBlock(out: BatchBuilder, parts: BlockParts, rules: DecodeRules): void {
  const block = readObject(parts.block, 'block');
  const hash = readHex(block['hash'], 64, 'block hash');
  const transactions = readTransactions(block);
  const txHashes = transactions.map(transactionHash);
  const receipts = readReceipts(parts.receipts, hash, txHashes.length);
  const traces = parts.traces === null ? null : readTraces(parts.traces, txHashes, hash);
  for (let i = 0; i < transactions.length; i++) {
    const receipt = readReceipt(receipts, i, hash, txHashes[i]!);
    const trace = traces === null ? null : traces.at(i);
    if (!succeeded(receipt, trace)) continue;
    const transaction = transactions[i]!;
    const [from, to] = [transaction['from'], transaction['to'] ?? receipt['contractAddress']];
    out.beginTransaction(txHashes[i]!, addressText(from), addressText(to));
    decodeDirect(out, transaction, receipt, rules);
    trace?.forEachInternalTransfer((from, to, amount) =>
      out.push(TransferKind.nativeInternal, from, to, '', -1, amount, 2, amount.length),
    );
    const logs = readLogs(receipt);
    if (rules.monad) decodeStakingPayouts(out, logs, trace);
    decodeLogs(out, logs, rules.wrappedNative);
  }
  const parent = readHex(block['parentHash'], 64, 'parentHash');
  out.endBlock(
    readQuantity(block['number'], 'block number'),
    hash,
    parent,
    readQuantity(block['timestamp'], 'timestamp', MAX_SECONDS),
  );
}

const NO_ADDRESS = `0x${ZERO_DIGITS}`;

/** The text of an address. The batch checks it once the transaction turns out to have a transfer. */
function addressText(value: unknown): string {
  return typeof value === 'string' ? value : NO_ADDRESS;
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
  const results = readItems(receipts, 'receipts');
  const transactions = readItems(readObject(block, 'block')['transactions'], 'transactions');
  for (let i = 0; i < transactions.length; i++) {
    const receipt = readObject(results.at(i), 'receipt');
    const tx = readObject(transactions.at(i), 'transaction');
    if (receipt['status'] === '0x0' || (rules.monad && isSystemTransaction(tx))) continue;
    if (
      receipt['status'] !== '0x1' ||
      tx['to'] === null ||
      tx['input'] !== '0x' ||
      quantityToNumber(receipt['gasUsed']) !== PLAIN_TRANSFER_GAS
    )
      return true;
  }
  return false;
}

/** The transactions of a block that was fetched with full transactions. */
export function readTransactions(block: JsonObject): JsonObject[] {
  const items = readItems(block['transactions'], 'transactions');
  return Array.from({ length: items.length }, (_, i) => readObject(items.at(i), 'transaction'));
}

export function transactionHash(transaction: JsonObject): string {
  return readHex(transaction['hash'], 64, 'transaction hash');
}

function readReceipts(value: unknown, blockHash: string, count: number): Items {
  const receipts = readItems(value, 'receipts');
  if (receipts.length !== count) {
    throw new UpstreamError(
      'inconsistent',
      `the node sent ${receipts.length} receipts for the ${count} transactions of block ${blockHash}`,
    );
  }
  return receipts;
}

function readReceipt(receipts: Items, i: number, blockHash: string, txHash: string): JsonObject {
  const receipt = readObject(receipts.at(i), 'receipt');
  const { blockHash: receiptBlockHash, transactionHash } = receipt;
  if (receiptBlockHash !== blockHash || transactionHash !== txHash) {
    throw new UpstreamError(
      'inconsistent',
      `the node sent a receipt of ${previewValue(transactionHash)} in block ${previewValue(receiptBlockHash)} for ${txHash} in ${blockHash}`,
    );
  }
  return receipt;
}

function readTraces(
  traces: { form: 'tree' | 'flat'; value: unknown },
  txHashes: readonly string[],
  blockHash: string,
): BlockTraces {
  return traces.form === 'tree'
    ? treeTraces(traces.value, txHashes)
    : flatTraces(traces.value, txHashes, blockHash);
}

/** Before Byzantium receipts had no status: the root call decides, and without traces success is assumed. */
function succeeded(receipt: JsonObject, trace: TransactionTrace | null): boolean {
  const { status } = receipt;
  if (status === '0x1') return true;
  if (status === '0x0') return false;
  if (status === undefined || status === null) return trace === null || !trace.failed;
  throw new UpstreamError('malformed', `the node sent ${previewValue(status)} as receipt status`);
}

function isSystemTransaction(tx: JsonObject): boolean {
  return isAddress(tx['from'], SYSTEM_SENDER);
}

/** The transaction's own value: to its receiver or the contract it created. Monad's block reward is a mint. */
function decodeDirect(out: BatchBuilder, tx: JsonObject, receipt: JsonObject, rules: DecodeRules): void {
  const amount = readAmount(tx['value'], 'transaction value');
  if (isZero(amount)) return;
  const sender = readAddress(tx['from'], 'transaction from');
  const to = readAddress(tx['to'] ?? receipt['contractAddress'], 'transaction to');
  const from = rules.monad && isSystemTransaction(tx) && to === STAKING_CONTRACT ? ZERO_DIGITS : sender;
  out.push(TransferKind.nativeDirect, from, to, '', -1, amount, 2, amount.length);
}
