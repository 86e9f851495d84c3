/** Compares the rows of wallets and tokens, and the sums of a busy wallet's counterparties, with a recount. */
import { decodeSigned } from '../lib/signed.ts';
import { isNativeKind, TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';
import { type AddressKeys, getByAddress, prepareWalletNames, WALLET_BY_ADDRESS } from '../store/addresses.ts';
import { prepareBlockOfTransfer } from '../store/chain.ts';
import { addToSums, PAGES_PER_FOLD, SumsCursor, sumsSpanOf } from '../store/counterparty-sums.ts';
import { CounterpartyTable, type CounterpartyTotals } from '../store/counterparty-table.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { PageCursor } from '../store/paged-history.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { prepareBuyersOf } from '../store/tokens/first-buyers.ts';
import { LARGE_TOKEN_WALLETS, peakSpanOf } from '../store/tokens/holding-peaks.ts';
import type { HoldingRow } from '../store/tokens/holding-row.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import { decodeAmount } from '../tokens/decoded-transfer.ts';
import type { RecountedEntry, TokenRecount, WalletRecount } from './recount.ts';
import { type Check, type Difference, storedNumber } from './report.ts';

export class TokenComparer {
  private readonly blockOf: (transfer: number) => number | null;
  private readonly nameOf: (wallet: number) => string;
  private readonly row: Statement<[number], Record<string, number> & { wallet: number }>;
  private readonly holdings: Statement<[number], Omit<HoldingRow, 'token'>>;
  private readonly peaks: Statement<[number], { span: number; peak: Buffer }>;
  private readonly buyersOf: ReturnType<typeof prepareBuyersOf>;
  private readonly recent: Statement<[number], Buffer>;
  private readonly pageAt: Statement<[number, number], Buffer>;
  private readonly pageCount: Statement<[number], number>;

  constructor(db: Db) {
    this.blockOf = prepareBlockOfTransfer(db);
    this.nameOf = prepareWalletNames(db);
    this.row = db.prepare(
      'SELECT wallet, transfers, holders, wallets, buyers, first_transfer, kind FROM tokens WHERE id = ?',
    );
    this.holdings = db.prepare(
      'SELECT wallet, transfers, CAST(balance AS BLOB) AS balance FROM holdings WHERE token = ?',
    );
    this.peaks = db.prepare('SELECT span, CAST(peak AS BLOB) AS peak FROM holding_peaks WHERE token = ?');
    this.buyersOf = prepareBuyersOf(db);
    this.recent = db
      .prepare<[number], Buffer>('SELECT CAST(recent AS BLOB) FROM tokens WHERE id = ?')
      .pluck();
    this.pageAt = db
      .prepare<[number, number], Buffer>(
        'SELECT CAST(entries AS BLOB) FROM token_activity WHERE token = ? AND first_transfer = ?',
      )
      .pluck();
    this.pageCount = db
      .prepare<[number], number>('SELECT count(*) FROM token_activity WHERE token = ?')
      .pluck();
  }

  /** Reports every difference between a token's rows and the recount of all its transfers. */
  compare(recount: TokenRecount, check: Check): void {
    const row = this.row.get(recount.id);
    if (row === undefined) return; // reported as missing
    const name = `of token ${this.nameOf(row.wallet)}`;
    for (const [column, expected] of Object.entries(recount.expectedColumns()))
      check.expect(`${column} ${name}`, row[column], expected);
    this.compareHoldings(recount, name, check);
    this.comparePeaks(recount, name, check);
    this.compareBuyers(recount, name, check);
    if (recount.comparePage !== null) this.compareHistory(recount, name, check);
  }

  /** How a stored history page differs from a full page of the recount, which never changes. */
  pageDifference(recount: TokenRecount): Difference | null {
    return this.historyDifference(recount, this.pageAt.get(recount.id, recount.page[0]!));
  }

  private compareHistory(recount: TokenRecount, name: string, check: Check): void {
    check.expect(`the number of full history pages ${name}`, this.pageCount.get(recount.id), recount.pages);
    const difference = recount.pageDifference ?? this.historyDifference(recount, this.recent.get(recount.id));
    if (difference !== null) check.addDifference(`the history ${name}: ${difference.text}`, difference.block);
  }

  private historyDifference(recount: TokenRecount, page: Uint8Array = new Uint8Array(0)): Difference | null {
    const cursor = new PageCursor().open(page, recount.firstTransfer);
    const stored: number[] = [];
    while (cursor.next()) stored.push(cursor.transfer);
    const longer = stored.length > recount.page.length ? stored : recount.page;
    const at = longer.findIndex((_, i) => stored[i] !== recount.page[i]);
    if (at < 0) return null;
    return {
      text:
        `page ${recount.pages + 1} has transfer ${stored[at] ?? 'none'} where ` +
        `${recount.page[at] ?? 'none'} must be`,
      block: this.blockOf(recount.page[at] ?? longer[at]!),
    };
  }

  private compareHoldings(recount: TokenRecount, name: string, check: Check): void {
    let seen = 0;
    let sum = 0n;
    for (const { wallet, transfers, balance } of this.holdings.iterate(recount.id)) {
      const expected = recount.holdings.get(wallet);
      const what = `the holding of ${this.nameOf(wallet)} ${name}`;
      sum += decodeSigned(balance);
      if (expected === undefined) {
        check.addDifference(`${what} is there, must not be`);
        continue;
      }
      seen++;
      check.expect(`${what} (transfers)`, transfers, expected.transfers);
      check.expect(`${what} (balance)`, storedNumber(balance), expected.balance);
    }
    if (seen < recount.holdings.size)
      check.addDifference(`${recount.holdings.size - seen} holdings ${name} are missing`);
    check.expect(`the sum of all holdings ${name}`, sum, 0n);
  }

  private comparePeaks(recount: TokenRecount, name: string, check: Check): void {
    const expected = peaksOf(recount);
    for (const { span, peak } of this.peaks.iterate(recount.id)) {
      check.expect(`the largest holding in span ${span} ${name}`, storedNumber(peak), expected.get(span));
      expected.delete(span);
    }
    for (const [span, peak] of expected)
      check.expect(`the largest holding in span ${span} ${name}`, undefined, peak);
  }

  private compareBuyers(recount: TokenRecount, name: string, check: Check): void {
    const expected = [...recount.buyers];
    const rows = this.buyersOf(recount.id);
    const at = expected.findIndex(
      ([wallet, transfer], i) => rows[i]?.wallet !== wallet || rows[i]?.transfer !== transfer,
    );
    if (at < 0 && rows.length === expected.length) return;
    const place = at < 0 ? expected.length : at;
    const transfer = expected[place]?.[1] ?? rows[place]?.transfer ?? 0;
    check.addDifference(
      `first buyer ${place + 1} ${name} is wallet ${rows[place]?.wallet}, must be ${expected[place]?.[0]}`,
      this.blockOf(transfer),
    );
  }
}

/** The largest holding above zero of each span; none unless the token is large. */
function peaksOf({ holdings }: TokenRecount): Map<number, bigint> {
  const peaks = new Map<number, bigint>();
  if (holdings.size - Number(holdings.has(ZERO_WALLET)) <= LARGE_TOKEN_WALLETS) return peaks;
  for (const [wallet, { balance }] of holdings) {
    const span = peakSpanOf(wallet);
    if (wallet !== ZERO_WALLET && balance > (peaks.get(span) ?? 0n)) peaks.set(span, balance);
  }
  return peaks;
}

/** Most fundings of a funder to check one by one. An exchange has millions. */
const MAX_FUNDINGS = 10_000;

type WalletRow = Record<string, number | null> & { funded: number };
type WalletBytes = { address: Buffer; native_received: Buffer; native_sent: Buffer; recent: Buffer };

export class WalletComparer {
  private readonly blockOf: (transfer: number) => number | null;
  private readonly nameOf: (wallet: number) => string;
  private readonly row: Statement<[number], WalletRow>;
  private readonly bytes: Statement<[number], WalletBytes>;
  private readonly pageAt: Statement<[number, number], Buffer>;
  private readonly pageCount: Statement<[number], number>;
  private readonly fundedBy: Statement<[number], number>;
  private readonly listed: Statement<[number, number | null], unknown>;
  private readonly notFirst: Statement<[number], number>;
  private readonly byAddress: Statement<AddressKeys, number>;
  private readonly compareSums: ReturnType<typeof prepareSumsComparer>;

  constructor(db: Db) {
    this.blockOf = prepareBlockOfTransfer(db);
    this.nameOf = prepareWalletNames(db);
    this.row = db.prepare(/* sql */ `
      SELECT transfers, transactions, tokens, token_transfers, internal_received, first_transfer, last_transfer,
        first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded
      FROM wallets WHERE id = ?`);
    this.bytes = db.prepare('SELECT address, native_received, native_sent, recent FROM wallets WHERE id = ?');
    this.pageAt = db
      .prepare<[number, number], Buffer>(
        'SELECT entries FROM activity WHERE wallet = ? AND first_transfer = ?',
      )
      .pluck();
    this.pageCount = db.prepare<[number], number>('SELECT count(*) FROM activity WHERE wallet = ?').pluck();
    this.fundedBy = db.prepare<[number], number>('SELECT count(*) FROM fundings WHERE funder = ?').pluck();
    this.listed = db.prepare('SELECT 1 FROM fundings WHERE funder = ? AND funding = ?');
    this.notFirst = db
      .prepare<[number], number>(/* sql */ `
        SELECT f.funding FROM (SELECT funder, funding FROM fundings WHERE funder = ? LIMIT ${MAX_FUNDINGS}) f
          LEFT JOIN transfers t ON t.id = f.funding LEFT JOIN wallets w ON w.id = t.receiver
        WHERE (w.funder, w.funding) IS NOT (f.funder, f.funding) LIMIT 1`)
      .pluck();
    this.compareSums = prepareSumsComparer(db);
    this.byAddress = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  }

  /** Reports every difference between a wallet's rows and the recount of all its transfers. */
  compare(recount: WalletRecount, check: Check): void {
    const row = this.row.get(recount.id);
    const bytes = this.bytes.get(recount.id);
    const name = `of ${this.nameOf(recount.id)}`;
    if (row === undefined || bytes === undefined) return; // reported as missing
    const { funded, ...columns } = row;
    for (const [column, expected] of Object.entries(recount.expectedColumns()))
      check.expect(`${column} ${name}`, columns[column] ?? null, expected);
    check.expect(`native_received ${name}`, decodeAmount(bytes.native_received), recount.nativeReceived);
    check.expect(`native_sent ${name}`, decodeAmount(bytes.native_sent), recount.nativeSent);
    check.expect(`funded ${name}`, funded, this.fundedBy.get(recount.id));
    const { funder = null, funding = null } = columns;
    if (funder !== null && this.listed.get(funder, funding) === undefined)
      check.addDifference(`the funding ${name} is not among those of its funder`);
    const notFirst = this.notFirst.get(recount.id);
    if (notFirst !== undefined)
      check.addDifference(`transfer ${notFirst} is among the fundings ${name}, but is none`);
    check.expect(`wallet by address ${name}`, getByAddress(this.byAddress, bytes.address), recount.id);
    check.expect(`the number of full history pages ${name}`, this.pageCount.get(recount.id), recount.pages);
    const difference =
      recount.pageDifference ??
      this.entriesDifference(recount, decodePage(bytes.recent, recount.firstTransfer ?? 0));
    // The sums are compared with the history, so only a correct history can prove them wrong.
    if (difference === null)
      this.compareSums({ id: recount.id, pages: recount.pages, firstTransfer: recount.firstTransfer }, check);
    else check.addDifference(`the activity ${name}: ${difference.text}`, difference.block);
  }

  /**
   * How a stored history page differs from a full page of the recount. A full page never changes, so compare it at
   * once.
   */
  pageDifference(recount: WalletRecount): Difference | null {
    const stored = this.pageAt.get(recount.id, recount.page[0]!.transfer);
    const base = recount.firstTransfer ?? 0;
    return this.entriesDifference(recount, stored === undefined ? [] : decodePage(stored, base));
  }

  private entriesDifference(
    { page, pages }: WalletRecount,
    stored: readonly RecountedEntry[],
  ): Difference | null {
    const longer = stored.length > page.length ? stored : page;
    const at = longer.findIndex((_, i) => formatEntry(stored[i]) !== formatEntry(page[i]));
    if (at < 0) return null;
    return {
      text:
        `entry ${pages * ENTRIES_PER_PAGE + at + 1} is ${formatEntry(stored[at])}, must be ` +
        `${formatEntry(page[at])}`,
      block: this.blockOf(longer[at]!.transfer),
    };
  }
}

function decodePage(bytes: Uint8Array, base: number): RecountedEntry[] {
  const cursor = new HistoryCursor().open(bytes, base);
  const entries: RecountedEntry[] = [];
  while (cursor.next()) {
    const kind = cursor.flags & HistoryFlag.kindMask;
    const wei = Buffer.from(bytes.subarray(cursor.amountStart, cursor.amountEnd));
    entries.push({
      transfer: cursor.transfer,
      kind,
      out: (cursor.flags & HistoryFlag.out) !== 0,
      in: (cursor.flags & HistoryFlag.in) !== 0,
      zero: (cursor.flags & HistoryFlag.zero) !== 0 && !isNativeKind(kind),
      other: cursor.counterparty,
      wei: isNativeKind(kind) ? decodeAmount(wei) : null,
    });
  }
  return entries;
}

function formatEntry(entry: RecountedEntry | undefined): string {
  if (entry === undefined) return 'missing';
  const direction = `${entry.out ? 'out' : ''}${entry.in ? 'in' : ''}`;
  const amount = entry.wei === null ? (entry.zero ? 'of zero' : '') : `of ${entry.wei} wei`;
  return `${entry.transfer} ${TRANSFER_KIND_NAMES[entry.kind]} ${direction} ${amount} with wallet ${entry.other}`;
}

interface SumsRow {
  span: number;
  peak: number;
  last: number;
  sent: number;
  sums: Buffer;
}

/** A wallet's id, its number of finished history pages, and its first transfer. */
interface Wallet {
  id: number;
  pages: number;
  firstTransfer: number | null;
}

/** Bytes of sums compared in one pass over a wallet's history: about two million sums, some 200 MB in memory. */
const SUMS_BYTES_PER_PASS = 40_000_000;

/** For nearly all wallets: a table for each would take longer than the rest of their comparison. */
const NOTHING_SUMMED = new CounterpartyTable();

/** Reports every difference. The pages themselves are compared with the transfers elsewhere (comparers.ts). */
export function prepareSumsComparer(
  db: Db,
  pagesPerFold = PAGES_PER_FOLD,
  bytesPerPass = SUMS_BYTES_PER_PASS,
): (wallet: Wallet, check: Check) => void {
  const summed = db.prepare<[number], { pages: number; last: number }>(
    'SELECT pages, last FROM summed_histories WHERE wallet = ?',
  );
  const rows = db.prepare<[number, number, number], SumsRow>(
    'SELECT span, peak, last, sent, sums FROM counterparty_sums WHERE wallet = ? AND span >= ? AND span < ?',
  );
  const sizes = db.prepare<[number], { span: number; bytes: number }>(
    'SELECT span, length(sums) AS bytes FROM counterparty_sums WHERE wallet = ? ORDER BY span',
  );
  const pagesOf = db
    .prepare<[number, number], Buffer>(
      'SELECT entries FROM activity WHERE wallet = ? ORDER BY first_transfer LIMIT ?',
    )
    .pluck();
  const nameOf = prepareWalletNames(db);
  return ({ id, pages, firstTransfer }, check) => {
    const stored = summed.get(id);
    const name = `of ${nameOf(id)}`;
    const target = pages - (pages % pagesPerFold);
    check.expect(`the summed pages ${name}`, stored?.pages ?? 0, target);
    const passes = target === 0 ? [] : endsOfPasses(sizes.iterate(id), bytesPerPass);
    const ends = [...passes, Number.MAX_SAFE_INTEGER];
    for (const [pass, end] of ends.entries()) {
      const start = ends[pass - 1] ?? 0;
      const table = target === 0 ? NOTHING_SUMMED : new CounterpartyTable();
      const cursor = new HistoryCursor();
      for (const entries of target === 0 ? [] : pagesOf.iterate(id, target)) {
        cursor.open(entries, firstTransfer ?? 0);
        while (cursor.next()) {
          const span = sumsSpanOf(cursor.counterparty);
          if (span >= start && span < end) addToSums(table, cursor, id);
        }
      }
      if (stored !== undefined && pass === 0)
        check.expect(`the last summed transfer ${name}`, stored.last, cursor.transfer);
      let seen = 0;
      for (const row of rows.iterate(id, start, end)) seen += compareRow(row, table, name, check);
      if (seen < table.size)
        check.addDifference(`${table.size - seen} sums with counterparties ${name} are missing`);
    }
  };
}

/** The spans at which a new pass starts, so that each pass has about the given bytes of sums. */
function* endsOfPasses(
  rows: Iterable<{ span: number; bytes: number }>,
  bytesPerPass: number,
): Generator<number> {
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= bytesPerPass) {
      yield row.span;
      bytes = 0;
    }
    bytes += row.bytes;
  }
}

/** Returns how many of the counterparties have a sum in the row. */
function compareRow(row: SumsRow, table: CounterpartyTable, name: string, check: Check): number {
  const cursor = new SumsCursor().open(row.sums, row.span);
  let [seen, peak, last, sent] = [0, 0, 0, 0];
  while (cursor.next()) {
    const found = table.find(cursor.counterparty);
    const count = cursor.inCount + cursor.outCount;
    const isStoredHere = sumsSpanOf(cursor.counterparty) === row.span;
    const expected = found < 0 || !isStoredHere ? 'none' : formatTotals(table.totals(found));
    check.expect(
      `the sums with wallet ${cursor.counterparty} ${name}`,
      formatTotals(cursor.totals()),
      expected,
    );
    if (found >= 0) seen++;
    sent = Math.max(sent, cursor.lastSent);
    if (count > peak || (count === peak && cursor.lastTransfer > last))
      [peak, last] = [count, cursor.lastTransfer];
  }
  check.expect(
    `the most transfers with a wallet of span ${row.span} ${name}`,
    `${row.peak}, ${row.last}`,
    `${peak}, ${last}`,
  );
  check.expect(`the newest native transfer to a wallet of span ${row.span} ${name}`, row.sent, sent);
  return seen;
}

function formatTotals(totals: CounterpartyTotals): string {
  const { inCount, outCount, inWei, outWei, lastTransfer, sentCount, firstSent, lastSent } = totals;
  return (
    `${inCount} in of ${inWei} wei, ${outCount} out of ${outWei} wei, the last ${lastTransfer}; ` +
    `${sentCount} sent, ${firstSent} to ${lastSent}`
  );
}
