/** The largest balances of a token. There is no index by balance, so all of the token's holdings are scanned. */
import { ZERO_BALANCE } from '../lib/signed.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import type { WorkBudget } from './work-budget.ts';

/** Holdings scanned between two checks of the time limit. */
const HOLDINGS_PER_SLICE = 65_536;

export interface Holding {
  /** wallets.id. */
  wallet: number;
  /** In the form of lib/signed.ts, above zero. */
  balance: Buffer;
}

/**
 * The holdings with the largest balances, largest first; of equal ones the wallet seen earlier first. `wallets` is the
 * number of wallets of the token. The zero address holds nothing.
 */
export function prepareTopHoldings(
  db: Db,
): (token: { id: number; wallets: number }, limit: number, budget: WorkBudget) => Holding[] {
  const lastWallet = db.prepare<[], number>('SELECT max(id) FROM wallets').pluck();
  const largestOf = db.prepare<[number, number, number, Uint8Array, number], Holding>(/* sql */ `
    SELECT wallet, balance FROM holdings WHERE token = +? AND wallet >= +? AND wallet < +? AND balance > +?
    ORDER BY balance DESC, wallet LIMIT +?`);
  return ({ id, wallets }, limit, budget) => {
    if (wallets === 0) return []; // the zero address alone moved it, and there would be no slice to scan
    budget.ensure(wallets);
    const slices = Math.ceil(wallets / HOLDINGS_PER_SLICE);
    const end = (lastWallet.get() ?? ZERO_WALLET) + 1;
    const width = Math.ceil(end / slices);
    let largest: Holding[] = [];
    for (let from = ZERO_WALLET + 1; from < end; from += width) {
      budget.spend(Math.ceil(wallets / slices));
      const minBalance = largest.length < limit ? ZERO_BALANCE : largest[limit - 1]!.balance;
      largest = merge(largest, largestOf.all(id, from, from + width, minBalance, limit), limit);
    }
    return largest;
  };
}

function merge(a: Holding[], b: Holding[], limit: number): Holding[] {
  if (a.length === 0) return b;
  return [...a, ...b]
    .sort((x, y) => Buffer.compare(y.balance, x.balance) || x.wallet - y.wallet)
    .slice(0, limit);
}
