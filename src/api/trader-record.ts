/** The JSON records of a token's traders, and what their fields mean. */
import * as z from 'zod';
import type { TradedPair } from '../query/token-traders.ts';
import type { ListedTrader } from '../query/trader-lists.ts';
import { prepareAssetBalance } from '../query/wallet-profit.ts';
import { addressField, contractField, signedField } from '../schemas/fields.ts';
import type { Db } from '../store/open-database.ts';
import { prepareBuyersOf } from '../store/tokens/first-buyers.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { example } from './fields.ts';
import {
  averageCostProfitField,
  exampleTradeSums,
  tradeSumsFields,
  tradeSumsRecord,
} from './trade-sums-record.ts';

export const traderSchema = z
  .object({
    address: addressField(),
    contract: contractField(),
    ...tradeSumsFields(),
    averageCostProfit: averageCostProfitField(),
    balance: signedField().describe('What it holds now by its transfers, in base units of the token'),
    firstBuyerRank: z
      .int()
      .min(1)
      .nullable()
      .describe('Its place in token_first_buyers; null if it is not among the first 200'),
  })
  .meta({ id: 'TokenTrader' });

type TraderRecord = z.output<typeof traderSchema>;

/** The records of traders, in their order. `isKnown`: whether profits are. */
export function prepareTraderRecords(
  db: Db,
  addressOf: (wallet: number) => string,
): (
  { token }: TradedPair,
  traders: readonly ListedTrader[],
  ids: TradeIds,
  isKnown: boolean,
) => TraderRecord[] {
  const balanceOf = prepareAssetBalance(db);
  const buyersOf = prepareBuyersOf(db);
  return ({ token }, traders, ids, isKnown) => {
    const ranks = new Map(buyersOf(token).map(({ wallet }, i) => [wallet, i + 1]));
    return traders.map(({ wallet, contract, profit, sums }) => ({
      address: addressOf(wallet),
      contract,
      ...tradeSumsRecord(sums),
      averageCostProfit: isKnown ? `${profit}` : null,
      balance: `${balanceOf(wallet, token, ids)}`,
      firstBuyerRank: ranks.get(wallet) ?? null,
    }));
  };
}

export const exampleTrader: TraderRecord = {
  address: example.wallet,
  contract: false,
  ...exampleTradeSums,
  averageCostProfit: '500000000000000000',
  balance: '2500000',
  firstBuyerRank: 1,
};
