/** Compares the stored sums of a busy wallet's counterparties with its history. */
import { prepareWalletNames } from '../store/addresses.ts';
import { addToSums, PAGES_PER_FOLD, SumsCursor, sumsSpanOf } from '../store/counterparty-sums.ts';
import { CounterpartyTable, type CounterpartyTotals } from '../store/counterparty-table.ts';
import type { Db } from '../store/open-database.ts';
import { HistoryCursor } from '../store/wallet-history.ts';
import type { Check } from './report.ts';

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
const BYTES_PER_PASS = 40_000_000;

/** Reports every difference. The pages themselves are compared with the transfers elsewhere (comparers.ts). */
export function prepareSumsComparer(
  db: Db,
  pagesPerFold = PAGES_PER_FOLD,
  bytesPerPass = BYTES_PER_PASS,
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
    const ends = [...endsOfPasses(sizes.iterate(id), bytesPerPass), Number.MAX_SAFE_INTEGER];
    for (const [pass, end] of ends.entries()) {
      const start = ends[pass - 1] ?? 0;
      const table = new CounterpartyTable();
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
  return `${inCount} in of ${inWei} wei, ${outCount} out of ${outWei} wei, the last ${lastTransfer}; ${sentCount} sent, ${firstSent} to ${lastSent}`;
}
