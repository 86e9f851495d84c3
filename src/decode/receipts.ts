/** The receipts of a block, each checked against its transaction. */
import { isDeepStrictEqual } from 'node:util';
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledNumber } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import { mayBeCreation, ZERO_DIGITS } from '../model/address.ts';
import { hasBloomBits } from './bloom.ts';
import { type Items, isNone, type JsonObject, readHex, readItems, readOptionalAddress } from './read-json.ts';
import type { RootFrame } from './traces.ts';

/**
 * Receipts that leave something out or have another order than the transactions, or transactions of which there is only
 * the hash. Other answers of the node tell it, or the same ones read in full.
 */
export class OddParts extends UpstreamError {
  override name = 'OddParts';
}

/** A receipt that belongs to no transaction of the block, its position and its hash. */
interface ExtraReceipt {
  receipt: JsonObject;
  at: number;
  hash: string;
}

/**
 * The receipts of a block by transaction, in whatever order the node sent them. There may be more than transactions:
 * Bor's state sync and Celo's block receipt belong to no transaction, and their logs to the block.
 */
export class BlockReceipts {
  private readonly items: Items;
  private readonly blockHash: string;
  private readonly txHashes: readonly string[];
  /** Positions by transaction; null while the receipts seem to have the order of the transactions. */
  private positions: readonly number[] | null = null;
  /** Positions of the receipts without a transaction, and how many receipts of transactions come before each. */
  private extras: readonly { at: number; index: number }[] = [];

  /** Throws UpstreamError `inconsistent` when their number does not fit the transactions. */
  constructor(value: unknown, blockHash: string, txHashes: readonly string[]) {
    this.items = readItems(value, 'receipts');
    this.blockHash = blockHash;
    this.txHashes = txHashes;
    if (this.items.length !== txHashes.length) this.arrange();
  }

  /** The position of a transaction's receipt, once it was read. */
  positionOf(index: number): number {
    return this.positions === null ? index : this.positions[index]!;
  }

  /** Whether the logs of the receipt at a position name its block and transaction; null if that is yet to be read. */
  isPlaced(position: number): boolean | null {
    const { facts } = this.items;
    return facts === undefined ? null : !facts.odd.has(position);
  }

  /** The last bloom with ones and zeros, and the position of its receipt. */
  lastBloom(): { at: number; bloom: string } | null {
    const { facts, length } = this.items;
    if (facts !== undefined) return facts.lastBloom;
    for (let at = length - 1; at >= 0; at--) {
      const { logsBloom } = this.read(at);
      if (typeof logsBloom === 'string' && hasBloomBits(logsBloom)) return { at, bloom: logsBloom };
    }
    return null;
  }

  /** The receipt of a transaction by its index in the block. Throws UpstreamError when it is another one's. */
  of(index: number): JsonObject {
    const receipt = this.read(this.positionOf(index));
    const { blockHash, transactionHash } = receipt;
    const txHash = this.txHashes[index]!;
    const isOfTransaction = isSameHex(transactionHash, txHash);
    if (isOfTransaction && isSameHex(blockHash, this.blockHash)) return receipt;
    if (isOfTransaction && isNone(blockHash))
      throw new OddParts('inconsistent', `the receipt of ${txHash} does not name its block (blockHash)`);
    if (!isOfTransaction && this.positions === null && this.arrange()) return this.of(index);
    throw new UpstreamError(
      'inconsistent',
      `the node sent a receipt of ${previewValue(transactionHash)} in block ${previewValue(blockHash)} ` +
        `for ${txHash} in ${this.blockHash}`,
    );
  }

  /** Hashes of the receipts without a transaction. Nodes may trace them too. */
  get extraHashes(): string[] {
    return this.extras.map(({ at }) =>
      readHex(this.read(at)['transactionHash'], 64, 'transactionHash of a receipt'),
    );
  }

  /** The receipts without a transaction that come right before the transaction of this index. */
  extrasBefore(index: number): ExtraReceipt[] {
    const { extras, extraHashes } = this;
    return extras.flatMap(({ at, index: before }, i) => {
      if (before !== index) return [];
      const receipt = this.read(at);
      if (isSameHex(receipt['blockHash'], this.blockHash)) return [{ receipt, at, hash: extraHashes[i]! }];
      throw new UpstreamError(
        'inconsistent',
        `the node sent a receipt of block ${previewValue(receipt['blockHash'])} for ${this.blockHash}`,
      );
    });
  }

  /** Whether the extra receipt is that of a transaction: such a one used gas, or is in the block. */
  isOfTransaction({ receipt, hash }: ExtraReceipt): boolean {
    if (hash === this.blockHash) return false;
    return spelledNumber(receipt['gasUsed']) > 0 || this.txHashes.includes(hash);
  }

  /**
   * Finds the receipt of each transaction by its hash. A receipt that is there twice counts once. Returns false when
   * receipts in the number of the transactions are not theirs; throws UpstreamError `inconsistent` when their number
   * does not fit either, and OddParts.
   */
  private arrange(): boolean {
    const { items, txHashes } = this;
    const places = Map.groupBy(txHashes.keys(), (i) => txHashes[i]!);
    const positions = new Array<number>(txHashes.length).fill(-1);
    const first = new Map<string, number>();
    const extra: number[] = [];
    let isClear = true;
    for (let at = 0; at < items.length; at++) {
      const receipt = this.read(at);
      const { transactionHash } = receipt;
      if (isNone(transactionHash))
        throw new OddParts('inconsistent', 'a receipt does not name its transaction (transactionHash)');
      const hash = typeof transactionHash === 'string' ? transactionHash.toLowerCase() : '';
      const place = places.get(hash)?.shift();
      const same = first.get(hash);
      if (place !== undefined) positions[place] = at;
      else if (same === undefined || places.has(hash)) {
        if (same !== undefined && isDeepStrictEqual(receipt, this.read(same))) continue;
        extra.push(at);
      } else if (!isDeepStrictEqual(receipt, this.read(same))) isClear = false;
      if (same === undefined) first.set(hash, at);
    }
    const isComplete = isClear && !positions.includes(-1);
    if (!isComplete && items.length === txHashes.length) return false;
    const { blockHash } = this;
    if (!isComplete)
      throw new UpstreamError(
        'inconsistent',
        `the node sent ${items.length} receipts for the ${txHashes.length} transactions of block ${blockHash}`,
      );
    const isOrdered = positions.every((at, i) => i === 0 || at > positions[i - 1]!);
    if (!isOrdered && !this.areNumbered(positions))
      throw new OddParts(
        'inconsistent',
        `the receipts of block ${blockHash} have another order than its transactions, and no transactionIndex tells ` +
          `which is right`,
      );
    this.positions = positions;
    this.extras = extra.map((at) => ({ at, index: positions.filter((own) => own < at).length }));
    return true;
  }

  /** Whether the receipts say that the transactions have the right order. */
  private areNumbered(positions: readonly number[]): boolean {
    return positions.every((at, i) => spelledNumber(this.read(at)['transactionIndex']) === i);
  }

  private read(position: number): JsonObject {
    return readReceipt(this.items, position);
  }
}

export function readReceipt(receipts: Items, position: number): JsonObject {
  const receipt = receipts.at(position);
  if (isObject(receipt)) return receipt;
  throw new OddParts('malformed', `the node sent ${previewValue(receipt)} as receipt`);
}

const LOST = Symbol('lost receipt');

/** Stands for a receipt that the node does not give, where this is put up with. */
export function lostReceipt(transactionHash: string, blockHash: string): JsonObject {
  const receipt = { transactionHash, blockHash, logs: [], [LOST]: true };
  return receipt;
}

export function isLostReceipt(receipt: JsonObject): boolean {
  return LOST in receipt;
}

/** The logs of a receipt. Null is none. Throws OddParts where the receipt does not say. */
export function logsIn(receipt: JsonObject): JsonObject[] {
  const { logs } = receipt;
  if (logs === null) return [];
  if (Array.isArray(logs) && logs.every(isObject)) return logs;
  throw new OddParts('malformed', `the node sent ${previewValue(logs)} as receipt logs`);
}

/** The contract that a transaction to `to` created; null if it created none. */
export function createdContract(to: unknown, receipt: JsonObject): string | null {
  if (!mayBeCreation(to)) return null;
  const created = readOptionalAddress(receipt['contractAddress'], 'contractAddress');
  return created === null || created === ZERO_DIGITS ? null : `0x${created}`;
}

/**
 * The receiver of a transaction, or the contract it created, which the root frame of its trace names where the receipt
 * does not; empty if there is neither.
 */
export function receiverOf(to: unknown, receipt: JsonObject, root?: Pick<RootFrame, 'to'>): string {
  const receiver = createdContract(to, receipt) ?? addressText(to, 'transaction to');
  return receiver === '' && root !== undefined ? addressText(root.to, 'root frame to') : receiver;
}

/** An address as `0x` text; empty if there is none. The batch checks the digits when it stores them. */
export function addressText(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length === 42) return value;
  const digits = readOptionalAddress(value, what);
  return digits === null ? '' : `0x${digits}`;
}
