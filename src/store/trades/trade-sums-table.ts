/**
 * The tables `trade_sums`, `traded_tokens` and `trade_peaks`: what the trades of each wallet add up to, by token. Their
 * rows belong to a generation (trade-generations.ts).
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import { addToSums, emptySums } from '../../trades/profit.ts';
import { type SummedTrade, summedTrade, tradesOfTransaction } from '../../trades/trade.ts';
import type { TradeIds } from '../../trades/trade-part.ts';
import type { Db, Statement } from '../open-database.ts';
import { ROWS_PER_STATEMENT, RowReader, RowWriter } from '../rows.ts';
import { DamageError } from '../storage-error.ts';
import { packSums, type QuoteSums, unpackSums } from './packed-sums.ts';
import { isLarge, TradePeakChanges, TradePeakTable } from './trade-peaks.ts';

/** Trades in memory, some 30 MB. A backfill's commit with more writes them in parts. */
const MAX_TRADES = 200_000;

/** Trades of wallets, to be added to the sums or taken back. */
interface WalletTrades {
  readonly tokens: number[];
  readonly wallets: number[];
  readonly trades: SummedTrade[];
}

type StoredSums = [place: number, sums: string];

export class TradeSumsTable {
  private readonly stored: RowReader<StoredSums>;
  private readonly rows: RowWriter;
  private readonly deleteRow: Statement;
  private readonly tradersOf: Statement<[number, number], number>;
  private readonly setTraders: Statement;
  private readonly deleteToken: Statement;
  private readonly peaks: TradePeakTable;

  constructor(db: Db) {
    this.stored = new RowReader(
      db,
      3,
      'hex(sums)',
      'trade_sums ON generation = k.column2 AND token = k.column3 AND wallet = k.column4',
    );
    this.rows = new RowWriter(
      db,
      'REPLACE INTO trade_sums (generation, token, wallet, sums) VALUES (?, ?, ?, ?)',
    );
    const key = 'generation = ? AND token = ?';
    this.deleteRow = db.prepare(`DELETE FROM trade_sums WHERE ${key} AND wallet = ?`);
    this.tradersOf = db
      .prepare<[number, number], number>(`SELECT traders FROM traded_tokens WHERE ${key}`)
      .pluck();
    this.setTraders = db.prepare('REPLACE INTO traded_tokens (generation, token, traders) VALUES (?, ?, ?)');
    this.deleteToken = db.prepare(`DELETE FROM traded_tokens WHERE ${key}`);
    this.peaks = new TradePeakTable(db);
  }

  /** Adds the trades of these transactions to the sums of a generation; with a sign of -1 takes them back. */
  change(
    generation: number,
    transactions: Iterable<readonly PartTransfer[]>,
    ids: TradeIds,
    sign: 1 | -1,
  ): void {
    this.rows.reset();
    let found: WalletTrades = { tokens: [], wallets: [], trades: [] };
    for (const transaction of transactions) {
      for (const { wallet, trade } of tradesOfTransaction(transaction, ids)) {
        const summed = summedTrade(trade);
        if (summed === null) continue;
        found.tokens.push(summed.token);
        found.wallets.push(wallet);
        found.trades.push(summed);
      }
      if (found.trades.length < MAX_TRADES) continue;
      this.write(generation, found, sign);
      found = { tokens: [], wallets: [], trades: [] };
    }
    this.write(generation, found, sign);
  }

  /** Writes the rows in key order. */
  private write(generation: number, found: WalletTrades, sign: 1 | -1): void {
    const tokens = Float64Array.from(found.tokens);
    const order = ascendingOrder(tokens, ascendingOrder(Float64Array.from(found.wallets)));
    for (let start = 0, end = 0; start < order.length; start = end) {
      const token = tokens[order[start]!]!;
      while (end < order.length && tokens[order[end]!] === token) end++;
      this.writeToken(generation, token, found, order.subarray(start, end), sign);
    }
    this.rows.flush();
  }

  /** `order`: the positions of the token's trades, by wallet. */
  private writeToken(
    generation: number,
    token: number,
    { wallets, trades }: WalletTrades,
    order: Uint32Array,
    sign: 1 | -1,
  ): void {
    const tradersBefore = this.tradersOf.get(generation, token) ?? 0;
    const peakChanges = isLarge(tradersBefore) ? new TradePeakChanges() : null;
    let traders = tradersBefore;
    for (let at = 0; at < order.length; ) {
      const some: { wallet: number; trades: SummedTrade[] }[] = [];
      while (at < order.length) {
        const wallet = wallets[order[at]!]!;
        const last = some.at(-1);
        if (last?.wallet === wallet) last.trades.push(trades[order[at]!]!);
        else if (some.length === ROWS_PER_STATEMENT) break;
        else some.push({ wallet, trades: [trades[order[at]!]!] });
        at++;
      }
      const before = this.read(
        generation,
        token,
        some.map(({ wallet }) => wallet),
      );
      for (const [i, { wallet, trades }] of some.entries()) {
        const after = changed(before[i]!, trades, sign, { token, wallet });
        traders += Number(after.length > 0) - Number(before[i]!.length > 0);
        if (after.length > 0) this.rows.add(generation, token, wallet, packSums(after));
        else this.deleteRow.run(generation, token, wallet);
        peakChanges?.record(wallet, before[i]!, after);
      }
    }
    if (traders !== tradersBefore) {
      if (traders > 0) this.setTraders.run(generation, token, traders);
      else this.deleteToken.run(generation, token);
    }
    this.savePeaks({ generation, token }, isLarge(traders), peakChanges);
  }

  private read(generation: number, token: number, wallets: readonly number[]): QuoteSums[][] {
    const found = wallets.map((): QuoteSums[] => []);
    this.stored.read(
      wallets.flatMap((wallet) => [generation, token, wallet]),
      ([, sums], place) => {
        found[place] = unpackSums(Buffer.from(sums, 'hex'));
      },
    );
    return found;
  }

  private savePeaks(
    of: { generation: number; token: number },
    isLarge: boolean,
    changes: TradePeakChanges | null,
  ): void {
    if (!isLarge && changes === null) return;
    this.rows.flush(); // peaks are computed from the rows
    if (!isLarge) this.peaks.remove(of);
    else if (changes === null) this.peaks.create(of);
    else this.peaks.update(of, changes);
  }
}

/** The sums after these trades. Throws DamageError if more is taken back than was added. */
function changed(
  before: readonly QuoteSums[],
  trades: readonly SummedTrade[],
  sign: 1 | -1,
  row: { token: number; wallet: number },
): QuoteSums[] {
  const after = before.map((sums) => ({ ...sums }));
  for (const trade of trades) {
    let sums = after.find(({ quote }) => quote === trade.quote);
    if (sums === undefined) {
      sums = { quote: trade.quote, ...emptySums() };
      after.push(sums);
    }
    addToSums(sums, trade, sign);
  }
  if (sign < 0) for (const sums of after) requireWhole(sums, row);
  return after.filter(({ buys, sells }) => buys + sells > 0).sort((a, b) => a.quote - b.quote);
}

function requireWhole(
  { buys, sells, bought, spent, sold, received }: QuoteSums,
  { token, wallet }: { token: number; wallet: number },
): void {
  const isSide = (count: number, ...amounts: bigint[]) =>
    count > 0
      ? amounts.every((amount) => amount > 0n)
      : count === 0 && amounts.every((amount) => amount === 0n);
  if (isSide(buys, bought, spent) && isSide(sells, sold, received)) return;
  throw new DamageError(
    `the trades of wallet ${wallet} and token ${token} add up to more than its stored sums`,
  );
}
