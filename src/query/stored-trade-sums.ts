/** What wallets bought and sold of one token, from the sums that the index keeps. */
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { unpackSums } from '../store/trades/packed-sums.ts';
import { prepareTradeGenerations } from '../store/trades/trade-generations.ts';
import { emptySums } from '../trades/profit.ts';
import type { Head } from './snapshot.ts';
import { prepareDerivedBlock } from './token-history.ts';
import type { TokenTradeSums, TradedToken } from './token-trade-sums.ts';

/** Null while an index of an earlier release has not counted them up to its head. */
export function prepareStoredTradeSums(
  db: Db,
): (
  traded: Pick<TradedToken, 'token' | 'quote'>,
  wallets: readonly number[],
  head: Head,
) => ReadonlyMap<number, TokenTradeSums> | null {
  const generations = prepareTradeGenerations(db);
  const blockOf = prepareDerivedBlock(db);
  const sumsOf = db
    .prepare<[string, number, number], [wallet: number, sums: Uint8Array]>(/* sql */ `
      SELECT s.wallet, s.sums FROM json_each(?) list CROSS JOIN trade_sums s
        ON s.generation = +? AND s.token = +? AND s.wallet = list.value`)
    .raw();
  return ({ token, quote }, wallets, head) => {
    const { current } = generations();
    if (current === null || blockOf('trade_sums').block !== head.number) return null;
    const found = new Map(wallets.map((wallet) => [wallet, { sums: emptySums(), sold: 0n }]));
    for (const [wallet, packed] of sumsOf.all(idList(wallets), current.generation, token)) {
      const ofWallet = { sums: emptySums(), sold: 0n };
      for (const sums of unpackSums(packed)) {
        if (sums.quote === quote) ofWallet.sums = sums;
        ofWallet.sold += sums.sold;
      }
      found.set(wallet, ofWallet);
    }
    return found;
  };
}
