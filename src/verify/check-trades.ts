/**
 * Compares the sums of trades with a recount from each wallet's transfers, and with these sums the number of traders
 * and the peaks of each token. A wallet's part in a transaction follows from its own transfers, so the recount shares
 * only what a trade is (trades/) with the indexer.
 */
import { encodeSigned } from '../lib/signed.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { prepareWalletNames } from '../store/addresses.ts';
import { prepareIsGap } from '../store/block-gaps.ts';
import { prepareBlockOfTransfer } from '../store/chain.ts';
import { prepareDerivedEnd } from '../store/derived.ts';
import { type Db, highest, type Statement } from '../store/open-database.ts';
import { DamageError } from '../store/storage-error.ts';
import { packSums, type QuoteSums, unpackSums } from '../store/trades/packed-sums.ts';
import {
  prepareStoredTradeIds,
  prepareTradeGenerations,
  type TradeGeneration,
} from '../store/trades/trade-generations.ts';
import { isLarge, tradeSpanOf } from '../store/trades/trade-peaks.ts';
import type { DecodedTransfer } from '../tokens/decoded-transfer.ts';
import { averageCostProfit } from '../trades/profit.ts';
import { type SummedTrade, summedTrade, tradeOf } from '../trades/trade.ts';
import { type TradeIds, TradePart } from '../trades/trade-part.ts';
import type { Check } from './report.ts';

/** A recounted wallet, and the tokens of its transfers. */
interface ComparedWallet {
  id: number;
  trades: TradeRecount | null;
  moved: Iterable<number>;
}

/** Recounts the trades of a wallet. Keeps one transaction at a time. */
export class TradeRecount {
  /** By token and quote. */
  readonly sums = new Map<number, Map<number, QuoteSums>>();
  private readonly wallet: number;
  private readonly rules: TradeComparer;
  private part: TradePart | null = null;
  private transaction = 0;

  constructor(wallet: number, rules: TradeComparer) {
    this.wallet = wallet;
    this.rules = rules;
  }

  /** Adds a transfer of the wallet, in chain order. */
  add(row: DecodedTransfer): void {
    if (row.transaction !== this.transaction) this.conclude();
    this.transaction = row.transaction;
    this.part ??= new TradePart(this.wallet, this.rules.ids);
    const { sender: from, receiver: to, kind, token, tokenNumber, amount } = row;
    this.part.add({ from, to, kind, token: token ?? NATIVE, tokenNumber, amount });
  }

  /** Counts the transaction that was added last. */
  conclude(): void {
    const { ids } = this.rules;
    const trade = this.part === null || this.wallet === ids.zero ? null : tradeOf(this.part, ids);
    this.part = null;
    const summed = trade && summedTrade(trade);
    if (summed !== null && !this.rules.isInGap(this.transaction)) this.count(summed);
  }

  private count({ token, quote, isBuy, amount, quoteAmount }: SummedTrade): void {
    const ofToken = this.sums.get(token) ?? new Map<number, QuoteSums>();
    this.sums.set(token, ofToken);
    const none = { quote, buys: 0, sells: 0, bought: 0n, sold: 0n, spent: 0n, received: 0n };
    const { buys, sells, bought, sold, spent, received } = ofToken.get(quote) ?? none;
    ofToken.set(
      quote,
      isBuy
        ? {
            quote,
            buys: buys + 1,
            sells,
            bought: bought + amount,
            sold,
            spent: spent + quoteAmount,
            received,
          }
        : {
            quote,
            buys,
            sells: sells + 1,
            bought,
            sold: sold + amount,
            spent,
            received: received + quoteAmount,
          },
    );
  }
}

/** The comparison of an index whose sums are complete. */
export class TradeComparer {
  /** As of the last `refresh`. */
  ids: TradeIds;
  readonly generation: number;
  private readonly db: Db;
  private readonly refreshed: () => TradeIds;
  private readonly generations: ReturnType<typeof prepareTradeGenerations>;
  private readonly nameOf: (wallet: number) => string;
  private readonly blockOf: (transfer: number) => number | null;
  private readonly isGap: (block: number) => boolean;
  private readonly stored: Statement<[number, number, number], Buffer>;
  private readonly sumsOf: Statement<[number, number], { wallet: number; sums: Buffer }>;
  private readonly tradersOf: Statement<[number, number], number>;
  private readonly peaksOf: Statement<[number, number], [number, number, Buffer, Buffer]>;

  /** Null, with a note unless the index has no lists yet, where there is nothing to compare up to `last`. */
  static begin(db: Db, check: Check, last: number): TradeComparer | null {
    try {
      const { current } = prepareTradeGenerations(db)();
      const end = prepareDerivedEnd(db)('trade_sums');
      if (current === null && end > 0) check.addDifference('trade_rules has no row');
      if (current === null) return null;
      if (end >= last) return new TradeComparer(db, current);
      check.addNote('the sums of trades were not compared: the daemon has not added up all of them yet');
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      check.addDifference(error.message);
    }
    return null;
  }

  private constructor(db: Db, { generation, rules }: TradeGeneration) {
    const idsOf = prepareStoredTradeIds(db);
    this.db = db;
    this.generation = generation;
    this.refreshed = () => idsOf(rules);
    this.ids = this.refreshed();
    this.generations = prepareTradeGenerations(db);
    this.nameOf = prepareWalletNames(db);
    this.blockOf = prepareBlockOfTransfer(db);
    this.isGap = prepareIsGap(db);
    const key = 'generation = ? AND token = ?';
    this.stored = db
      .prepare<[number, number, number], Buffer>(
        `SELECT CAST(sums AS BLOB) FROM trade_sums WHERE ${key} AND wallet = ?`,
      )
      .pluck();
    this.sumsOf = db.prepare(`SELECT wallet, CAST(sums AS BLOB) AS sums FROM trade_sums WHERE ${key}`);
    this.tradersOf = db
      .prepare<[number, number], number>(`SELECT traders FROM traded_tokens WHERE ${key}`)
      .pluck();
    this.peaksOf = db
      .prepare<[number, number], [number, number, Buffer, Buffer]>(
        `SELECT quote, span, CAST(profit AS BLOB), CAST(loss AS BLOB) FROM trade_peaks WHERE ${key}`,
      )
      .raw();
  }

  /** Finds the ids of the lists again: a contract has one once it has a transfer. */
  refresh(): void {
    this.ids = this.refreshed();
  }

  /** Whether its sums are still those in use. */
  isCurrent(): boolean {
    return this.generations().current?.generation === this.generation;
  }

  isInGap(transfer: number): boolean {
    return this.isGap(this.blockOf(transfer) ?? 0);
  }

  /** Compares the rows of a wallet, which has moved these tokens. */
  compareWallet({ id: wallet, trades, moved }: ComparedWallet, check: Check): void {
    if (trades === null) return;
    trades.conclude();
    for (const token of new Set([NATIVE, ...moved])) {
      const expected = [...(trades.sums.get(token)?.values() ?? [])].sort((a, b) => a.quote - b.quote);
      const stored = this.stored.get(this.generation, token, wallet);
      if (Buffer.compare(stored ?? NOTHING, packSums(expected)) === 0) continue;
      const found = stored === undefined ? 'none' : textOf(unpackSums(stored));
      check.addDifference(
        `the trades of ${this.nameOf(wallet)} with token ${token} add up to ${found} in the index, must be ` +
          `${textOf(expected)}`,
      );
    }
  }

  /** Compares what follows from the sums of a token. `moved`: the wallets that may have any. */
  compareToken(token: number, moved: { has(wallet: number): boolean }, check: Check): void {
    let traders = 0;
    const peaks = new Map<string, { highest: bigint; lowest: bigint }>();
    for (const { wallet, sums } of this.sumsOf.iterate(this.generation, token)) {
      traders++;
      if (!moved.has(wallet))
        check.addDifference(`wallet ${wallet} has trades with token ${token}, of which it has no transfers`);
      for (const each of unpackSums(sums)) {
        const profit = averageCostProfit(each);
        const key = `${each.quote} ${tradeSpanOf(wallet)}`;
        const known = peaks.get(key);
        if (known === undefined) peaks.set(key, { highest: profit, lowest: profit });
        else if (profit > known.highest) known.highest = profit;
        else if (profit < known.lowest) known.lowest = profit;
      }
    }
    check.expect(
      `the number of traders of token ${token}`,
      this.tradersOf.get(this.generation, token) ?? 0,
      traders,
    );
    if (!isLarge(traders)) peaks.clear();
    for (const [quote, span, profit, loss] of this.peaksOf.all(this.generation, token)) {
      const expected = peaks.get(`${quote} ${span}`);
      peaks.delete(`${quote} ${span}`);
      const isRight =
        expected !== undefined &&
        Buffer.compare(profit, encodeSigned(expected.highest)) === 0 &&
        Buffer.compare(loss, encodeSigned(expected.lowest)) === 0;
      if (!isRight)
        check.addDifference(
          `the most and least profit in span ${span} of token ${token} against ${quote} are wrong, must be ` +
            `${expected ? `${expected.highest} and ${expected.lowest}` : 'none'}`,
        );
    }
    if (peaks.size > 0)
      check.addDifference(`${peaks.size} spans of the profits with token ${token} are missing`);
  }

  /**
   * Compares what belongs to no token: the trades of the native coin, if at most `maxTraders` wallets have any, and
   * that there are no rows of later tokens.
   */
  compareRest(check: Check, maxTraders: number): void {
    if (!this.isCurrent()) return;
    const last = highest(this.db, 'wallets');
    const traders = this.tradersOf.get(this.generation, NATIVE) ?? 0;
    if (traders <= maxTraders) this.compareToken(NATIVE, { has: (wallet) => wallet <= last }, check);
    const lastToken = highest(this.db, 'tokens');
    for (const table of ['trade_sums', 'traded_tokens', 'trade_peaks']) {
      const token =
        this.db
          .prepare<[number], number | null>(`SELECT max(token) FROM ${table} WHERE generation = ?`)
          .pluck()
          .get(this.generation) ?? 0;
      if (token > lastToken)
        check.addDifference(
          `${table} has a row of token ${token}, but ${lastToken} is the last one: rebuild the index`,
        );
    }
  }
}

const NOTHING = new Uint8Array(0);

function textOf(sums: readonly QuoteSums[]): string {
  const texts = sums.map(
    ({ quote, buys, bought, spent, sells, sold, received }) =>
      `${buys} buys of ${bought} for ${spent} and ${sells} sells of ${sold} for ${received} (quote ${quote})`,
  );
  return texts.length === 0 ? 'none' : texts.join(', ');
}
