/** GET /api/token_launch: who got a token first, how, and what they have in common. */
import * as z from 'zod';
import { isHubCategory } from '../../model/label.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import { prepareBlocksOfTransfers } from '../../query/blocks.ts';
import { MAX_HISTORY_ROWS } from '../../query/reach.ts';
import { prepareStoredTradeSums } from '../../query/stored-trade-sums.ts';
import { prepareShareSupply } from '../../query/supply.ts';
import { prepareFirstHolders } from '../../query/token-launch.ts';
import { prepareTokenTradeSums } from '../../query/token-trade-sums.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import { prepareAssetId, prepareTradeIds } from '../../query/trade-ids.ts';
import { prepareIsContract } from '../../query/wallet-code.ts';
import { addressField, blockField, countField } from '../../schemas/fields.ts';
import { countedBuyers, launchGroups, launchSummary, openBlock } from '../../trades/launch.ts';
import { defineEndpoint } from '../endpoint.ts';
import { balanceAccuracy, balanceAccuracyField, balanceReasonField, example, sumsReason } from '../fields.ts';
import {
  exampleLaunchBuyer,
  exampleLaunchSummary,
  launchBuyerSchema,
  launchSummarySchema,
  noSalesReason,
  prepareLaunchBuyers,
} from '../launch-record.ts';
import { address, asset, integer, limit } from '../params.ts';
import { isUntraced } from '../profit-record.ts';
import { assetDecimalsField, exampleQuote, prepareAssetDisplays, quoteSchema } from '../trade-record.ts';

export const tokenLaunch = defineEndpoint({
  method: 'GET',
  path: '/api/token_launch',
  tag: 'tokens',
  list: 'buyers',
  summary:
    'The first holders of a token: how each got it, what it holds, and what they have in common, as counts ' +
    'by definition',
  params: {
    token: address(),
    limit: limit(20, 200),
    quote: asset()
      .prefault('native')
      .describe('What averageCostProfit is counted in: native, or the address of a quote token'),
    sniper_blocks: integer(0, 1_000_000)
      .default(3)
      .describe('Blocks after openBlock in which a buyer counts as a sniper'),
    bundle_wallets: integer(2, 200).default(4).describe('Fewest wallets of a bundle'),
    fresh_blocks: integer(0, 1_000_000_000)
      .default(1_000)
      .describe('Most blocks from its first funding for a wallet to count as fresh'),
  },
  response: {
    token: addressField(),
    symbol: z.string().nullable().describe('Null while unknown'),
    decimals: assetDecimalsField(),
    quote: quoteSchema,
    firstBlock: blockField()
      .nullable()
      .describe(
        'Block of its first indexed transfer: not its launch if the token is older than the index; null without one',
      ),
    openBlock: blockField()
      .nullable()
      .describe(
        'Where the seller to its first buyer first got it; firstBlock if it was minted to the buyer or the ' +
          'seller is not listed; null without a buyer',
      ),
    buyers: z.array(launchBuyerSchema).describe('In order of their first receipt, the zero address left out'),
    summary: launchSummarySchema,
    profitReason: z.string().nullable().describe('Why sold and averageCostProfit are null; null if not'),
    truncated: z
      .boolean()
      .describe(
        'Whether an index of an earlier release, which has no sums of trades yet, read only the ' +
          `${MAX_HISTORY_ROWS} newest transfers; then sold and averageCostProfit are of those`,
      ),
    fromBlock: blockField().nullable().describe('Where truncated: the first block that was read; else null'),
    count: countField(),
    estimateQuality: balanceAccuracyField(),
    estimateReason: balanceReasonField(),
  },
  example: {
    params: { token: example.token, limit: '1' },
    response: {
      token: example.token,
      symbol: 'EXD',
      decimals: 6,
      quote: exampleQuote,
      firstBlock: 4710,
      openBlock: 4710,
      buyers: [exampleLaunchBuyer],
      summary: exampleLaunchSummary,
      profitReason: null,
      truncated: false,
      fromBlock: null,
      count: 1,
      estimateQuality: 'exact',
      estimateReason: null,
    },
  },
  prepare({ db, walletIds, nativeSymbol, tradeLists, labels }) {
    const factsOf = prepareTokenFacts(db);
    const idsAt = prepareTradeIds(db, walletIds, tradeLists);
    const assetIdOf = prepareAssetId(db, walletIds);
    const holdersOf = prepareFirstHolders(db);
    const storedSales = prepareStoredTradeSums(db);
    const salesOf = prepareTokenTradeSums(db);
    const supplyOf = prepareShareSupply(db);
    const accuracyOf = prepareBalanceAccuracyName(db);
    const contractsOf = prepareIsContract(db);
    const displays = prepareAssetDisplays(db, nativeSymbol);
    const recordsOf = prepareLaunchBuyers(db, nativeSymbol);
    const blocksOf = prepareBlocksOfTransfers(db);
    const isHub = (funder: string | null) => {
      const label = funder === null ? undefined : labels?.of(`0x${funder}`);
      return label !== undefined && isHubCategory(label.category);
    };
    const quoteOf = (contract: string | null, quote: number | undefined) =>
      quote === undefined
        ? { tokenAddress: contract, symbol: null, decimals: null }
        : displays([quote])(quote, false);
    return (params, { head, budget, unexamined }) => {
      const thresholds = {
        sniperBlocks: params.sniper_blocks,
        bundleWallets: params.bundle_wallets,
        freshBlocks: params.fresh_blocks,
      };
      const ids = idsAt(head);
      const quote = assetIdOf(params.quote, ids);
      const facts = walletIds.withId(params.token, factsOf);
      if (facts === undefined)
        return {
          ...NO_TRANSFERS,
          token: params.token,
          quote: quoteOf(params.quote, quote),
          summary: launchSummary([], null, null, thresholds),
        };
      const { id: token, kind, transfers, firstBlock } = facts;
      const holders = holdersOf(token, params.limit, ids, budget).map((holder) => ({
        ...holder,
        isHub: holder.isHub || isHub(holder.funderAddress),
      }));
      const wallets = holders.map(({ wallet }) => wallet);
      const contracts = contractsOf(wallets);
      unexamined.push(...wallets.filter((_, i) => contracts[i] === null));
      const profitReason = noSalesReason(
        kind,
        ids.nativeEquivalents.has(token),
        !isUntraced(db, head.number),
      );
      const traded = { token, transfers, quote: quote ?? UNKNOWN };
      const stored = profitReason === null ? storedSales(traded, wallets, head) : null;
      const sales =
        stored === null && profitReason === null
          ? salesOf(traded, wallets, ids, head, budget)
          : { of: stored, readFrom: null };
      const counted = countedBuyers(holders);
      const groups = launchGroups(holders, counted);
      const open = openBlock(holders, firstBlock);
      const { readFrom } = sales;
      return {
        token: params.token,
        symbol: facts.symbol,
        decimals: displays([token])(token, movesOne(kind)).decimals,
        quote: quoteOf(params.quote, quote),
        firstBlock,
        openBlock: open,
        buyers: recordsOf(
          holders.map((holder, i) => ({
            holder,
            groups: groups[i]!,
            isCounted: counted.has(holder),
            contract: contracts[i] ?? null,
            trades: sales.of?.get(holder.wallet) ?? null,
          })),
          firstBlock,
          (wallet) => walletIds.addressOf(wallet),
        ),
        summary: launchSummary(holders, open, supplyOf(token, budget), thresholds),
        profitReason,
        truncated: readFrom !== null,
        fromBlock: readFrom === null ? null : blocksOf([readFrom])[0]!.number,
        count: holders.length,
        estimateQuality: balanceAccuracy(facts, accuracyOf(token)),
        estimateReason: sumsReason(facts),
      };
    };
  },
});

/** What the answer says of a contract without transfers, which is not known as a token. */
const NO_TRANSFERS = {
  symbol: null,
  decimals: null,
  firstBlock: null,
  openBlock: null,
  buyers: [],
  profitReason: null,
  truncated: false,
  fromBlock: null,
  count: 0,
  estimateQuality: null,
  estimateReason: null,
};

/** The id of no token: against a quote without transfers there are no trades. */
const UNKNOWN = -1;
