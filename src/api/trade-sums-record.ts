/** The fields that tell the buys and sales of a wallet, a token and a quote, wherever they stand. */
import { countField, signedField, unitsField } from '../schemas/fields.ts';
import type { TradeSums } from '../trades/profit.ts';

/** What every sum of trades leaves out. */
export const NO_COST =
  'transaction fees are not in the index and in no sum, nor is what happened before historicalCoverageStartBlock';

export function quoteUnitsField(what: string) {
  return unitsField().describe(`${what}, in base units of the quote; ${NO_COST}`);
}

export function tokenUnitsField(what: string) {
  return unitsField().describe(`${what}, in base units of the token, ERC-721 in tokens`);
}

export function tradeSumsFields() {
  return {
    buys: countField(),
    sells: countField(),
    bought: tokenUnitsField('Sum of the buys'),
    spent: quoteUnitsField('Sum that the buys cost'),
    sold: tokenUnitsField('Sum of the sales'),
    received: quoteUnitsField('Sum that the sales brought'),
  };
}

/** The profit that sums alone give, without the order of the trades. */
export function averageCostProfitField() {
  return signedField()
    .nullable()
    .describe(
      'In base units of quote: what the lesser of bought and sold brought less what it cost, at average ' +
        `prices. A later buy can change it; ${NO_COST}. Null for profitReason`,
    );
}

export function tradeSumsRecord({ buys, sells, bought, spent, sold, received }: TradeSums) {
  return {
    buys,
    sells,
    bought: `${bought}`,
    spent: `${spent}`,
    sold: `${sold}`,
    received: `${received}`,
  };
}

export const exampleTradeSums = {
  buys: 2,
  sells: 1,
  bought: '5000000',
  spent: '3000000000000000000',
  sold: '2500000',
  received: '2000000000000000000',
};
