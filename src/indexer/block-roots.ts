/**
 * Verifies transactions and receipts against the roots in their block's header. The roots cover neither a transaction's
 * sender, which follows from its signature, nor the positions of logs.
 */
import { transactionHash } from '../decode/block.ts';
import {
  isNone,
  type JsonObject,
  readArray,
  readBigInt,
  readData,
  readHex,
  readObject,
  readStatus,
} from '../decode/read-json.ts';
import { UpstreamError } from '../lib/errors.ts';
import { bigIntToBytes, hexToBytes, isSameHex, spelledNumber } from '../lib/hex.ts';
import { previewValue } from '../lib/text.ts';
import { isProvenHeader, unprovenReason } from './header-hash.ts';
import { type Encodable, encodeRlp, rootOf } from './trie-root.ts';

/** The block's roots cannot be computed, because the block contains a type unknown to this program. */
export class UnknownTypeError extends Error {
  override name = 'UnknownTypeError';
}

/** The header does not hash to the block's hash, so it proves nothing. */
export class UnprovenHeaderError extends UnknownTypeError {
  override name = 'UnprovenHeaderError';
}

/** The node sent a block that contradicts its own header. */
export class WrongRootError extends UpstreamError {
  override name = 'WrongRootError';
  readonly block: number;

  constructor(block: number, difference: string) {
    super('inconsistent', `the node's block ${block} contradicts its header: ${difference}`);
    this.block = block;
  }
}

type Encode = (value: unknown) => Encodable;

/** The encoded fields of each transaction type, in order (EIP-155, 2930, 1559, 4844 and 7702). */
const FEES_1559 = ['maxPriorityFeePerGas', 'maxFeePerGas'];
const FIELDS: Record<number, readonly string[]> = {
  0: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'v', 'r', 's'],
  1: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList', 'yParity', 'r', 's'],
  2: ['chainId', 'nonce', ...FEES_1559, 'gas', 'to', 'value', 'input', 'accessList', 'yParity', 'r', 's'],
  3: [
    ...['chainId', 'nonce', ...FEES_1559, 'gas', 'to', 'value', 'input', 'accessList'],
    ...['maxFeePerBlobGas', 'blobVersionedHashes', 'yParity', 'r', 's'],
  ],
  4: [
    ...['chainId', 'nonce', ...FEES_1559, 'gas', 'to', 'value', 'input', 'accessList'],
    ...['authorizationList', 'yParity', 'r', 's'],
  ],
};

/** Fields that are not quantities. */
const ENCODERS: Readonly<Record<string, Encode>> = {
  // The receiver of a creation is null, but also left out, `""` or `"0x"`.
  to: (value) => (isNone(value) ? new Uint8Array(0) : bytes(value)),
  input: bytes,
  accessList: (value) =>
    readArray(value, 'accessList').map((item) => {
      const { address, storageKeys } = readObject(item, 'accessList item');
      return [bytes(address), readArray(storageKeys, 'storageKeys').map(bytes)];
    }),
  blobVersionedHashes: (value) => readArray(value, 'blobVersionedHashes').map(bytes),
  authorizationList: (value) =>
    readArray(value, 'authorizationList').map((item) => {
      const { chainId, address, nonce, yParity, v, r, s } = readObject(item, 'authorization');
      return [...[chainId].map(quantity), bytes(address), ...[nonce, yParity ?? v, r, s].map(quantity)];
    }),
};

/**
 * Describes how the transactions or receipts of a block contradict its header; null when they match. Throws
 * UnknownTypeError when the roots cannot be computed.
 */
export async function findWrongRoot(block: JsonObject, receipts: unknown): Promise<string | null> {
  if (!(await isProvenHeader(block)))
    throw new UnprovenHeaderError(`a header that does not hash to its hash: ${unprovenReason(block)}`);
  const transactions = readArray(block['transactions'], 'transactions').map((item) =>
    readObject(item, 'transaction'),
  );
  const encoded = transactions.map(encodeTransaction);
  if (!isSameHex(block['transactionsRoot'], rootOf(encoded)))
    return 'its transactions do not match the transactions root';
  const items = readArray(receipts, 'receipts').map((item) => readObject(item, 'receipt'));
  for (const counted of countedReceipts(items, transactions))
    if (isSameHex(block['receiptsRoot'], rootOf(counted.map(encodeReceipt)))) return null;
  return 'its receipts do not match the receipts root';
}

/** All receipts, or those of the transactions: Bor's root leaves the receipt without a transaction out. */
function countedReceipts(receipts: JsonObject[], transactions: readonly JsonObject[]): JsonObject[][] {
  if (receipts.length <= transactions.length) return [receipts];
  const hashes = new Set(transactions.map(transactionHash));
  const isCounted = (receipt: JsonObject) =>
    hashes.has(readHex(receipt['transactionHash'], 64, 'transactionHash of a receipt'));
  return [receipts, receipts.filter(isCounted)];
}

function encodeTransaction(transaction: JsonObject): Uint8Array {
  const type = typeOf(transaction);
  // Polygon lists a transaction that reports another chain's state but excludes it from the root.
  if (spelledNumber(transaction['r']) === 0 && spelledNumber(transaction['s']) === 0)
    throw new UnknownTypeError('a transaction without a signature');
  const values = FIELDS[type]!.map((name) => {
    const value = name === 'yParity' ? (transaction['yParity'] ?? transaction['v']) : transaction[name];
    return (ENCODERS[name] ?? quantity)(value);
  });
  return envelope(type, values);
}

function encodeReceipt(receipt: JsonObject): Uint8Array {
  const { status, root, cumulativeGasUsed, logsBloom, logs } = receipt;
  // Before Byzantium, receipts had a state root instead of a status.
  const outcome = typeof root === 'string' && root.length === 66 ? bytes(root) : encodedStatus(status);
  const encodedLogs = readArray(logs, 'logs').map((item) => {
    const { address, topics, data } = readObject(item, 'log');
    return [bytes(address), readArray(topics, 'topics').map(bytes), bytes(readData(data, 'log data'))];
  });
  return envelope(typeOf(receipt), [outcome, quantity(cumulativeGasUsed), bytes(logsBloom), encodedLogs]);
}

function encodedStatus(value: unknown): Uint8Array {
  const status = readStatus(value);
  if (status === null) throw new UnknownTypeError('a transaction or receipt that lacks a field');
  return quantity(status ? 1 : 0);
}

function typeOf({ type }: JsonObject): number {
  const number = type === undefined || type === null ? 0 : spelledNumber(type);
  if (!(number in FIELDS)) throw new UnknownTypeError(`a transaction of type ${previewValue(type)}`);
  return number;
}

function envelope(type: number, values: Encodable[]): Uint8Array {
  const encoded = encodeRlp(values);
  if (type === 0) return encoded;
  const typed = new Uint8Array(encoded.length + 1);
  typed[0] = type;
  typed.set(encoded, 1);
  return typed;
}

function bytes(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw new UnknownTypeError('a transaction or receipt that lacks a field');
  const text = readData(value, 'transaction or receipt');
  try {
    return hexToBytes(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UpstreamError('malformed', `the node sent ${previewValue(value)} in a transaction or receipt`);
  }
}

function quantity(value: unknown): Uint8Array {
  if (value === undefined || value === null)
    throw new UnknownTypeError('a transaction or receipt that lacks a field');
  return bigIntToBytes(readBigInt(value, 'quantity in a transaction or receipt'));
}
