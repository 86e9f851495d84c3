/** Transfers of decoded blocks, as the rows that the index returns once they are committed. */
import { bytesToBigInt, bytesToDigits, type Hex } from '../../lib/hex.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { ZERO_DIGITS } from '../../model/address.ts';
import { type BlockBatch, namesParties, packedHash, packedValue } from '../../model/block-batch.ts';
import { isGap } from '../../model/block-gap.ts';
import type { TradeRules } from '../../model/trade-rules.ts';
import { movesOne, TransferKind } from '../../model/transfer-kind.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import type { EventRow, TransferAddresses } from '../../query/events.ts';
import { type TokenSymbols, UNREAD_TOKEN } from '../../query/tokens.ts';
import { tradeIdsOf } from '../../trades/trade-ids.ts';
import type { ChainInfo } from './event-json.ts';
import type { Direction } from './signals.ts';
import { equivalentsOf, type TradeContext } from './trade-facts.ts';
import { PartCollector, type SideFacts, type TransactionPart } from './transaction-part.ts';
import type { PartiesLookup, TransactionParties } from './transaction-parties.ts';
import type { EventSource } from './transfer-event.ts';

export interface BatchContext {
  chainInfo: ChainInfo;
  tokenFacts: TokenSymbols;
  /** The indexed first transfer of a wallet, if any. */
  firstTransferOf(address: string): number | undefined;
  /** The first indexed transfer of a contract and its kind, if any. */
  tokenStart(contract: string): { transfer: number; kind: number } | undefined;
  tradeRules(): TradeRules;
  /** Those of transactions whose parties the blocks do not name. */
  parties: Pick<TransactionParties, 'get'>;
}

/** A transaction with more transfers is examined in pieces of this many transfers of the wallet. */
const TRANSFERS_PER_PIECE = 1_000;
/** Parts kept of the current transaction. */
const MAX_PARTS = 1_000;
const UNKNOWN_PARTIES: PartiesLookup = {
  parties: null,
  reason: 'the block was decoded without its transactions',
};

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
  /** The transaction examined last, by its first transfer, with the parts of wallets by their addresses' positions. */
  private current: {
    first: number;
    parts: LruMap<number, TransactionPart>;
    reading: PartInProgress | null;
  } | null = null;
  /** Null until needed. */
  private uses: AddressUses | null = null;
  /** The senders and receivers; null until needed. */
  private wallets: Set<string> | null = null;
  /** What trades are told by, and each contract's first transfer in the batch; null until needed. */
  private trades: TradeContext | null = null;
  private starts: ReadonlyMap<string, number> | null = null;

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

  addressesAt(i: number): TransferAddresses {
    const { batch, addresses } = this;
    return {
      from: addresses[batch.from[i]!]!,
      to: addresses[batch.to[i]!]!,
      token: batch.token[i]! < 0 ? '' : addresses[batch.token[i]!]!,
    };
  }

  /** The row of transfer `i`, which belongs to block `block` of the batch. */
  rowAt(i: number, block: number, eventIndex: number, { from, to, token }: TransferAddresses): EventRow {
    const { batch } = this;
    const { symbol, decimals, viewKind } = token === '' ? UNREAD_TOKEN : this.tokenFacts(token);
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
      uncertain: isGap(batch.gaps, batch.number[block]!) ? 1 : 0,
      from,
      to,
      token,
      symbol,
      decimals,
      viewKind,
    };
  }

  isLarge({ id, eventIndex }: EventRow): boolean {
    const { tx } = this.batch;
    const first = id - this.firstId - eventIndex;
    return tx[first + TRANSFERS_PER_PIECE] === tx[first];
  }

  sideOf(
    { id, eventIndex, blockNumber }: EventRow,
    direction: Direction,
    withTrade: boolean,
  ): SideFacts | undefined {
    const { batch } = this;
    const i = id - this.firstId;
    const first = i - eventIndex;
    if (this.current?.first !== first) this.current = { first, parts: new LruMap(MAX_PARTS), reading: null };
    const { current } = this;
    const wallet = direction === 'in' ? batch.to[i]! : batch.from[i]!;
    let part = current.parts.get(wallet);
    if (part === undefined || (withTrade && !part.tellsTrade)) {
      const begun = current.reading?.collector;
      if (current.reading === null || begun?.wallet !== wallet || (withTrade && !begun.tellsTrade))
        current.reading = this.startReading(i, first, wallet, withTrade);
      if (!this.readPiece(first, current.reading)) return undefined;
      part = current.reading.collector.finish(this.contractOf, () =>
        isGap(batch.gaps, blockNumber) ? blockNumber : null,
      );
      current.reading = null;
      current.parts.set(wallet, part);
    }
    return part.factsOf(eventIndex, this.partTransfer(i));
  }

  isFirst({ id, from, to }: EventRow, direction: Direction): boolean {
    const i = id - this.firstId;
    if (this.addressUses().previous[2 * i + (direction === 'in' ? 1 : 0)] !== NONE) return false;
    const wallet = direction === 'in' ? to : from;
    for (let earlier = this.previous; earlier !== null; earlier = earlier.previous)
      if (earlier.hasWallet(wallet)) return false;
    const indexed = this.context.firstTransferOf(wallet);
    return indexed === undefined || indexed >= id; // the commit may already be done
  }

  isFirstOfToken({ id, token }: EventRow): boolean {
    if (this.ownStarts().get(token) !== id - this.firstId) return false;
    if (this.previous?.formOf(token) !== undefined) return false;
    const indexed = this.context.tokenStart(token);
    return indexed === undefined || indexed.transfer >= id; // the commit may already be done
  }

  partiesOf({ id, txHash, blockHash }: EventRow): PartiesLookup | undefined {
    const { txFrom, txTo, tx } = this.batch;
    if (txFrom.length === 0) return UNKNOWN_PARTIES;
    const transaction = tx[id - this.firstId]!;
    // Later the index has none either, and the node is asked.
    if (!namesParties(this.batch, transaction)) return this.context.parties.get(txHash, blockHash);
    const at = transaction * 20;
    const from = bytesToDigits(txFrom.subarray(at, at + 20));
    const to = bytesToDigits(txTo.subarray(at, at + 20));
    return { parties: { from, to }, reason: null };
  }

  /** The lists by positions of addresses, as in `partTransfer`. */
  private tradeContext(): TradeContext {
    if (this.trades !== null) return this.trades;
    const rules = this.context.tradeRules();
    const positions = new Map(this.addresses.map((address, at) => [address, at]));
    const positionOf = (address: Hex) => positions.get(address.slice(2));
    const ids = tradeIdsOf(rules, {
      zero: positions.get(ZERO_DIGITS) ?? NONE,
      walletOf: positionOf,
      tokenOf(address) {
        const position = positionOf(address);
        return position === undefined ? undefined : tokenAt(position);
      },
      countsUnits: (token) => {
        const contract = this.contractOf(token);
        return (this.context.tokenStart(contract)?.kind ?? this.formOf(contract)) === TransferKind.erc20;
      },
    });
    this.trades = { ids, equivalents: equivalentsOf(rules) };
    return this.trades;
  }

  /** The kind of the first transfer of a contract in the commit up to the end of this batch. */
  private formOf(contract: string): number | undefined {
    const earlier = this.previous?.formOf(contract);
    const start = earlier === undefined ? this.ownStarts().get(contract) : undefined;
    return start === undefined ? earlier : this.batch.kind[start];
  }

  /** The first transfer of each contract, as a position in the batch. */
  private ownStarts(): ReadonlyMap<string, number> {
    if (this.starts !== null) return this.starts;
    const starts = new Map<string, number>();
    const { token, transferCount } = this.batch;
    for (let i = 0; i < transferCount; i++) {
      const contract = token[i]! < 0 ? undefined : this.addresses[token[i]!];
      if (contract !== undefined && !starts.has(contract)) starts.set(contract, i);
    }
    this.starts = starts;
    return starts;
  }

  private hasWallet(wallet: string): boolean {
    const { from, to } = this.batch;
    this.wallets ??= new Set([...from, ...to].map((at) => this.addresses[at]!));
    return this.wallets.has(wallet);
  }

  private addressUses(): AddressUses {
    this.uses ??= addressUsesOf(this.batch);
    return this.uses;
  }

  /** A reading of a wallet's transfers from its first one in the transaction; transfer `i` is one of them. */
  private startReading(i: number, first: number, wallet: number, withTrade: boolean): PartInProgress {
    const { previous } = this.addressUses();
    let next = i;
    for (let at = i; at >= first; at = previous[this.useAt(at, wallet)]!) next = at;
    return { collector: new PartCollector(wallet, withTrade ? this.tradeContext() : null), next };
  }

  /** Reads a piece of the wallet's transfers; returns true at the end of the transaction. */
  private readPiece(first: number, reading: PartInProgress): boolean {
    const { tx } = this.batch;
    const { next } = this.addressUses();
    const { collector } = reading;
    for (let read = 0; read < TRANSFERS_PER_PIECE; read++) {
      const i = reading.next;
      if (i === NONE || tx[i] !== tx[first]) return true;
      collector.add(i - first, this.partTransfer(i));
      reading.next = next[this.useAt(i, collector.wallet)]!;
    }
    return false;
  }

  private useAt(i: number, wallet: number): number {
    return 2 * i + (this.batch.to[i] === wallet ? 1 : 0);
  }

  private partTransfer(i: number): PartTransfer {
    const { from, to, kind, token, amounts, amountEnd, tokenNumbers, tokenNumberEnd } = this.batch;
    return {
      from: from[i]!,
      to: to[i]!,
      kind: kind[i]!,
      token: tokenAt(token[i]!),
      tokenNumber: digitsAt(tokenNumbers, tokenNumberEnd, i),
      amount: movesOne(kind[i]!) ? 1n : bytesToBigInt(packedValue(amounts, amountEnd, i)),
    };
  }

  /** Of `tokenAt`. */
  private readonly contractOf = (token: number): string => this.addresses[token - 1]!;

  private amountAt(i: number): string {
    const { kind, amounts, amountEnd } = this.batch;
    return movesOne(kind[i]!) ? '' : digitsAt(amounts, amountEnd, i);
  }
}

/** A wallet's part being read; `next` is its next transfer, NONE at its last. */
interface PartInProgress {
  collector: PartCollector;
  next: number;
}

/** Marks the end of a list of uses. */
const NONE = -1;

/**
 * The transfers of each address as linked lists: at `2 * i` and `2 * i + 1` the transfers of the sender and of the
 * receiver of transfer `i` that precede and follow it in the batch.
 */
interface AddressUses {
  previous: Int32Array;
  next: Int32Array;
}

/** The id of a token by the position of its address; NATIVE for none. */
function tokenAt(position: number): number {
  return position + 1;
}

function addressUsesOf({ from, to, transferCount, addresses }: BlockBatch): AddressUses {
  const previous = new Int32Array(2 * transferCount);
  const next = new Int32Array(2 * transferCount);
  const nearest = new Int32Array(addresses.length / 20).fill(NONE);
  for (let i = 0; i < transferCount; i++) {
    previous[2 * i] = nearest[from[i]!]!;
    previous[2 * i + 1] = nearest[to[i]!]!;
    nearest[from[i]!] = i;
    nearest[to[i]!] = i;
  }
  nearest.fill(NONE);
  for (let i = transferCount - 1; i >= 0; i--) {
    next[2 * i] = nearest[from[i]!]!;
    next[2 * i + 1] = nearest[to[i]!]!;
    nearest[from[i]!] = i;
    nearest[to[i]!] = i;
  }
  return { previous, next };
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
