/** Who traded a token against a quote in a range of the chain, with the sums of that range, from its transfers. */
import { NATIVE } from '../model/wallet-part.ts';
import { gapsBetween, prepareIsGap } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import type { TradingTransaction } from '../store/read/transaction-parts.ts';
import { addToSums, averageCostProfit, emptySums } from '../trades/profit.ts';
import { type SummedTrade, summedTrade, tradesOfTransaction } from '../trades/trade.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { type IdRange, prepareBlocksOfTransfers } from './blocks.ts';
import { KeptTransactions } from './kept-transactions.ts';
import type { Head } from './snapshot.ts';
import type { TradedPair, Trader } from './token-traders.ts';
import { prepareTokenTransactions, type ToldTransaction } from './token-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** A wallet and its newest trade of a range. */
export interface RecentTrader extends Trader {
  /** The first transfer of that trade's transaction. */
  last: number;
}

interface RecentTraders {
  /** By their newest trades, newest first; of one transaction the lower wallet first. */
  traders: RecentTrader[];
  /** The first transfer of the oldest transaction that was read, where the range goes on; else null. */
  readFrom: number | null;
}

/** The trades that count in sums, of the wallets that moved a token in its transaction. */
interface TradesTold extends ToldTransaction {
  trades: readonly { wallet: number; trade: SummedTrade }[];
}

function tell({ first, transfers }: TradingTransaction, token: number, ids: TradeIds): TradesTold {
  const trades = tradesOfTransaction(transfers, ids, token).flatMap(({ wallet, trade }) => {
    const summed = summedTrade(trade);
    return summed === null ? [] : [{ wallet, trade: summed }];
  });
  return { first, rows: transfers.length, trades };
}

/**
 * The traders of a token in a range of whole transactions, from the token's history. `isEnough` is told of each trader
 * as it is found and may end the read early; the sums then cover only what was read. Without `isEnough` the trades are
 * kept for the next read, which may reach further back or start at a later head.
 */
export function prepareTradersIn(
  db: Db,
): (
  pair: TradedPair,
  range: IdRange,
  ids: TradeIds,
  head: Head,
  budget: WorkBudget,
  isEnough?: (trader: RecentTrader) => boolean,
) => RecentTraders {
  const transactionsIn = prepareTokenTransactions(db, tell);
  const gapOf = prepareIsInGap(db);
  const keptTransactions = new KeptTransactions<TradesTold>(db);
  return ({ token, quote }, range, ids, head, budget, isEnough) => {
    // The native coin has no history of its own, but each of its trades moves the quote.
    const owner = token === NATIVE ? quote : token;
    if (owner === NATIVE || token === quote) return { traders: [], readFrom: null };
    const other = token === NATIVE ? token : quote;
    const others = new Set(other === NATIVE ? [NATIVE, ...ids.nativeEquivalents] : [other]);
    const name = `${owner} ${other}`;
    const kept = keptTransactions.of(name, ids, head);
    const isInGap = gapOf(head);
    const found = new Map<number, RecentTrader>();
    const read: TradesTold[] = [];
    let isLast = false;
    const add = (told: TradesTold) => {
      read.push(told);
      for (const { wallet, trade } of isInGap(told.first) ? [] : told.trades) {
        if (trade.token !== token || trade.quote !== quote) continue;
        const known = found.get(wallet);
        const trader = known ?? { wallet, sums: emptySums(), profit: 0n, last: told.first };
        addToSums(trader.sums, trade);
        if (known !== undefined) continue;
        found.set(wallet, trader);
        if (isEnough?.(trader)) isLast = true;
      }
    };
    const reading = transactionsIn(owner, { ...range, others }, ids, budget, kept);
    let next = reading.next();
    while (!next.done) {
      add(next.value);
      if (isLast) break;
      next = reading.next();
    }
    const readFrom = next.done ? next.value : null;
    const whole = { from: readFrom ?? range.from, below: range.below };
    if (next.done) keptTransactions.keep(name, whole, read, readFrom !== null);
    const traders = [...found.values()].map((each) => ({ ...each, profit: averageCostProfit(each.sums) }));
    return { traders: traders.sort((a, b) => b.last - a.last || a.wallet - b.wallet), readFrom };
  };
}

/** Whether a transfer lies in a block of which transfers are missing. */
function prepareIsInGap(db: Db): (head: Head) => (transfer: number) => boolean {
  const blocksOf = prepareBlocksOfTransfers(db);
  const isGap = prepareIsGap(db);
  return ({ startBlock, number }) => {
    const hasGaps = gapsBetween(db, { first: startBlock, last: number }).length > 0;
    return (transfer) => hasGaps && isGap(blocksOf([transfer])[0]!.number);
  };
}
