/** The JSON records of profits, and what their fields mean. */
import * as z from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { NOT_TRACED } from '../model/block-gap.ts';
import { prepareBlockNumbers, prepareBlocksOfTransfers } from '../query/blocks.ts';
import { prepareBalanceAccuracyName, prepareTokensById } from '../query/tokens.ts';
import { prepareAssetBalance, type TokenProfit } from '../query/wallet-profit.ts';
import { blockField, countField, signedField, timeField } from '../schemas/fields.ts';
import { gapsBetween } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import { priceText } from '../trades/price.ts';
import { type ProfitLedger, profitTotals } from '../trades/profit.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { thinned } from './curve.ts';
import { balanceAccuracy, balanceAccuracyField, balanceReasonField, example, sumsReason } from './fields.ts';
import {
  assetAddressField,
  assetDecimalsField,
  prepareAssetDisplays,
  priceField,
  quoteSchema,
} from './trade-record.ts';
import {
  exampleTradeSums,
  NO_COST,
  quoteUnitsField,
  tokenUnitsField,
  tradeSumsFields,
  tradeSumsRecord,
} from './trade-sums-record.ts';

/** Why there is no profit where internal transfers are not indexed. */
export const UNTRACED_REASON =
  'internal transfers are not indexed, so a sale for the native coin cannot be seen; see internalTransfers ' +
  'in the status';

/** Whether a block was indexed without internal transfers because the node offers none, or by configuration. */
export function isUntraced(db: Db, block: number): boolean {
  const gaps = gapsBetween(db, { first: block, last: block });
  return gaps.some(({ kind, reason }) => kind === 'trace' && reason === NOT_TRACED);
}

function profitField() {
  return signedField()
    .nullable()
    .describe(
      'In base units of the quote: what sales brought for the position above its average cost, in the order ' +
        'of the trades. What is sold beyond the position has no known cost and is left out. A buy does not move it; ' +
        `${NO_COST}. Null for profitReason`,
    );
}

export const tokenProfitSchema = z
  .object({
    tokenAddress: assetAddressField(),
    symbol: z.string().nullable(),
    decimals: assetDecimalsField(),
    perCollection: z.boolean().describe('True for ERC-721, which is summed per collection'),
    ...tradeSumsFields(),
    averageBuyPrice: priceField('spent per bought'),
    averageSellPrice: priceField('received per sold'),
    realizedProfit: profitField(),
    soldWithoutCost: tokenUnitsField(
      'Sold beyond the position: it came by a transfer, another quote or another wallet',
    ).nullable(),
    receivedWithoutCost: quoteUnitsField('What that brought, in no profit').nullable(),
    position: tokenUnitsField('Bought and not sold yet').nullable(),
    cost: quoteUnitsField('What the position cost').nullable(),
    balance: signedField().describe(
      'What the wallet holds by its transfers, in base units; of the native coin with its equivalents and ' +
        'without transaction fees',
    ),
    netTransferred: signedField().describe(
      'balance less what was bought and not sold, over all quotes: what came or went without a trade',
    ),
    accuracy: balanceAccuracyField(),
    accuracyReason: balanceReasonField(),
    otherQuotes: z.array(quoteSchema).describe('Other quotes in which the wallet bought or sold this token'),
    firstTradeBlock: blockField(),
    lastTradeBlock: blockField(),
  })
  .meta({ id: 'TokenProfit' });

function shareField(what: string) {
  return z.number().min(0).max(1).nullable().describe(`${what}, from 0 to 1; null without any`);
}

export const totalsSchema = z
  .object({
    realizedProfit: profitField(),
    spent: quoteUnitsField('Sum over all tokens'),
    received: quoteUnitsField('Sum over all tokens'),
    tokens: countField().describe('Tokens with a buy or a sale in this quote'),
    wins: countField().nullable().describe('Tokens bought and sold with a realizedProfit above 0'),
    losses: countField().nullable().describe('Tokens bought and sold with a realizedProfit below 0'),
    winRate: shareField('wins among wins and losses'),
    unmatchedShare: shareField('receivedWithoutCost of all tokens among received'),
    uncertainTrades: countField().describe(
      'Trades of the wallet, of any token and quote, in blocks of which transfers are missing: they are in no sum',
    ),
  })
  .meta({ id: 'ProfitTotals' });

export const curvePointSchema = z
  .object({ blockNumber: blockField(), timestamp: timeField(), realizedProfit: profitField() })
  .meta({ id: 'ProfitPoint' });

type TokenProfitRecord = z.output<typeof tokenProfitSchema>;

/** Points of a curve. */
const MAX_POINTS = 500;

/** Why a balance of the native coin is no exact one. */
const NATIVE_REASON = 'transaction fees, block rewards and allocations at genesis are no transfers';

/** The records of a wallet's profits. `isKnown`: whether the profits are. */
export function prepareProfitRows(db: Db, nativeSymbol: string) {
  const displays = prepareAssetDisplays(db, nativeSymbol);
  const tokensById = prepareTokensById(db);
  const accuracyOf = prepareBalanceAccuracyName(db);
  const balanceOf = prepareAssetBalance(db);
  const blocksOf = prepareBlocksOfTransfers(db);
  return (
    wallet: number,
    quote: number,
    rows: readonly TokenProfit[],
    ids: TradeIds,
    isKnown: boolean,
  ): TokenProfitRecord[] => {
    const facts = new Map(tokensById(rows.map(({ token }) => token)).map((row) => [row.id, row]));
    const display = displays([quote, ...rows.flatMap(({ token, otherQuotes }) => [token, ...otherQuotes])]);
    const firsts = blocksOf(rows.map(({ trades }) => trades[0]!.transfer));
    const lasts = blocksOf(rows.map(({ trades }) => trades.at(-1)!.transfer));
    const quoteDecimals = display(quote, false).decimals;
    return rows.map((row, i) => {
      const { token, isCollection, ledger } = row;
      const { bought, spent, sold, received } = ledger.sums;
      const shown = display(token, isCollection);
      const price = (quoteAmount: bigint, amount: bigint) =>
        priceText({ amount: quoteAmount, decimals: quoteDecimals }, { amount, decimals: shown.decimals });
      const balance = balanceOf(wallet, token, ids);
      const fact = facts.get(token);
      return {
        ...shown,
        perCollection: isCollection,
        ...tradeSumsRecord(ledger.sums),
        averageBuyPrice: price(spent, bought),
        averageSellPrice: price(received, sold),
        ...(isKnown ? ledgerFields(ledger) : UNKNOWN_LEDGER),
        balance: `${balance}`,
        netTransferred: `${balance - row.traded}`,
        accuracy: fact === undefined ? 'unreliable' : balanceAccuracy(fact, accuracyOf(token)),
        accuracyReason: fact === undefined ? NATIVE_REASON : sumsReason(fact),
        otherQuotes: [...row.otherQuotes].map((other) => display(other, false)),
        firstTradeBlock: firsts[i]!.number,
        lastTradeBlock: lasts[i]!.number,
      };
    });
  };
}

function ledgerFields(ledger: ProfitLedger) {
  return {
    realizedProfit: `${ledger.realizedProfit}`,
    soldWithoutCost: `${ledger.soldWithoutCost}`,
    receivedWithoutCost: `${ledger.receivedWithoutCost}`,
    position: `${ledger.position}`,
    cost: `${ledger.cost}`,
  };
}

const UNKNOWN_LEDGER = {
  realizedProfit: null,
  soldWithoutCost: null,
  receivedWithoutCost: null,
  position: null,
  cost: null,
};

export function totalsRecord(
  tokens: readonly TokenProfit[],
  uncertainTrades: number,
  isKnown: boolean,
): z.output<typeof totalsSchema> {
  const totals = profitTotals(tokens.map(({ ledger }) => ledger));
  const { realizedProfit, wins, losses, winRate, unmatchedShare } = totals;
  return {
    realizedProfit: isKnown ? `${realizedProfit}` : null,
    spent: `${totals.spent}`,
    received: `${totals.received}`,
    tokens: totals.tokens,
    wins: isKnown ? wins : null,
    losses: isKnown ? losses : null,
    winRate: isKnown ? winRate : null,
    unmatchedShare: isKnown ? unmatchedShare : null,
    uncertainTrades,
  };
}

/** The profit of a token after each block with a sale. */
export function prepareCurve(db: Db): (row: TokenProfit | undefined) => z.output<typeof curvePointSchema>[] {
  const blockNumbersOf = prepareBlockNumbers(db);
  const blocksOf = prepareBlocksOfTransfers(db);
  return (row) => {
    const sales = row?.trades.filter(({ isBuy }) => !isBuy) ?? [];
    const numbers = blockNumbersOf(sales.map(({ transfer }) => transfer));
    const points = thinned(
      sales.map((sale, i) => ({ ...sale, blockNumber: numbers[i]! })),
      MAX_POINTS,
    );
    const blocks = blocksOf(points.map(({ transfer }) => transfer));
    return points.map(({ blockNumber, realizedProfit }, i) => ({
      blockNumber,
      timestamp: secondsToIso(blocks[i]!.timestamp),
      realizedProfit: `${realizedProfit}`,
    }));
  };
}

export const exampleProfit: TokenProfitRecord = {
  tokenAddress: example.token,
  symbol: 'EXD',
  decimals: 6,
  perCollection: false,
  ...exampleTradeSums,
  averageBuyPrice: '0.6',
  averageSellPrice: '0.8',
  realizedProfit: '500000000000000000',
  soldWithoutCost: '0',
  receivedWithoutCost: '0',
  position: '2500000',
  cost: '1500000000000000000',
  balance: '2500000',
  netTransferred: '0',
  accuracy: 'exact',
  accuracyReason: null,
  otherQuotes: [],
  firstTradeBlock: 4700,
  lastTradeBlock: 4711,
};

export const exampleTotals: z.output<typeof totalsSchema> = {
  realizedProfit: '500000000000000000',
  spent: '3000000000000000000',
  received: '2000000000000000000',
  tokens: 1,
  wins: 1,
  losses: 0,
  winRate: 1,
  unmatchedShare: 0,
  uncertainTrades: 0,
};
