/** GET /api/wallet_profit: what a wallet's trades brought, by token, against one quote. */
import * as z from 'zod';
import { NATIVE } from '../../model/wallet-part.ts';
import { prepareBlocksOfTransfers } from '../../query/blocks.ts';
import { MAX_HISTORY_ROWS } from '../../query/reach.ts';
import { prepareAssetId, prepareTradeIds } from '../../query/trade-ids.ts';
import { prepareWalletProfit, type TokenProfit } from '../../query/wallet-profit.ts';
import { addressField, blockField, countField, nextCursorField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address, asset, limit, signedAmountCursor } from '../params.ts';
import {
  curvePointSchema,
  exampleProfit,
  exampleTotals,
  isUntraced,
  prepareCurve,
  prepareProfitRows,
  tokenProfitSchema,
  totalsRecord,
  totalsSchema,
  UNTRACED_REASON,
} from '../profit-record.ts';
import { exampleQuote, prepareAssetDisplays, quoteSchema } from '../trade-record.ts';
import { NO_COST } from '../trade-sums-record.ts';
import { pageOf } from '../transfer-record.ts';

export const walletProfit = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_profit',
  tag: 'wallets',
  list: 'tokens',
  summary: `What a wallet's trades brought, by token, most profit first. From transfers alone: ${NO_COST}`,
  params: {
    address: address(),
    quote: asset()
      .prefault('native')
      .describe(
        'What profits are counted in: native, or the address of a quote token. Totals never mix quotes',
      ),
    token: asset()
      .optional()
      .describe('Only this token, with the curve of its profit: an address, or native'),
    limit: limit(50, 200),
    cursor: signedAmountCursor().optional(),
  },
  response: {
    address: addressField(),
    quote: quoteSchema,
    tokens: z.array(tokenProfitSchema),
    totals: totalsSchema,
    curve: z
      .array(curvePointSchema)
      .nullable()
      .describe(
        'With token: the profit after each block with a sale, at most 500 points, with the last one. Null without',
      ),
    profitReason: z.string().nullable().describe('Why the profit fields are null; null where they are not'),
    truncated: z
      .boolean()
      .describe(
        `Whether the history is longer than what is read: the ${MAX_HISTORY_ROWS} newest transfers, and fewer where ` +
          'those that may be trades are far apart in the chain',
      ),
    fromBlock: blockField().nullable().describe('Where truncated: the first block that was read; else null'),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, token: example.token },
    response: {
      address: example.wallet,
      quote: exampleQuote,
      tokens: [exampleProfit],
      totals: exampleTotals,
      curve: [{ blockNumber: 4711, timestamp: example.time, realizedProfit: '500000000000000000' }],
      profitReason: null,
      truncated: false,
      fromBlock: null,
      nextCursor: null,
      count: 1,
    },
  },
  prepare({ db, walletIds, nativeSymbol, tradeLists }) {
    const idsAt = prepareTradeIds(db, walletIds, tradeLists);
    const assetIdOf = prepareAssetId(db, walletIds);
    const profitOf = prepareWalletProfit(db);
    const displays = prepareAssetDisplays(db, nativeSymbol);
    const rowsOf = prepareProfitRows(db, nativeSymbol);
    const curveOf = prepareCurve(db);
    const blocksOf = prepareBlocksOfTransfers(db);
    return (params, { head, budget }) => {
      const { address, limit, cursor } = params;
      const ids = idsAt(head);
      const wallet = walletIds.idOf(address);
      const quote = assetIdOf(params.quote, ids);
      const shownQuote =
        quote === undefined
          ? { tokenAddress: params.quote, symbol: null, decimals: null }
          : displays([quote])(quote, false);
      const isKnown = !isUntraced(db, head.number);
      const { tokens, uncertainTrades, readFrom } =
        wallet === undefined || quote === undefined ? NOTHING : profitOf(wallet, quote, ids, head, budget);
      const isOneToken = params.token !== undefined;
      const token = params.token === undefined ? undefined : assetIdOf(params.token, ids);
      const listed = isOneToken ? tokens.filter((row) => row.token === token) : tokens.toSorted(byProfit);
      const rest = cursor === undefined ? listed : listed.filter((row) => isAfter(row, cursor));
      const { page, last } = pageOf(rest, limit);
      return {
        address,
        quote: shownQuote,
        tokens: wallet === undefined ? [] : rowsOf(wallet, quote ?? NATIVE, page, ids, isKnown),
        totals: totalsRecord(tokens, uncertainTrades, isKnown),
        curve: isOneToken ? (isKnown ? curveOf(listed[0]) : []) : null,
        profitReason: isKnown ? null : UNTRACED_REASON,
        truncated: readFrom !== null,
        fromBlock: readFrom === null ? null : blocksOf([readFrom])[0]!.number,
        nextCursor: last === undefined ? null : `${last.ledger.realizedProfit}.${last.token}`,
        count: page.length,
      };
    };
  },
});

const NOTHING = { tokens: [], uncertainTrades: 0, readFrom: null };

/** Most profit first; of equal ones the token seen earlier first. */
function byProfit(a: TokenProfit, b: TokenProfit): number {
  const [x, y] = [a.ledger.realizedProfit, b.ledger.realizedProfit];
  if (x !== y) return x > y ? -1 : 1;
  return a.token - b.token;
}

function isAfter({ token, ledger }: TokenProfit, cursor: { amount: bigint; id: number }): boolean {
  const { realizedProfit } = ledger;
  return realizedProfit === cursor.amount ? token > cursor.id : realizedProfit < cursor.amount;
}
