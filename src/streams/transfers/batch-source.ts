/** Transfers of decoded blocks, as the rows that the index returns once they are committed. */
import { bytesToDigits } from '../../lib/hex.ts';
import { type BlockBatch, packedHash, packedValue } from '../../model/block-batch.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import type { TransactionTransfer } from '../../query/transfers.ts';
import type { ChainInfo } from './event-json.ts';
import type { Direction } from './signals.ts';
import { MAX_LEGS, TransactionLegs } from './transaction-legs.ts';
import type { Parties } from './transaction-parties.ts';
import type { EventSource } from './transfer-event.ts';

export interface BatchContext {
  chainInfo: ChainInfo;
  tokenFacts: TokenSymbols;
  /** The indexed first transfer of a wallet, if any. */
  firstTransferOf(address: string): number | undefined;
}

const NO_SYMBOL = { symbol: null, decimals: null };

/** The addresses of a transfer, hex digits; `token` is empty for a native transfer. */
interface TransferParties {
  from: string;
  to: string;
  token: string;
}

export class BatchSource implements EventSource {
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** Id of the batch's first transfer. Position in the batch = `id - firstId`. */
  readonly firstId: number;
  readonly batch: BlockBatch;
  private readonly context: BatchContext;
  /** The previous batch of the same commit. */
  private readonly previous: BatchSource | null;
  private readonly addresses: string[];
  /** The transaction examined last. */
  private current: { first: number; legs: TransactionLegs | null } | null = null;
  /** Position of the first transfer of each address, by the address's position in `addresses`; null until needed. */
  private firstUses: Uint32Array | null = null;
  /** The senders and receivers; null until needed. */
  private wallets: Set<string> | null = null;

  constructor(
    batch: BlockBatch,
    firstId: number,
    context: BatchContext,
    previous: BatchSource | null = null,
  ) {
    this.previous = previous;
    this.batch = batch;
    this.firstId = firstId;
    this.context = context;
    this.chainInfo = context.chainInfo;
    this.tokenFacts = context.tokenFacts;
    this.addresses = addressesOf(batch);
  }

  addressesAt(i: number): TransferParties {
    const { batch, addresses } = this;
    return {
      from: addresses[batch.from[i]!]!,
      to: addresses[batch.to[i]!]!,
      token: batch.token[i]! < 0 ? '' : addresses[batch.token[i]!]!,
    };
  }

  /** The row of transfer `i`, which belongs to block `block` of the batch. */
  rowAt(i: number, block: number, eventIndex: number, { from, to, token }: TransferParties): EventRow {
    const { batch } = this;
    const { symbol, decimals } = token === '' ? NO_SYMBOL : this.tokenFacts(token);
    const logIndex = batch.logIndex[i]!;
    return {
      id: this.firstId + i,
      kind: batch.kind[i]!,
      amount: this.amountAt(i),
      tokenNumber: digitsAt(batch.tokenNumbers, batch.tokenNumberEnd, i),
      logIndex: logIndex < 0 ? null : logIndex,
      txHash: hashDigits(batch.txHashes, batch.tx[i]!),
      eventIndex,
      blockNumber: batch.number[block]!,
      blockHash: hashDigits(batch.hash, block),
      timestamp: batch.timestamp[block]!,
      from,
      to,
      token,
      symbol,
      decimals,
    };
  }

  legsOf({ id, eventIndex }: EventRow): TransactionLegs | null {
    const first = id - this.firstId - eventIndex;
    if (this.current?.first !== first) this.current = { first, legs: this.readLegs(first) };
    return this.current.legs;
  }

  isFirst({ id, from, to }: EventRow, direction: Direction): boolean {
    const i = id - this.firstId;
    this.firstUses ??= firstUsesOf(this.batch);
    const address = direction === 'in' ? this.batch.to[i]! : this.batch.from[i]!;
    if (this.firstUses[address] !== i) return false;
    const wallet = direction === 'in' ? to : from;
    for (let earlier = this.previous; earlier !== null; earlier = earlier.previous)
      if (earlier.hasWallet(wallet)) return false;
    const indexed = this.context.firstTransferOf(wallet);
    return indexed === undefined || indexed >= id; // the commit may already be done
  }

  partiesOf({ id }: EventRow): Parties | null {
    const { txFrom, txTo, tx } = this.batch;
    const at = tx[id - this.firstId]! * 20;
    if (txFrom.length === 0) return null;
    return {
      from: bytesToDigits(txFrom.subarray(at, at + 20)),
      to: bytesToDigits(txTo.subarray(at, at + 20)),
    };
  }

  private hasWallet(wallet: string): boolean {
    const { from, to } = this.batch;
    this.wallets ??= new Set([...from, ...to].map((at) => this.addresses[at]!));
    return this.wallets.has(wallet);
  }

  private readLegs(first: number): TransactionLegs | null {
    const { tx, transferCount, kind } = this.batch;
    const transfers: TransactionTransfer[] = [];
    for (let i = first; i < transferCount && tx[i] === tx[first]; i++) {
      if (transfers.length === MAX_LEGS) return null;
      transfers.push({ kind: kind[i]!, amount: this.amountAt(i), ...this.addressesAt(i) });
    }
    return new TransactionLegs(transfers);
  }

  private amountAt(i: number): string {
    const { kind, amounts, amountEnd } = this.batch;
    return kind[i] === TransferKind.erc721 ? '' : digitsAt(amounts, amountEnd, i);
  }
}

/** The position of each address's first transfer as sender or receiver. */
function firstUsesOf({ from, to, transferCount, addresses }: BlockBatch): Uint32Array {
  const firstUses = new Uint32Array(addresses.length / 20);
  for (let i = transferCount - 1; i >= 0; i--) {
    firstUses[from[i]!] = i;
    firstUses[to[i]!] = i;
  }
  return firstUses;
}

function addressesOf({ addresses }: BlockBatch): string[] {
  return Array.from({ length: addresses.length / 20 }, (_, i) =>
    bytesToDigits(addresses.subarray(i * 20, i * 20 + 20)),
  );
}

function hashDigits(hashes: Uint8Array, i: number): string {
  return bytesToDigits(packedHash(hashes, i));
}

function digitsAt(values: Uint8Array, ends: Uint32Array, i: number): string {
  return bytesToDigits(packedValue(values, ends, i));
}
