/** Compares the traders that the API gives of a token with a plain count of the transfers. */
import assert from 'node:assert/strict';
import type { AskApi } from '../clients/ask-api.ts';
import type { PlainTrade, PlainTrades } from './plain-trades.ts';

type Json = Record<string, unknown>;

export interface PlainTrader {
  address: string;
  buys: number;
  sells: number;
  bought: bigint;
  spent: bigint;
  sold: bigint;
  received: bigint;
  profit: bigint;
  /** Number of its newest trade's block. */
  lastBlock: number;
}

/** The traders of a token (`native` for the coin) in a quote, by the trades that count. */
export function plainTraders(
  plain: PlainTrades,
  token: string,
  quote: string,
  counts: (trade: PlainTrade) => boolean = () => true,
): PlainTrader[] {
  const found: PlainTrader[] = [];
  for (const [address, trades] of plain.byWallet) {
    const own = trades.filter(
      (trade) =>
        trade.asset !== null &&
        trade.asset.standard !== 'erc1155' &&
        (trade.asset.contract ?? 'native') === token &&
        trade.quote === quote &&
        counts(trade),
    );
    if (own.length === 0) continue;
    const buys = own.filter(({ kind }) => kind === 'buy');
    const sells = own.filter(({ kind }) => kind === 'sell');
    const sum = (some: PlainTrade[], side: 'given' | 'received') =>
      some.reduce((total, trade) => total + trade[side][0]!.amount, 0n);
    const [bought, spent] = [sum(buys, 'received'), sum(buys, 'given')];
    const [sold, received] = [sum(sells, 'given'), sum(sells, 'received')];
    let matched = sold;
    if (bought < sold) matched = bought;
    const profit = matched === 0n ? 0n : (received * matched) / sold - (spent * matched) / bought;
    const lastBlock = Math.max(...own.map(({ block }) => block));
    found.push({
      address,
      buys: buys.length,
      sells: sells.length,
      bought,
      spent,
      sold,
      received,
      profit,
      lastBlock,
    });
  }
  return found;
}

/** All pages of a list of traders. */
export async function allTraders(ask: AskApi, input: Record<string, string>): Promise<Json[]> {
  const found: Json[] = [];
  for (let cursor: unknown = null; ; ) {
    const answer = await ask('token_traders', { ...input, ...(cursor !== null && { cursor: `${cursor}` }) });
    const { traders, nextCursor, truncated } = answer;
    assert.ok(Array.isArray(traders));
    assert.equal(truncated, false);
    found.push(...traders);
    cursor = nextCursor;
    if (cursor === null) return found;
  }
}

function shown(row: Json): unknown[] {
  const { address, buys, sells, bought, spent, sold, received, averageCostProfit } = row;
  return [address, buys, sells, bought, spent, sold, received, averageCostProfit];
}

function wanted({ address, buys, sells, bought, spent, sold, received, profit }: PlainTrader): unknown[] {
  return [address, buys, sells, `${bought}`, `${spent}`, `${sold}`, `${received}`, `${profit}`];
}

/** Compares the rows, in any order, and the order by profit or loss; returns how many there are. */
export async function compareTraders(
  ask: AskApi,
  input: Record<string, string>,
  expected: readonly PlainTrader[],
): Promise<number> {
  const byAddress = (a: unknown[], b: unknown[]) => (`${a[0]}` < `${b[0]}` ? -1 : 1);
  for (const order of ['profit', 'loss', 'recent'] as const) {
    const rows = await allTraders(ask, { ...input, order, limit: '8', include_contracts: 'true' });
    assert.deepEqual(
      rows.map(shown).sort(byAddress),
      expected.map(wanted).sort(byAddress),
      JSON.stringify(input),
    );
    const keys = rows.map(({ address, averageCostProfit }) =>
      order === 'recent'
        ? BigInt(expected.find((trader) => trader.address === address)?.lastBlock ?? 0)
        : BigInt(`${averageCostProfit}`) * (order === 'profit' ? 1n : -1n),
    );
    assert.deepEqual(
      keys,
      keys.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0)),
    );
  }
  return expected.length;
}
