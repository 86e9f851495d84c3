/** Native balance changes other than transfers: fees, withdrawals, rollup deposits. */

import { mintOf, transactionHash } from '../decode/block.ts';
import {
  type JsonObject,
  readAddress,
  readArray,
  readBigInt,
  readHex,
  readObject,
  readOptionalAddress,
} from '../decode/read-json.ts';
import { UpstreamError } from '../lib/errors.ts';
import { type Hex, hexToBytes, isSameHex } from '../lib/hex.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import { isSemiFungible } from '../model/transfer-kind.ts';
import type { RpcClient } from '../node/client.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS, walletAddress } from '../store/addresses.ts';
import { readLastBlock } from '../store/chain.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { balanceCall, decodeUint } from './balance-calls.ts';
import { balanceAfter, walletTokenTransfers } from './token-sample.ts';

/** Withdrawals are in gwei. */
const WEI_PER_GWEI = 1_000_000_000n;

export class BalanceAdjustments {
  private readonly net = new Map<Hex, bigint>();
  private readonly producers = new Set<Hex>();
  private readonly senderSet = new Set<Hex>();
  private readonly mintsAreTransfers: boolean;

  /** `mintsAreTransfers`: whether the index counts the mints of OP stack deposits as transfers. */
  constructor(mintsAreTransfers: boolean) {
    this.mintsAreTransfers = mintsAreTransfers;
  }

  /** Adds a block with full transactions and its receipts, as sent by the node. Throws UpstreamError `malformed`. */
  add(block: unknown, receipts: unknown): void {
    const { miner, transactions: sent, withdrawals, hash } = readObject(block, 'a block');
    const producer = readOptionalAddress(miner, 'miner');
    if (producer !== null) this.producers.add(`0x${producer}`);
    for (const withdrawal of readArray(withdrawals ?? null, 'withdrawals')) {
      const { address, amount } = readObject(withdrawal, 'a withdrawal');
      this.adjust(
        readLowerCaseAddress(address, 'address'),
        readOptionalInteger(amount, 'amount') * WEI_PER_GWEI,
      );
    }
    const transactions = readArray(sent, 'transactions').map((item) => readObject(item, 'a transaction'));
    const paid = receiptsOf(transactions, readArray(receipts, 'receipts'));
    for (const [i, transaction] of transactions.entries()) {
      const receipt = readObject(paid[i], 'a receipt');
      if (typeof hash !== 'string' || !isSameHex(receipt.blockHash, hash.toLowerCase()))
        throw new UpstreamError('inconsistent', 'the node sent receipts of another block');
      const sender = readLowerCaseAddress(transaction.from, 'from');
      this.senderSet.add(sender);
      const isTransfer = this.mintsAreTransfers && mintOf(transaction) !== null;
      const mint = isTransfer ? 0n : readOptionalInteger(transaction.mint, 'mint');
      this.adjust(sender, mint - feeOf(receipt));
    }
  }

  /** An address's gain by means other than transfers, wei; usually negative. */
  netOf(address: Hex): bigint {
    return this.net.get(address) ?? 0n;
  }

  /** The senders of the transactions. */
  senders(): Iterable<Hex> {
    return this.senderSet;
  }

  /** Skips block producers, which earn fees without a transfer, and the zero address, which mints and burns. */
  isExempt(address: Hex): boolean {
    return this.producers.has(address) || address === ZERO_ADDRESS;
  }

  private adjust(address: Hex, wei: bigint): void {
    this.net.set(address, this.netOf(address) + wei);
  }
}

/** The receipts of the transactions; a further one, such as Bor's of its state sync, paid nothing. */
function receiptsOf(transactions: readonly JsonObject[], receipts: readonly unknown[]): readonly unknown[] {
  if (receipts.length <= transactions.length) return receipts;
  const hashes = new Set(transactions.map(transactionHash));
  return receipts.filter((item) =>
    hashes.has(readHex(readObject(item, 'a receipt').transactionHash, 64, 'transactionHash')),
  );
}

/** Gas, blobs, and the parent chain fee of rollups. */
function feeOf(receipt: JsonObject): bigint {
  return (
    readOptionalInteger(receipt.gasUsed, 'gasUsed') *
      readOptionalInteger(receipt.effectiveGasPrice, 'effectiveGasPrice') +
    readOptionalInteger(receipt.blobGasUsed, 'blobGasUsed') *
      readOptionalInteger(receipt.blobGasPrice, 'blobGasPrice') +
    readOptionalInteger(receipt.l1Fee, 'l1Fee')
  );
}

/** Treats a missing value as zero. */
function readOptionalInteger(value: unknown, what: string): bigint {
  return value === undefined || value === null ? 0n : readBigInt(value, what);
}

function readLowerCaseAddress(value: unknown, what: string): Hex {
  return `0x${readAddress(value, what)}`;
}

/** The search for the block in which a token balance moved without an indexed transfer. */
interface DriftRange {
  token: Hex;
  wallet: number;
  /** The offset changed between `from` and `to`. */
  from: number;
  to: number;
}

/** A block at whose end the offset differs from that of the block before; null when unknown. */
export async function findDriftBlock(
  { db, client, signal }: { db: Db; client: RpcClient; signal: AbortSignal },
  { token, wallet, from, to }: DriftRange,
): Promise<number | null> {
  const history = inReadTransaction(db, () => readHistory(db, token, wallet));
  if (history === null) return null;
  const offsetAt = async (block: number): Promise<bigint | null> => {
    if (block < 0) return 0n;
    const [reply] = await client.batch([balanceCall(token, history.owner, block)], signal);
    const actual = reply && decodeUint(reply);
    return typeof actual === 'bigint' ? actual - history.balanceAt(block) : 0n;
  };
  const before = await offsetAt(from);
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if ((await offsetAt(middle)) === before) same = middle;
    else other = middle;
  }
  return other;
}

function readHistory(
  db: Db,
  token: Hex,
  wallet: number,
): { owner: Hex; balanceAt: (block: number) => bigint } | null {
  const found = getByAddress(
    db.prepare<AddressKeys, { id: number; kind: number }>(
      `SELECT t.id, t.kind FROM ${WALLET_BY_ADDRESS} JOIN tokens t ON t.wallet = w.id`,
    ),
    hexToBytes(token),
  );
  const owner = walletAddress(db, wallet);
  if (found === undefined || owner === null || isSemiFungible(found.kind)) return null;
  const rows = walletTokenTransfers(db, wallet, found.id);
  if (rows === null) return null;
  return {
    owner,
    balanceAt: (block) => balanceAfter(rows, wallet, readLastBlock(db, block)?.lastTransfer ?? 0),
  };
}
