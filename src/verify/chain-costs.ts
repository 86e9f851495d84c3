/** What blocks take from and give to accounts besides transfers: fees, withdrawals, deposits of rollups. */
import { UpstreamError } from '../errors.ts';
import type { Hex } from '../types.ts';

type Json = Record<string, unknown>;

/** Withdrawals are in gwei. */
const WEI_PER_GWEI = 1_000_000_000n;

export class ChainCosts {
  private readonly gains = new Map<Hex, bigint>();
  private readonly producers = new Set<Hex>();
  private readonly payers = new Set<Hex>();

  /** Takes a block with whole transactions, and its receipts, as the node gives them. Throws UpstreamError `malformed`. */
  add(block: unknown, receipts: unknown): void {
    const { miner, transactions, withdrawals = [], hash } = asObject(block);
    this.producers.add(asAddress(miner));
    for (const withdrawal of asArray(withdrawals)) {
      const { address, amount } = asObject(withdrawal);
      this.gain(asAddress(address), asInteger(amount) * WEI_PER_GWEI);
    }
    const paid = asArray(receipts).map(asObject);
    for (const [i, transaction] of asArray(transactions).map(asObject).entries()) {
      const receipt = paid[i];
      if (receipt === undefined || receipt.blockHash !== hash)
        throw new UpstreamError('inconsistent', 'the node sent receipts of another block');
      const sender = asAddress(transaction.from);
      this.payers.add(sender);
      this.gain(sender, asInteger(transaction.mint) - feeOf(receipt));
    }
  }

  /** What an address gained by other means than transfers, wei; usually below zero. */
  of(address: Hex): bigint {
    return this.gains.get(address) ?? 0n;
  }

  /** Who sent transactions. */
  senders(): Iterable<Hex> {
    return this.payers;
  }

  /** Block producers earn fees by rules of the chain, and the zero address stands for minting: neither is compared. */
  isExempt(address: Hex): boolean {
    return this.producers.has(address) || /^0x0+$/.test(address);
  }

  private gain(address: Hex, wei: bigint): void {
    this.gains.set(address, this.of(address) + wei);
  }
}

/** Gas, blobs, and what rollups charge for their parent chain. */
function feeOf(receipt: Json): bigint {
  return (
    asInteger(receipt.gasUsed) * asInteger(receipt.effectiveGasPrice) +
    asInteger(receipt.blobGasUsed) * asInteger(receipt.blobGasPrice) +
    asInteger(receipt.l1Fee)
  );
}

function malformed(what: string, value: unknown): UpstreamError {
  return new UpstreamError('malformed', `the node sent ${JSON.stringify(value)?.slice(0, 80)} as ${what}`);
}

function asObject(value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw malformed('an object', value);
  return value as Json;
}

function asArray(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed('a list', value);
  return value;
}

/** Absent is zero. */
function asInteger(value: unknown): bigint {
  if (value === undefined || value === null) return 0n;
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]+$/.test(value)) throw malformed('a quantity', value);
  return BigInt(value);
}

function asAddress(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) throw malformed('an address', value);
  return `0x${value.slice(2).toLowerCase()}`;
}
