/** What a wallet's trades brought, by token, from its history. */
import { digitsToBigInt } from '../lib/hex.ts';
import { decodeSigned, ZERO_BALANCE } from '../lib/signed.ts';
import { movesOne } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { gapsBetween, prepareIsGap } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import { ProfitLedger } from '../trades/profit.ts';
import { type SummedTrade, summedTrade } from '../trades/trade.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { prepareBlocksOfTransfers, prepareLastIdsUpTo } from './blocks.ts';
import { KeptTransactions } from './kept-transactions.ts';
import type { Head } from './snapshot.ts';
import type { PlacedTransaction } from './token-transactions.ts';
import { tradeIn } from './wallet-trades.ts';
import { prepareWalletTrading } from './wallet-trading.ts';
import type { WalletTransaction } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** Trades per read of their blocks. */
const CHUNK = 500;

/** A wallet's trades of one token against one quote. */
export interface TokenProfit {
  /** tokens.id, or NATIVE. */
  token: number;
  /** Whether it is an ERC-721 collection, counted in tokens. */
  isCollection: boolean;
  ledger: ProfitLedger;
  /** Bought less sold over all quotes. */
  traded: bigint;
  /** The other quotes that the token was bought or sold for. */
  otherQuotes: ReadonlySet<number>;
  /** The first transfer of each trade's transaction, oldest first, and the profit up to it. */
  trades: { transfer: number; isBuy: boolean; realizedProfit: bigint }[];
}

interface WalletProfit {
  /** In the order of their first trades. */
  tokens: TokenProfit[];
  /** Trades in gaps, of any token and quote: they are in no sum. */
  uncertainTrades: number;
  /** The first transfer of the oldest transaction read, where the history is longer; else null. */
  readFrom: number | null;
}

/** A trade that counts in sums. */
interface CountedTrade extends PlacedTransaction {
  /** Null for one that is only listed. */
  trade: SummedTrade | null;
  isCollection: boolean;
}

function tell(transaction: WalletTransaction, wallet: number, ids: TradeIds): CountedTrade | null {
  const found = tradeIn(transaction, wallet, ids);
  if (found === null) return null;
  const { first, trade } = found;
  return { first, trade: summedTrade(trade), isCollection: movesOne(trade.asset?.kind ?? 0) };
}

/** The profits of a wallet against a quote, over the newest transfers of a wallet within the bounds of a reading. */
export function prepareWalletProfit(
  db: Db,
): (wallet: number, quote: number, ids: TradeIds, head: Head, budget: WorkBudget) => WalletProfit {
  const tradesOf = prepareWalletTrading(db, tell);
  const keptTrades = new KeptTransactions<CountedTrade>(db);
  const lastIdsUpTo = prepareLastIdsUpTo(db);
  const isInGap = prepareGapsOfTransfers(db);
  return (wallet, quote, ids, head, budget) => {
    const name = `${wallet}`;
    const range = { from: 1, below: lastIdsUpTo(head.number).lastTransfer + 1 };
    const trades: CountedTrade[] = [];
    const reading = tradesOf(wallet, range, ids, budget, keptTrades.of(name, ids, head));
    let next = reading.next();
    for (; !next.done; next = reading.next()) trades.push(next.value);
    const readFrom = next.value;
    keptTrades.keep(name, { ...range, from: readFrom ?? range.from }, trades, readFrom !== null);
    trades.reverse();
    const gaps = isInGap(
      trades.map(({ first }) => first),
      head,
    );
    const tokens = new Map<number, TokenTrades>();
    for (const { first, trade, isCollection } of trades) {
      if (trade === null || gaps.has(first)) continue;
      const found = tokens.get(trade.token) ?? new TokenTrades(trade.token, isCollection);
      tokens.set(trade.token, found);
      found.add(first, trade, quote);
    }
    return {
      tokens: [...tokens.values()].filter(({ trades }) => trades.length > 0),
      uncertainTrades: gaps.size,
      readFrom,
    };
  };
}

class TokenTrades implements TokenProfit {
  readonly token: number;
  readonly isCollection: boolean;
  readonly ledger = new ProfitLedger();
  traded = 0n;
  readonly otherQuotes = new Set<number>();
  readonly trades: TokenProfit['trades'] = [];

  constructor(token: number, isCollection: boolean) {
    this.token = token;
    this.isCollection = isCollection;
  }

  add(transfer: number, trade: SummedTrade, quote: number): void {
    const { isBuy, amount } = trade;
    this.traded += isBuy ? amount : -amount;
    if (trade.quote === quote) {
      this.ledger.add(trade);
      this.trades.push({ transfer, isBuy, realizedProfit: this.ledger.realizedProfit });
    } else this.otherQuotes.add(trade.quote);
  }
}

/** Those of the transfers that lie in blocks of which transfers are missing. */
export function prepareGapsOfTransfers(
  db: Db,
): (transfers: readonly number[], head: Head) => ReadonlySet<number> {
  const blocksOf = prepareBlocksOfTransfers(db);
  const isGap = prepareIsGap(db);
  return (transfers, { startBlock, number }) => {
    const found = new Set<number>();
    if (transfers.length === 0 || gapsBetween(db, { first: startBlock, last: number }).length === 0)
      return found;
    for (let from = 0; from < transfers.length; from += CHUNK) {
      const chunk = transfers.slice(from, from + CHUNK);
      for (const [i, block] of blocksOf(chunk).entries()) if (isGap(block.number)) found.add(chunk[i]!);
    }
    return found;
  };
}

/** A wallet's balance of an asset by its transfers; that of the native coin includes its equivalents. */
export function prepareAssetBalance(
  db: Db,
): (wallet: number, token: number, ids: Pick<TradeIds, 'nativeEquivalents'>) => bigint {
  const holding = db
    .prepare<[number, number], Buffer>('SELECT balance FROM holdings WHERE token = +? AND wallet = +?')
    .pluck();
  const native = db.prepare<[number], { received: string; sent: string }>(
    'SELECT hex(native_received) AS received, hex(native_sent) AS sent FROM wallets WHERE id = +?',
  );
  const held = (token: number, wallet: number): bigint =>
    decodeSigned(holding.get(token, wallet) ?? ZERO_BALANCE);
  return (wallet, token, { nativeEquivalents }) => {
    if (token !== NATIVE) return held(token, wallet);
    const { received = '', sent = '' } = native.get(wallet) ?? {};
    let balance = digitsToBigInt(received) - digitsToBigInt(sent);
    for (const equivalent of nativeEquivalents) balance += held(equivalent, wallet);
    return balance;
  };
}
