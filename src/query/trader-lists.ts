/** Pages of a token's traders, in the order and over the range that is asked for. */
import { NATIVE } from '../model/wallet-part.ts';
import type { Db } from '../store/open-database.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { prepareTransferIdsOfBlocks } from './blocks.ts';
import type { Head } from './snapshot.ts';
import { prepareDerivedBlock } from './token-history.ts';
import {
  isBefore,
  prepareTraderRanking,
  prepareTradersById,
  type TradedPair,
  type Trader,
} from './token-traders.ts';
import { prepareTradersIn, type RecentTrader } from './traders-in-range.ts';
import { prepareIsContract } from './wallet-code.ts';
import type { WorkBudget } from './work-budget.ts';

/** Contracts that a page passes over for each trader it may list. */
const MOST_PASSED = 5;

interface TraderFilter {
  order: 'profit' | 'loss' | 'recent';
  /**
   * Only trades in so many blocks, counted back from the head. A window over all of them is answered from stored sums.
   */
  blocks?: number | undefined;
  /** The place of the last trader of the page before. */
  cursor?: { amount: bigint; id: number } | undefined;
  limit: number;
  include_contracts: boolean;
  /** The first transfer that is not in the token's history yet. */
  below: number;
}

/** A trader as listed. */
export interface ListedTrader extends Trader {
  contract: boolean | null;
}

interface TraderPage {
  traders: ListedTrader[];
  /** Where the page ends: a profit, or a transfer, and a wallet. Null if nothing follows. */
  last: { key: bigint | number; wallet: number } | null;
  /** Contracts passed over before the end of the page. */
  leftOut: number;
  /** The first transfer of the oldest transaction read, where more were to be read; else null. */
  readFrom: number | null;
}

export function prepareTraderLists(
  db: Db,
): (pair: TradedPair, filter: TraderFilter, ids: TradeIds, head: Head, budget: WorkBudget) => TraderPage {
  const ranking = prepareTraderRanking(db);
  const tradersIn = prepareTradersIn(db);
  const tradersById = prepareTradersById(db);
  const isContract = prepareIsContract(db);
  const idsOfBlocks = prepareTransferIdsOfBlocks(db);
  const blockOf = prepareDerivedBlock(db);
  const firstOf = db.prepare<[number], number>('SELECT first_transfer FROM tokens WHERE id = +?').pluck();
  const contractOf = (wallet: number) => isContract([wallet])[0] ?? null;

  const pageOf = <T extends Trader>(
    traders: Iterable<T>,
    keyOf: (trader: T) => bigint | number,
    { limit, include_contracts }: TraderFilter,
  ): Omit<TraderPage, 'readFrom'> => {
    const listed: ListedTrader[] = [];
    let last: TraderPage['last'] = null;
    let leftOut = 0;
    for (const trader of traders) {
      if (listed.length === limit || leftOut === MOST_PASSED * limit)
        return { traders: listed, last, leftOut };
      const contract = contractOf(trader.wallet);
      if (contract === true && !include_contracts) leftOut++;
      else listed.push({ ...trader, contract });
      last = { key: keyOf(trader), wallet: trader.wallet };
    }
    return { traders: listed, last: null, leftOut };
  };

  /** Whether no trade of the pair is before a transfer, and the sums are those of all up to the head. */
  const hasAll = ({ token, quote }: TradedPair, from: number, below: number, head: Head): boolean => {
    const { block, lastTransfer } = blockOf('trade_sums');
    const first = firstOf.get(token === NATIVE ? quote : token) ?? 0;
    return from <= first && block === head.number && lastTransfer < below;
  };

  const listTraders: ReturnType<typeof prepareTraderLists> = (pair, filter, ids, head, budget) => {
    const { order, blocks, cursor, limit, include_contracts, below } = filter;
    const byProfit = ({ profit }: Trader) => profit;
    const byTrade = ({ last }: RecentTrader) => last;
    const after = cursor && { profit: cursor.amount, wallet: cursor.id };
    const isAfter = ({ last, wallet }: RecentTrader) =>
      cursor === undefined || last < cursor.amount || (BigInt(last) === cursor.amount && wallet > cursor.id);
    if (blocks !== undefined) {
      const { from } = idsOfBlocks(head.number - blocks + 1, head.number);
      if (hasAll(pair, from, below, head))
        return listTraders(pair, { ...filter, blocks: undefined }, ids, head, budget);
      const { traders, readFrom } = tradersIn(pair, { from, below }, ids, head, budget);
      if (order === 'recent') return { ...pageOf(traders.filter(isAfter), byTrade, filter), readFrom };
      return { ...pageOf(ranked(traders, order, after), byProfit, filter), readFrom };
    }
    if (order !== 'recent')
      return { ...pageOf(ranking(pair, { order, after }, budget), byProfit, filter), readFrom: null };
    let found = 0;
    const isEnough = (trader: RecentTrader) => {
      if (!isAfter(trader)) return false;
      if (include_contracts || contractOf(trader.wallet) !== true) found++;
      return found > limit;
    };
    const { traders, readFrom } = tradersIn(pair, { from: 1, below }, ids, head, budget, isEnough);
    const page = pageOf(traders.filter(isAfter), byTrade, filter);
    const wallets = page.traders.map(({ wallet }) => wallet);
    const sums = tradersById(pair, wallets);
    const whole = page.traders.map((trader) => ({ ...trader, ...sums.get(trader.wallet) }));
    return { ...page, traders: whole, readFrom };
  };
  return listTraders;
}

/** By profit or loss, from the place after `after` on. */
function ranked<T extends Trader>(
  traders: readonly T[],
  order: 'profit' | 'loss',
  after: { profit: bigint; wallet: number } | undefined,
): T[] {
  const placeOf = ({ profit, wallet }: { profit: bigint; wallet: number }) => ({
    key: order === 'profit' ? profit : -profit,
    wallet,
  });
  const isAfter = (trader: T) => after === undefined || isBefore(placeOf(after), placeOf(trader));
  return traders.filter(isAfter).sort((a, b) => (isBefore(placeOf(a), placeOf(b)) ? -1 : 1));
}
