/** Transfers read from the index. Each reader has a source of its own, which keeps the transaction read last. */
import { LruMap } from '../../lib/lru-map.ts';
import { ZERO_DIGITS } from '../../model/address.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { StoredParties } from '../../query/stored-parties.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { type TokenSymbols, UNREAD_TOKEN } from '../../query/tokens.ts';
import { START_ROWS, type StoredTransfer, transactionRow } from '../../query/transaction-rows.ts';
import type { ChainInfo } from './event-json.ts';
import type { Direction } from './signals.ts';
import { equivalentsOf, type TradeContext } from './trade-facts.ts';
import { PartCollector, type SideFacts, type TransactionPart } from './transaction-part.ts';
import type { PartiesLookup, TransactionParties } from './transaction-parties.ts';
import { type EventSource, isDirect } from './transfer-event.ts';

/** A transaction with at most this many transfers is read as a whole; of a larger one, only the wallets asked for. */
const MAX_WHOLE = 64;
/** Rows read first: most wallets have few transfers in a transaction, but a long history after it. */
const FIRST_ROWS = 32;
/** Parts kept of the current transaction. */
const MAX_PARTS = 1_000;

export interface IndexSourceOptions {
  reads: Pick<
    StreamReads,
    | 'tokenSymbols'
    | 'transactionStart'
    | 'events'
    | 'eventsWithTransactions'
    | 'walletAddress'
    | 'transactionRows'
    | 'contractOf'
    | 'storedParties'
    | 'history'
    | 'firstTransferOf'
    | 'tokenStart'
    | 'tradeIds'
    | 'tradeRules'
  >;
  parties: Pick<TransactionParties, 'get'>;
  chainInfo: ChainInfo;
}

/** Tokens whose symbol is remembered, because contracts named in `paid` recur. */
const MAX_FACTS = 200;

interface CurrentTransaction {
  txHash: string;
  blockHash: string;
  /** The id of its first transfer. */
  first: number;
  /** Its transfers; null if there are more than MAX_WHOLE. */
  rows: readonly StoredTransfer[] | null;
  /** The number of its block, if transfers of that may be missing. */
  gap: number | null;
  /** By wallet. */
  parts: LruMap<number, TransactionPart>;
  /** The part being read in pieces. */
  reading: { collector: PartCollector; next: number } | null;
}

export class IndexSource implements EventSource {
  readonly chainInfo: ChainInfo;
  private readonly options: IndexSourceOptions;
  private current: CurrentTransaction | null = null;
  private readonly storedParties: StoredParties;
  /** Transactions read ahead that are complete, by the id of their first transfer. */
  private readonly ahead = new Map<number, StoredTransfer[]>();
  /** The metadata of tokens by contract, once read: it does not change then. */
  private readonly facts = new Map<string, ReturnType<TokenSymbols>>();

  constructor(options: IndexSourceOptions) {
    this.options = options;
    this.storedParties = options.reads.storedParties();
    this.chainInfo = options.chainInfo;
  }

  readonly tokenFacts: TokenSymbols = (token) => {
    let facts = this.facts.get(token);
    if (facts !== undefined) return facts;
    facts = this.options.reads.tokenSymbols(token);
    if (this.facts.size >= MAX_FACTS) this.facts.clear();
    if (facts !== UNREAD_TOKEN) this.facts.set(token, facts);
    return facts;
  };

  /**
   * The transfers of a list of ids, in its order. `withTransactions` prepares for their sides, in a third of the time.
   */
  read(ids: readonly number[], withTransactions: boolean): EventRow[] {
    const { reads } = this.options;
    this.ahead.clear();
    if (!withTransactions) return reads.events(ids);
    const { events, transactions } = reads.eventsWithTransactions(ids);
    for (const row of transactions) {
      const first = row.id - row.eventIndex;
      const transaction = this.ahead.get(first);
      if (transaction === undefined) this.ahead.set(first, [row]);
      else transaction.push(row);
    }
    for (const [first, { length }] of this.ahead) if (length === START_ROWS) this.ahead.delete(first);
    this.storedParties.load(
      events.filter((row) => !isDirect(row)),
      ({ id, eventIndex }, i) => this.ahead.get(id - eventIndex)?.[i],
    );
    return events;
  }

  isLarge(row: EventRow): boolean {
    return this.transactionOf(row).rows === null;
  }

  sideOf(row: EventRow, direction: Direction, withTrade: boolean): SideFacts | undefined {
    const transaction = this.transactionOf(row);
    const own = transaction.rows?.[row.eventIndex] ?? this.options.reads.transactionRows([row.id])[0]!;
    const wallet = direction === 'in' ? own.receiver : own.sender;
    let part = transaction.parts.get(wallet);
    if (part === undefined || (withTrade && !part.tellsTrade))
      part = this.readPart(transaction, wallet, withTrade);
    return part?.factsOf(row.eventIndex, own);
  }

  isFirst({ id, from, to }: EventRow, direction: Direction): boolean {
    return this.options.reads.firstTransferOf(direction === 'in' ? to : from) === id;
  }

  isFirstOfToken({ id, token }: EventRow): boolean {
    return this.options.reads.tokenStart(token)?.transfer === id;
  }

  partiesOf(row: EventRow): PartiesLookup | undefined {
    const parties = this.storedParties.of(row, this.transferAt);
    if (parties !== null) return { parties, reason: null };
    return this.directParties(row) ?? this.options.parties.get(row.txHash, row.blockHash);
  }

  /** Transfer `i` of the transaction of a row. */
  private readonly transferAt = (row: EventRow, i: number): StoredTransfer | undefined => {
    const { rows, first } = this.transactionOf(row);
    if (rows !== null) return rows[i];
    const [found] = this.options.reads.transactionRows([first + i]);
    return found !== undefined && found.id - found.eventIndex === first ? found : undefined;
  };

  /** The parties of the current transaction if it moved value itself: then the index knows them without the node. */
  private directParties({ txHash, blockHash }: EventRow): PartiesLookup | undefined {
    const { current } = this;
    if (current?.txHash !== txHash || current.blockHash !== blockHash) return undefined;
    const direct = current.rows?.find(({ kind }) => kind === TransferKind.nativeDirect);
    if (direct === undefined) return undefined;
    const { walletAddress } = this.options.reads;
    const from = walletAddress(direct.sender);
    return from === ZERO_DIGITS
      ? undefined
      : { parties: { from, to: walletAddress(direct.receiver) }, reason: null };
  }

  private transactionOf(row: EventRow): CurrentTransaction {
    const { id, eventIndex, txHash, blockHash } = row;
    const { current } = this;
    if (current?.txHash === txHash && current.blockHash === blockHash) return current;
    const { reads } = this.options;
    const first = id - eventIndex;
    const rows = this.ahead.get(first) ?? reads.transactionStart(first, MAX_WHOLE + 1);
    this.current = {
      txHash,
      blockHash,
      first,
      rows: rows.length > MAX_WHOLE ? null : rows,
      gap: row.uncertain === 1 ? row.blockNumber : null,
      parts: new LruMap(MAX_PARTS),
      reading: null,
    };
    return this.current;
  }

  /** Reads the part of a wallet, or of a large transaction its next piece; undefined until it is complete. */
  private readPart(
    transaction: CurrentTransaction,
    wallet: number,
    withTrade: boolean,
  ): TransactionPart | undefined {
    const collector = this.collectPart(transaction, wallet, withTrade);
    if (collector === undefined) return undefined;
    const { contractOf } = this.options.reads;
    const part = collector.finish(contractOf, () => transaction.gap);
    transaction.parts.set(wallet, part);
    return part;
  }

  private collectPart(
    transaction: CurrentTransaction,
    wallet: number,
    withTrade: boolean,
  ): PartCollector | undefined {
    const { rows, first } = transaction;
    const begin = () => new PartCollector(wallet, withTrade ? this.tradeContext() : null);
    if (rows !== null) {
      const collector = begin();
      for (const row of rows)
        if (row.sender === wallet || row.receiver === wallet)
          collector.add(row.eventIndex, transactionRow(row));
      return collector;
    }
    const begun = transaction.reading?.collector;
    if (begun?.wallet !== wallet || (withTrade && !begun.tellsTrade))
      transaction.reading = { collector: begin(), next: first };
    const { reading } = transaction;
    if (reading === null || !this.readPiece(first, reading)) return undefined;
    transaction.reading = null;
    return reading.collector;
  }

  private tradeContext(): TradeContext | null {
    const { reads } = this.options;
    const ids = reads.tradeIds();
    return ids && { ids, equivalents: equivalentsOf(reads.tradeRules()) };
  }

  /** Reads some pages of the wallet's history, which leads to its transfers. Returns true at the transaction's end. */
  private readPiece(first: number, reading: NonNullable<CurrentTransaction['reading']>): boolean {
    const { history, transactionRows } = this.options.reads;
    const { collector } = reading;
    const { ids, next } = history(collector.wallet, reading.next, Number.MAX_SAFE_INTEGER);
    for (let at = 0, count = FIRST_ROWS; at < ids.length; at += count, count = ids.length) {
      for (const row of transactionRows(ids.slice(at, at + count))) {
        if (row.id - row.eventIndex !== first) return true;
        collector.add(row.eventIndex, transactionRow(row));
        reading.next = row.id + 1; // the next row may be unreadable
      }
    }
    reading.next = next;
    return next === Number.MAX_SAFE_INTEGER;
  }
}
