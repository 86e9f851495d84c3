/** GET /api/wallet_trades: what a wallet bought, sold and swapped, newest first. */
import * as z from 'zod';
import { TRADE_KINDS } from '../../model/trade-kind.ts';
import { prepareBlocksInTime } from '../../query/block-times.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareAssetId, prepareTradeIds } from '../../query/trade-ids.ts';
import { prepareWalletTrades } from '../../query/wallet-trades.ts';
import { addressField, countField } from '../../schemas/fields.ts';
import type { Trade } from '../../trades/trade.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { addInitiated } from '../initiated.ts';
import { address, asset, choices, flag, limit, pageCursor, timeFilter } from '../params.ts';
import { exampleTrade, prepareTradeRecords, tradeSchema } from '../trade-record.ts';
import { pageOf } from '../transfer-record.ts';

export const walletTrades = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_trades',
  tag: 'wallets',
  list: 'trades',
  summary:
    'What a wallet bought, sold and swapped, told by the net transfers of each transaction, newest first',
  params: {
    address: address(),
    token: asset()
      .optional()
      .describe('Only trades with this token on a side: the address of a contract, or native'),
    kind: choices(TRADE_KINDS).optional().describe('Only trades of these kinds'),
    quote: asset()
      .optional()
      .describe('Only buys and sells in this quote: the address of a token, or native'),
    ...timeFilter('trades'),
    initiated: flag()
      .default(false)
      .describe('Whether to ask the node who sent each transaction, for the field initiated'),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    address: addressField(),
    trades: z.array(tradeSchema),
    nextCursor: z
      .string()
      .nullable()
      .describe(
        'Null on the last page. A page may hold fewer than limit trades, even none, and still have a nextCursor',
      ),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, limit: '1' },
    response: { address: example.wallet, trades: [exampleTrade], nextCursor: '90210', count: 1 },
  },
  async complete({ address, initiated }, { trades }, node) {
    if (initiated) await addInitiated(address, trades, node);
  },
  nodeParameter: 'initiated',
  prepare({ db, walletIds, nativeSymbol, tradeLists }) {
    const idsAt = prepareTradeIds(db, walletIds, tradeLists);
    const assetIdOf = prepareAssetId(db, walletIds);
    const blocksInTime = prepareBlocksInTime(db);
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const listTrades = prepareWalletTrades(db);
    const recordsOf = prepareTradeRecords(db, nativeSymbol);
    return (params, { head, budget }) => {
      const { address, limit, cursor, kind } = params;
      const wallet = walletIds.idOf(address);
      const ids = idsAt(head);
      const idOf = (contract: string | null | undefined) =>
        contract === undefined ? undefined : (assetIdOf(contract, ids) ?? UNKNOWN);
      const [token, quote] = [idOf(params.token), idOf(params.quote)];
      if (wallet === undefined || token === UNKNOWN || quote === UNKNOWN)
        return { address, trades: [], nextCursor: null, count: 0 };
      const isWanted = (trade: Trade): boolean =>
        (kind === undefined || kind.includes(trade.kind)) &&
        (quote === undefined || trade.quote === quote) &&
        (token === undefined || hasLeg(trade, token));
      const { first, last } = blocksInTime(head, params);
      const range = idsOfBlocks(first, last);
      const filter = {
        from: range.from,
        below: Math.min(range.below, cursor?.[0] ?? range.below),
        isWanted,
        limit: limit + 1, // one more shows whether there is a next page
      };
      const { trades, resumeBelow } = listTrades(wallet, filter, ids, budget);
      const { page, last: end } = pageOf(trades, limit);
      const next = end?.first ?? resumeBelow;
      return {
        address,
        trades: recordsOf(wallet, page),
        nextCursor: next === null ? null : `${next}`,
        count: page.length,
      };
    };
  },
});

/** No token has this id. */
const UNKNOWN = -1;

function hasLeg({ given, received }: Trade, token: number): boolean {
  return [...given, ...received].some((leg) => leg.token === token);
}
