/** The trades of all wallets in one transaction. */
import type { Db } from '../store/open-database.ts';
import { tradesOfTransaction } from '../trades/trade.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import type { IdRange } from './blocks.ts';
import { prepareTransactionStart } from './transaction-rows.ts';
import type { WalletTrade } from './wallet-trades.ts';
import type { WorkBudget } from './work-budget.ts';

/** Most transfers of a transaction whose trades are told. */
export const MAX_TRADE_ROWS = 1_000;

/** Units of work per transfer. */
const ROW_UNITS = 20;

/** In the order of the wallets' first transfers; null for a transaction of too many transfers. */
export function prepareTransactionTrades(
  db: Db,
): (
  transaction: IdRange,
  ids: TradeIds,
  budget: WorkBudget,
) => { wallet: number; trade: WalletTrade }[] | null {
  const start = prepareTransactionStart(db);
  return ({ from, below }, ids, budget) => {
    if (below - from > MAX_TRADE_ROWS) return null;
    budget.spend(ROW_UNITS * (below - from));
    const rows = below > from ? start(from, below - from) : [];
    return tradesOfTransaction(rows, ids).map(({ wallet, part, trade }) => ({
      wallet,
      trade: {
        first: from,
        rows: rows.filter((row) => row.from === wallet || row.to === wallet),
        part,
        trade,
      },
    }));
  };
}
