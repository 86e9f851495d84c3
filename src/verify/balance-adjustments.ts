/** Balance changes of accounts other than transfers: fees, withdrawals, deposits of rollups. */
import {
  type JsonObject,
  readAddress,
  readArray,
  readBigInt,
  readData,
  readObject,
} from '../decode/read-json.ts';
import { UpstreamError } from '../errors.ts';
import { ZERO_ADDRESS } from '../lib/address.ts';
import type { Hex } from '../types.ts';

/** Withdrawals are in gwei. */
const WEI_PER_GWEI = 1_000_000_000n;

export class BalanceAdjustments {
  private readonly net = new Map<Hex, bigint>();
  private readonly producers = new Set<Hex>();
  private readonly senderSet = new Set<Hex>();

  /** Adds a block with full transactions and its receipts, as the node gives them. Throws UpstreamError `malformed`. */
  add(block: unknown, receipts: unknown): void {
    const { miner, transactions, withdrawals = [], hash } = readObject(block, 'a block');
    this.producers.add(readLowerCaseAddress(miner, 'miner'));
    for (const withdrawal of readArray(withdrawals, 'withdrawals')) {
      const { address, amount } = readObject(withdrawal, 'a withdrawal');
      this.adjust(
        readLowerCaseAddress(address, 'address'),
        readOptionalInteger(amount, 'amount') * WEI_PER_GWEI,
      );
    }
    const paid = readArray(receipts, 'receipts');
    for (const [i, item] of readArray(transactions, 'transactions').entries()) {
      const transaction = readObject(item, 'a transaction');
      const receipt = readObject(paid[i], 'a receipt');
      if (receipt.blockHash !== hash)
        throw new UpstreamError('inconsistent', 'the node sent receipts of another block');
      const sender = readLowerCaseAddress(transaction.from, 'from');
      this.senderSet.add(sender);
      this.adjust(sender, readOptionalInteger(transaction.mint, 'mint') - feeOf(receipt));
    }
  }

  /** What an address gained by other means than transfers, wei; usually negative. */
  netOf(address: Hex): bigint {
    return this.net.get(address) ?? 0n;
  }

  /** Who sent transactions. */
  senders(): Iterable<Hex> {
    return this.senderSet;
  }

  /** Neither is compared: block producers earn fees by rules of the chain, and the zero address stands for minting. */
  isExempt(address: Hex): boolean {
    return this.producers.has(address) || address === ZERO_ADDRESS;
  }

  private adjust(address: Hex, wei: bigint): void {
    this.net.set(address, this.netOf(address) + wei);
  }
}

/** Gas, blobs, and what rollups charge for their parent chain. */
function feeOf(receipt: JsonObject): bigint {
  return (
    readOptionalInteger(receipt.gasUsed, 'gasUsed') *
      readOptionalInteger(receipt.effectiveGasPrice, 'effectiveGasPrice') +
    readOptionalInteger(receipt.blobGasUsed, 'blobGasUsed') *
      readOptionalInteger(receipt.blobGasPrice, 'blobGasPrice') +
    readOptionalInteger(receipt.l1Fee, 'l1Fee')
  );
}

/** Absent is zero. */
function readOptionalInteger(value: unknown, what: string): bigint {
  return value === undefined || value === null ? 0n : readBigInt(readData(value, what), what);
}

function readLowerCaseAddress(value: unknown, what: string): Hex {
  return `0x${readAddress(value, what)}`;
}
