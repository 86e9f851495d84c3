/** The receipts of a block, each checked against its transaction. */
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledNumber } from '../lib/hex.ts';
import { previewValue } from '../lib/text.ts';
import { mayBeCreation, ZERO_DIGITS } from '../model/address.ts';
import { hasBloomBits } from './bloom.ts';
import {
  type Items,
  type JsonObject,
  readHex,
  readItems,
  readObject,
  readOptionalAddress,
} from './read-json.ts';

/**
 * The receipts of a block by transaction. There may be one more than transactions: Bor's state sync and Celo's block
 * receipt belong to no transaction, and their logs to the block.
 */
export class BlockReceipts {
  private readonly items: Items;
  private readonly blockHash: string;
  private readonly txHashes: readonly string[];
  /** Position of the receipt without a transaction; the number of receipts if each has one. */
  private readonly extraAt: number;

  /** Throws UpstreamError `inconsistent` when their number does not fit the transactions. */
  constructor(value: unknown, blockHash: string, txHashes: readonly string[]) {
    this.items = readItems(value, 'receipts');
    this.blockHash = blockHash;
    this.txHashes = txHashes;
    const { length } = this.items;
    const count = txHashes.length;
    if (length !== count && length !== count + 1) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent ${length} receipts for the ${count} transactions of block ${blockHash}`,
      );
    }
    this.extraAt = length === count ? length : this.findExtra();
  }

  /** The position of a transaction's receipt. */
  positionOf(index: number): number {
    return index < this.extraAt ? index : index + 1;
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
    if (!isSameHex(transactionHash, txHash) || !isSameHex(blockHash, this.blockHash)) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent a receipt of ${previewValue(transactionHash)} in block ${previewValue(blockHash)} ` +
          `for ${txHash} in ${this.blockHash}`,
      );
    }
    return receipt;
  }

  /** Hash of the receipt without a transaction, null if each has one. Nodes may trace it too. */
  get extraHash(): string | null {
    if (this.extraAt === this.items.length) return null;
    return readHex(this.read(this.extraAt)['transactionHash'], 64, 'transactionHash of a receipt');
  }

  /** The receipt without a transaction and its hash, when it comes before the transaction of this index. */
  extraBefore(index: number): { receipt: JsonObject; at: number; hash: string } | null {
    const hash = index === this.extraAt ? this.extraHash : null;
    if (hash === null) return null;
    const receipt = this.read(this.extraAt);
    if (!isSameHex(receipt['blockHash'], this.blockHash)) {
      throw new UpstreamError(
        'inconsistent',
        `the node sent a receipt of block ${previewValue(receipt['blockHash'])} for ${this.blockHash}`,
      );
    }
    return { receipt, at: this.extraAt, hash };
  }

  /** Whether the extra receipt is that of a transaction: such a one used gas, or is in the block. */
  isOfTransaction({ receipt, hash }: { receipt: JsonObject; hash: string }): boolean {
    if (hash === this.blockHash) return false;
    return spelledNumber(receipt['gasUsed']) > 0 || this.txHashes.includes(hash);
  }

  private findExtra(): number {
    const at = this.txHashes.findIndex((hash, i) => !isSameHex(this.read(i)['transactionHash'], hash));
    return at < 0 ? this.txHashes.length : at;
  }

  private read(position: number): JsonObject {
    return readObject(this.items.at(position), 'receipt');
  }
}

/** The contract that a transaction to `to` created; null if it created none. */
export function createdContract(to: unknown, receipt: JsonObject): string | null {
  if (!mayBeCreation(to)) return null;
  const created = readOptionalAddress(receipt['contractAddress'], 'contractAddress');
  return created === null || created === ZERO_DIGITS ? null : `0x${created}`;
}

/** The receiver of a transaction, or the contract it created; empty if there is neither. */
export function receiverOf(to: unknown, receipt: JsonObject): string {
  return createdContract(to, receipt) ?? addressText(to, 'transaction to');
}

/** An address as `0x` text; empty if there is none. The batch checks the digits when it stores them. */
export function addressText(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length === 42) return value;
  const digits = readOptionalAddress(value, what);
  return digits === null ? '' : `0x${digits}`;
}
