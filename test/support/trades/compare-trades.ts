/** Compares the trades and profits that the API gives of every wallet with a plain count of the transfers. */
import assert from 'node:assert/strict';
import type { AskApi } from '../clients/ask-api.ts';
import type { PlainLeg, PlainTrade, PlainTrades } from './plain-trades.ts';

type Json = Record<string, unknown>;

export interface TradeCounts {
  buy: number;
  sell: number;
  swap: number;
  mixed: number;
  /** Rows of profits compared. */
  rows: number;
}

/** Compares all wallets; `quotes` are contracts or `native`. Returns how much was compared. */
export async function compareTrades(
  ask: AskApi,
  plain: PlainTrades,
  wallets: readonly string[],
  quotes: readonly string[],
): Promise<TradeCounts> {
  const counts: TradeCounts = { buy: 0, sell: 0, swap: 0, mixed: 0, rows: 0 };
  for (const address of wallets) {
    const expected = [...(plain.byWallet.get(address) ?? [])].reverse();
    const trades = await allOf(ask, 'wallet_trades', 'trades', { address, limit: '3' });
    assert.deepEqual(trades.map(shownTrade), expected.map(plainTrade), `trades of ${address}`);
    for (const { kind } of expected) counts[kind]++;
    for (const quote of expected.length === 0 ? ['native'] : quotes) {
      const rows = await allOf(ask, 'wallet_profit', 'tokens', { address, quote, limit: '2' });
      const wanted = plain.profits(address, quote);
      assert.deepEqual(
        new Map(rows.map((row) => [row.tokenAddress ?? 'native', shownProfit(row)])),
        new Map(
          [...wanted].map(([token, profit]) => [token, plainProfit(plain, address, quote, token, profit)]),
        ),
        `profits of ${address} in ${quote}`,
      );
      const profits = rows.map(({ realizedProfit }) => BigInt(String(realizedProfit)));
      assert.deepEqual(
        profits,
        profits.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0)),
      );
      await compareTotals(ask, address, quote, [...wanted.values()]);
      counts.rows += rows.length;
    }
  }
  return counts;
}

export async function allOf(
  ask: AskApi,
  path: string,
  list: string,
  input: Record<string, string>,
): Promise<Json[]> {
  const found: Json[] = [];
  for (let cursor: unknown = null; ; ) {
    const answer = await ask(path, { ...input, ...(cursor !== null && { cursor: `${cursor}` }) });
    const { [list]: records, nextCursor } = answer;
    assert.ok(Array.isArray(records));
    found.push(...records);
    cursor = nextCursor;
    if (cursor === null) return found;
  }
}

/** A record in the words of `plainTrade`. */
export function shownTrade(record: Json): Json {
  const { txHash, blockNumber, kind, given, received, fees, tokenAddress, quote } = record;
  return {
    txHash,
    blockNumber,
    kind,
    given: shownLegs(given),
    received: shownLegs(received),
    fees: shownLegs(fees),
    tokenAddress,
    quote: quote === null ? null : contractOf(quote),
  };
}

function contractOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? (Reflect.get(value, 'tokenAddress') ?? 'native')
    : undefined;
}

/** In a normalised order: the program lists legs by their first transfers. */
function shownLegs(legs: unknown): string[] {
  assert.ok(Array.isArray(legs));
  return legs
    .map((leg: Json) => {
      const id = Array.isArray(leg.tokenIds) && leg.decimals !== 0 ? `#${leg.tokenIds.join()}` : '';
      return `${leg.amount} ${leg.tokenAddress ?? 'native'}${id}`;
    })
    .sort();
}

function plainLegs(legs: readonly PlainLeg[]): string[] {
  return legs.map(({ amount, asset }) => `${amount} ${asset.replace('!', '')}`).sort();
}

export function plainTrade({ hash, block, kind, given, received, fees, asset, quote }: PlainTrade): Json {
  return {
    txHash: hash,
    blockNumber: block,
    kind,
    given: plainLegs(given),
    received: plainLegs(received),
    fees: plainLegs(fees),
    tokenAddress: asset?.contract ?? null,
    quote,
  };
}

function shownProfit(row: Json): Json {
  const { buys, sells, bought, spent, sold, received, realizedProfit, soldWithoutCost, position, cost } = row;
  const { receivedWithoutCost, firstTradeBlock, lastTradeBlock, netTransferred, balance, otherQuotes } = row;
  assert.ok(Array.isArray(otherQuotes));
  return {
    counts: [buys, sells],
    sums: [bought, spent, sold, received],
    profit: [realizedProfit, soldWithoutCost, receivedWithoutCost, position, cost],
    blocks: [firstTradeBlock, lastTradeBlock],
    traded: `${BigInt(String(balance)) - BigInt(String(netTransferred))}`,
    otherQuotes: otherQuotes.map(contractOf).sort(),
  };
}

function plainProfit(
  plain: PlainTrades,
  address: string,
  quote: string,
  token: string,
  profit: ReturnType<PlainTrades['profits']> extends Map<string, infer P> ? P : never,
): Json {
  const { net, quotes } = plain.traded(address, token);
  quotes.delete(quote);
  const { soldWithoutCost, receivedWithoutCost, position, cost } = profit;
  return {
    counts: [profit.buys, profit.sells],
    sums: [profit.bought, profit.spent, profit.sold, profit.received].map(String),
    profit: [profit.realized, soldWithoutCost, receivedWithoutCost, position, cost].map(String),
    blocks: [profit.firstBlock, profit.lastBlock],
    traded: `${net}`,
    otherQuotes: [...quotes].sort(),
  };
}

async function compareTotals(
  ask: AskApi,
  address: string,
  quote: string,
  profits: readonly { realized: bigint; spent: bigint; received: bigint; bought: bigint; sold: bigint }[],
): Promise<void> {
  const { totals } = await ask('wallet_profit', { address, quote, limit: '1' });
  const sum = (of: (profit: (typeof profits)[number]) => bigint) =>
    `${profits.reduce((total, profit) => total + of(profit), 0n)}`;
  const matched = profits.filter(({ bought, sold }) => bought > 0n && sold > 0n);
  const wins = matched.filter(({ realized }) => realized > 0n).length;
  const losses = matched.filter(({ realized }) => realized < 0n).length;
  const { winRate, unmatchedShare, ...rest } = Object(totals);
  assert.deepEqual(rest, {
    realizedProfit: sum(({ realized }) => realized),
    spent: sum(({ spent }) => spent),
    received: sum(({ received }) => received),
    tokens: profits.length,
    wins,
    losses,
    uncertainTrades: 0,
  });
  if (wins + losses === 0) assert.equal(winRate, null);
  else assert.ok(Math.abs(winRate - wins / (wins + losses)) < 1e-9);
}
