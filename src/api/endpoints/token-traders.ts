/** GET /api/token_traders: who traded a token, by profit, by loss, or by the newest trade. */
import * as z from 'zod';
import { movesOne } from '../../model/transfer-kind.ts';
import { NATIVE } from '../../model/wallet-part.ts';
import { prepareBlocksOfTransfers } from '../../query/blocks.ts';
import { MAX_HISTORY_ROWS } from '../../query/reach.ts';
import { prepareDerivedBlock } from '../../query/token-history.ts';
import { prepareTokensById } from '../../query/tokens.ts';
import { prepareAssetId, prepareTradeIds } from '../../query/trade-ids.ts';
import { prepareTraderLists } from '../../query/trader-lists.ts';
import { blockField, completeToBlockField, countField, nextCursorField } from '../../schemas/fields.ts';
import type { DerivedName } from '../../store/derived-structure.ts';
import type { TradeIds } from '../../trades/trade-part.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { noSalesReason } from '../launch-record.ts';
import { asset, choice, flag, integer, limit, signedAmountCursor } from '../params.ts';
import { isUntraced } from '../profit-record.ts';
import {
  assetAddressField,
  assetDecimalsField,
  exampleQuote,
  prepareAssetDisplays,
  quoteSchema,
} from '../trade-record.ts';
import { exampleTrader, prepareTraderRecords, traderSchema } from '../trader-record.ts';

const ORDERS = ['profit', 'loss', 'recent'] as const;

export const tokenTraders = defineEndpoint({
  method: 'GET',
  path: '/api/token_traders',
  tag: 'tokens',
  list: 'traders',
  summary: 'Who traded a token against a quote: most profit or most loss first, or by the newest trade',
  params: {
    token: asset().describe('Contract of the token, or native, which is traded against quote tokens'),
    quote: asset()
      .prefault('native')
      .describe('Only trades against it: native, or the address of a quote token'),
    order: choice(ORDERS)
      .default('profit')
      .describe(
        'profit: most averageCostProfit first; loss: least first; recent: by the newest trade, newest first',
      ),
    blocks: integer(1, 1_000_000)
      .optional()
      .describe(
        'Only trades in this many blocks, counted back from and including the last indexed one: what is ' +
          'sold of earlier buys counts as without cost',
      ),
    limit: limit(50, 200),
    cursor: signedAmountCursor().optional(),
    include_contracts: flag()
      .default(false)
      .describe(
        'true: also list the traders that are known to be contracts, such as pools, routers and smart accounts',
      ),
  },
  response: {
    token: assetAddressField(),
    symbol: z.string().nullable(),
    decimals: assetDecimalsField(),
    perCollection: z.boolean().describe('True for ERC-721, which is summed per collection'),
    quote: quoteSchema,
    quotes: z
      .array(quoteSchema)
      .describe(
        'What trades of this index may be counted in: native, and its quote tokens other than this one',
      ),
    order: z.enum(ORDERS),
    traders: z.array(traderSchema),
    nextCursor: nextCursorField(),
    count: countField(),
    left_out: countField().describe('Contracts left out of this page'),
    profitReason: z
      .string()
      .nullable()
      .describe('Why profits are null, or why there are no traders; null if neither'),
    truncated: z
      .boolean()
      .describe(
        'With order=recent or blocks: whether there are more than the newest transfers that are read, ' +
          `${MAX_HISTORY_ROWS} at most and fewer where they are far apart in the chain; with blocks, sums are of ` +
          'those. A window over all transfers of the token is never truncated by profit or loss',
      ),
    fromBlock: blockField().nullable().describe('Where truncated: the first block that was read; else null'),
    completeToBlock: completeToBlockField(),
  },
  example: {
    params: { token: example.token, limit: '1' },
    response: {
      token: example.token,
      symbol: 'EXD',
      decimals: 6,
      perCollection: false,
      quote: exampleQuote,
      quotes: [exampleQuote],
      order: 'profit',
      traders: [exampleTrader],
      nextCursor: '500000000000000000.17',
      count: 1,
      left_out: 3,
      profitReason: null,
      truncated: false,
      fromBlock: null,
      completeToBlock: 4711,
    },
  },
  prepare({ db, walletIds, nativeSymbol, tradeLists }) {
    const idsAt = prepareTradeIds(db, walletIds, tradeLists);
    const assetIdOf = prepareAssetId(db, walletIds);
    const tokensById = prepareTokensById(db);
    const displays = prepareAssetDisplays(db, nativeSymbol);
    const listTraders = prepareTraderLists(db);
    const recordsOf = prepareTraderRecords(db, (wallet) => walletIds.addressOf(wallet));
    const blocksOf = prepareBlocksOfTransfers(db);
    const blockOf = prepareDerivedBlock(db);
    const quotesBut = (token: number | undefined, { quoteTokens }: TradeIds) => {
      const quotes = [NATIVE, ...quoteTokens].filter((quote) => quote !== token);
      const display = displays(quotes);
      return quotes.map((quote) => display(quote, false));
    };
    return (params, { head, budget, unexamined }) => {
      const ids = idsAt(head);
      const token = assetIdOf(params.token, ids);
      const quote = assetIdOf(params.quote, ids);
      const unknown = (tokenAddress: string | null) => ({ tokenAddress, symbol: null, decimals: null });
      const kind = token === undefined ? 0 : (tokensById([token])[0]?.kind ?? 0);
      const isKnown = !isUntraced(db, head.number);
      const shown = token === undefined ? unknown(params.token) : displays([token])(token, movesOne(kind));
      const shownQuote = quote === undefined ? unknown(params.quote) : displays([quote])(quote, false);
      const ends = sourcesOf(params).map((name) => blockOf(name));
      const end = ends.reduce((least, each) => (each.lastTransfer < least.lastTransfer ? each : least));
      const { traders, last, leftOut, readFrom } =
        token === undefined || quote === undefined
          ? NOTHING
          : listTraders({ token, quote }, { ...params, below: end.lastTransfer + 1 }, ids, head, budget);
      for (const { wallet, contract } of traders) if (contract === null) unexamined.push(wallet);
      return {
        token: shown.tokenAddress,
        symbol: shown.symbol,
        decimals: shown.decimals,
        perCollection: movesOne(kind),
        quote: shownQuote,
        quotes: quotesBut(token, ids),
        order: params.order,
        traders: recordsOf({ token: token ?? 0, quote: quote ?? 0 }, traders, ids, isKnown),
        nextCursor: last && `${last.key}.${last.wallet}`,
        count: traders.length,
        left_out: leftOut,
        profitReason: noSalesReason(kind, false, isKnown),
        truncated: readFrom !== null,
        fromBlock: readFrom === null ? null : blocksOf([readFrom])[0]!.number,
        completeToBlock: end.block,
      };
    };
  },
});

/** What an answer is read from: the newest trades from the token's history, sums over all time from those of trades. */
function sourcesOf({ order, blocks }: { order: string; blocks?: number | undefined }): DerivedName[] {
  if (blocks !== undefined) return ['token_history'];
  return order === 'recent' ? ['token_history', 'trade_sums'] : ['trade_sums'];
}

const NOTHING = { traders: [], last: null, leftOut: 0, readFrom: null };
