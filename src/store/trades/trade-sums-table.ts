/**
 * The tables `trade_sums`, `traded_tokens` and `trade_peaks`: what the trades of each wallet add up to, by token. Their
 * rows belong to a generation (trade-generations.ts).
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import { addToSums } from '../../trades/profit.ts';
import { type SummedTrade, summedTrade, tradesOfTransaction } from '../../trades/trade.ts';
import type { TradeIds } from '../../trades/trade-part.ts';
import type { Db, Statement } from '../open-database.ts';
import { ROWS_PER_STATEMENT, RowReader, RowWriter } from '../rows.ts';
import { scratchOfHex } from '../scratch.ts';
import { DamageError } from '../storage-error.ts';
import { noSums, packSums, type QuoteSums, unpackSums } from './packed-sums.ts';
import { isLarge, profitsOf, TradePeakChanges, TradePeakTable } from './trade-peaks.ts';

/** Trades in memory, some 30 MB. A backfill's commit with more writes them in parts. */
const MAX_TRADES = 200_000;

/** Trades of wallets, to be added to the sums or taken back. */
interface WalletTrades {
  readonly tokens: number[];
  readonly wallets: number[];
  readonly trades: SummedTrade[];
}

/** A row, and the trades that change it: those at `order[start..end - 1]`. */
interface RowChange {
  readonly token: number;
  readonly wallet: number;
  readonly start: number;
  readonly end: number;
}

/** What happens to a token. */
interface TokenChange {
  /** Its number of rows. */
  readonly before: number;
  traders: number;
  /** Null unless it was large before. */
  readonly peaks: TradePeakChanges | null;
}

type StoredSums = [place: number, sums: string];

type StoredTraders = [place: number, traders: number];

export class TradeSumsTable {
  private readonly stored: RowReader<StoredSums>;
  private readonly rows: RowWriter;
  private readonly deleteRow: Statement;
  private readonly storedTraders: RowReader<StoredTraders>;
  private readonly traders: RowWriter;
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
    this.storedTraders = new RowReader(
      db,
      2,
      'traders',
      'traded_tokens ON generation = k.column2 AND token = k.column3',
    );
    this.traders = new RowWriter(
      db,
      'REPLACE INTO traded_tokens (generation, token, traders) VALUES (?, ?, ?)',
    );
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
    this.traders.reset();
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

  /** Writes the rows in key order. A block has few trades of each token, so a statement takes rows of several. */
  private write(generation: number, found: WalletTrades, sign: 1 | -1): void {
    const wallets = ascendingOrder(new Float64Array(found.wallets));
    const order = ascendingOrder(new Float64Array(found.tokens), wallets);
    const changes = rowsChanged(found, order);
    const tokens = this.readTokens(generation, changes);
    for (let at = 0; at < changes.length; at += ROWS_PER_STATEMENT) {
      const some = changes.slice(at, at + ROWS_PER_STATEMENT);
      for (const [i, sums] of this.read(generation, some).entries()) {
        const change = some[i]!;
        const ofToken = tokens.get(change.token)!;
        const isNew = sums.length === 0;
        const before = ofToken.peaks && profitsOf(sums);
        for (let place = change.start; place < change.end; place++)
          addTrade(sums, found.trades[order[place]!]!, sign);
        const after = sign > 0 ? sums : whatIsLeft(sums, change);
        ofToken.traders += Number(after.length > 0) - Number(!isNew);
        if (after.length > 0) this.rows.add(generation, change.token, change.wallet, packSums(after));
        else this.deleteRow.run(generation, change.token, change.wallet);
        if (before !== null) ofToken.peaks?.record(change.wallet, before, profitsOf(after));
      }
    }
    this.rows.flush(); // peaks are computed from the rows
    for (const [token, { before, traders, peaks }] of tokens) {
      if (traders > 0 && traders !== before) this.traders.add(generation, token, traders);
      else if (traders === 0) this.deleteToken.run(generation, token);
      this.savePeaks({ generation, token }, isLarge(traders), peaks);
    }
    this.traders.flush();
  }

  private readTokens(generation: number, changes: readonly RowChange[]): Map<number, TokenChange> {
    const tokens = [...new Set(changes.map(({ token }) => token))];
    const traders = new Map<number, number>();
    this.storedTraders.read(
      tokens.flatMap((token) => [generation, token]),
      ([, stored], place) => traders.set(tokens[place]!, stored),
    );
    return new Map(
      tokens.map((token) => {
        const before = traders.get(token) ?? 0;
        const peaks = isLarge(before) ? new TradePeakChanges() : null;
        return [token, { before, traders: before, peaks }];
      }),
    );
  }

  /** The stored sums of these rows, empty where there is no row. */
  private read(generation: number, changes: readonly RowChange[]): QuoteSums[][] {
    const found: QuoteSums[][] = [];
    const keys: number[] = [];
    for (const { token, wallet } of changes) {
      found.push([]);
      keys.push(generation, token, wallet); // several times as fast as flatMap
    }
    this.stored.read(keys, ([, sums], place) => {
      found[place] = unpackSums(scratchOfHex(sums));
    });
    return found;
  }

  private savePeaks(
    of: { generation: number; token: number },
    isLarge: boolean,
    changes: TradePeakChanges | null,
  ): void {
    if (!isLarge && changes === null) return;
    if (!isLarge) this.peaks.remove(of);
    else if (changes === null) this.peaks.create(of);
    else this.peaks.update(of, changes);
  }
}

/** The rows that trades change. `order`: their positions by token and wallet. */
function rowsChanged({ tokens, wallets }: WalletTrades, order: Uint32Array): RowChange[] {
  const changes: RowChange[] = [];
  for (let start = 0, end = 0; start < order.length; start = end) {
    const token = tokens[order[start]!]!;
    const wallet = wallets[order[start]!]!;
    while (end < order.length && wallets[order[end]!] === wallet && tokens[order[end]!] === token) end++;
    changes.push({ token, wallet, start, end });
  }
  return changes;
}

/** Adds a trade to the sums of its row, or takes it back. */
function addTrade(sums: QuoteSums[], trade: SummedTrade, sign: 1 | -1): void {
  let at = 0;
  while (at < sums.length && sums[at]!.quote < trade.quote) at++;
  if (sums[at]?.quote !== trade.quote) sums.splice(at, 0, noSums(trade.quote));
  addToSums(sums[at]!, trade, sign);
}

/** The sums with trades. Throws DamageError if more was taken back than was added. */
function whatIsLeft(sums: readonly QuoteSums[], change: RowChange): QuoteSums[] {
  for (const each of sums) requireWhole(each, change);
  return sums.filter(({ buys, sells }) => buys + sells > 0);
}

function requireWhole(
  { buys, sells, bought, spent, sold, received }: QuoteSums,
  { token, wallet }: RowChange,
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
