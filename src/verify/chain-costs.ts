/** Balance changes of accounts other than transfers: fees, withdrawals, deposits of rollups. */
import {
  type JsonObject,
  readAddress,
  readArray,
  readData,
  readInteger,
  readObject,
} from '../decode/json.ts';
import { UpstreamError } from '../errors.ts';
import { ZERO_ADDRESS } from '../lib/address.ts';
import type { Hex } from '../types.ts';

/** Withdrawals are in gwei. */
const WEI_PER_GWEI = 1_000_000_000n;

export class ChainCosts {
  private readonly gains = new Map<Hex, bigint>();
  private readonly producers = new Set<Hex>();
  private readonly payers = new Set<Hex>();

  /** Adds a block with full transactions and its receipts, as the node gives them. Throws UpstreamError `malformed`. */
  add(block: unknown, receipts: unknown): void {
    const { miner, transactions, withdrawals = [], hash } = readObject(block, 'a block');
    this.producers.add(addressOf(miner, 'miner'));
    for (const withdrawal of readArray(withdrawals, 'withdrawals')) {
      const { address, amount } = readObject(withdrawal, 'a withdrawal');
      this.gain(addressOf(address, 'address'), integer(amount, 'amount') * WEI_PER_GWEI);
    }
    const paid = readArray(receipts, 'receipts');
    for (const [i, item] of readArray(transactions, 'transactions').entries()) {
      const transaction = readObject(item, 'a transaction');
      const receipt = readObject(paid[i], 'a receipt');
      if (receipt.blockHash !== hash)
        throw new UpstreamError('inconsistent', 'the node sent receipts of another block');
      const sender = addressOf(transaction.from, 'from');
      this.payers.add(sender);
      this.gain(sender, integer(transaction.mint, 'mint') - feeOf(receipt));
    }
  }

  /** What an address gained by other means than transfers, wei; usually negative. */
  of(address: Hex): bigint {
    return this.gains.get(address) ?? 0n;
  }

  /** Who sent transactions. */
  senders(): Iterable<Hex> {
    return this.payers;
  }

  /** Neither is compared: block producers earn fees by rules of the chain, and the zero address stands for minting. */
  isExempt(address: Hex): boolean {
    return this.producers.has(address) || address === ZERO_ADDRESS;
  }

  private gain(address: Hex, wei: bigint): void {
    this.gains.set(address, this.of(address) + wei);
  }
}

/** Gas, blobs, and what rollups charge for their parent chain. */
function feeOf(receipt: JsonObject): bigint {
  return (
    integer(receipt.gasUsed, 'gasUsed') * integer(receipt.effectiveGasPrice, 'effectiveGasPrice') +
    integer(receipt.blobGasUsed, 'blobGasUsed') * integer(receipt.blobGasPrice, 'blobGasPrice') +
    integer(receipt.l1Fee, 'l1Fee')
  );
}

/** Absent is zero. */
function integer(value: unknown, what: string): bigint {
  return value === undefined || value === null ? 0n : readInteger(readData(value, what), what);
}

function addressOf(value: unknown, what: string): Hex {
  return `0x${readAddress(value, what).toLowerCase()}`;
}
