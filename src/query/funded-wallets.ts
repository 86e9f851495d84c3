/** The wallets to which a wallet sent native coins, summed over its history and over its stored sums. */
import { isSent, PAGES_PER_FOLD, SumsCursor, sumsSpanOf } from '../store/counterparty-sums.ts';
import { type CounterpartyTotals, WeiSums } from '../store/counterparty-table.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { ENTRIES_PER_PAGE, type HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { prepareSummedCounterparties } from './counterparty-peaks.ts';
import { prepareHistoryPages, prepareHistorySize } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

/** Most history pages of a recipient to count from. If one has more, the sender's history is read instead. */
const MAX_OWN_PAGES = 32;

/**
 * The wallets to which a wallet sent native coins within a range, latest first. Excludes mints and self-transfers. Once
 * `limit` wallets are found, ignores older ones, and those with a transfer from `upTo` on, which are on earlier pages.
 */
export function prepareFundedWallets(
  db: Db,
  maxOwnPages: number = MAX_OWN_PAGES,
): (wallet: number, range: IdRange, limit: number, budget: WorkBudget, upTo?: number) => RecipientTotals[] {
  const readPages = prepareHistoryPages(db);
  const sizeOf = prepareHistorySize(db);
  const summed = prepareSummedCounterparties(db);
  const sums = prepareSentSums(db);

  const findAndCount = (recipients: RecipientTable, wallet: number, range: IdRange, budget: WorkBudget) => {
    for (const cursor of readPages(wallet, range, budget)) {
      if (!recipients.isFull) {
        addLatestRecipients(recipients, cursor, (entry) => isSentWithin(entry, wallet, range));
        cursor.rewind();
      }
      while (cursor.next()) {
        if (isSentWithin(cursor, wallet, range)) recipients.rowOf(cursor.counterparty)?.add(cursor);
      }
    }
  };

  /** Counts what a wallet sent from the recipient's history, which is short for most. */
  const countReceived = (
    recipients: RecipientTable,
    recipient: number,
    wallet: number,
    range: IdRange,
    budget: WorkBudget,
  ) => {
    const row = recipients.rowOf(recipient);
    for (const cursor of readPages(recipient, range, budget)) {
      while (cursor.next()) {
        const isWithin = cursor.transfer >= range.from && cursor.transfer < range.below;
        if (isWithin && cursor.counterparty === wallet && isReceived(cursor)) row?.add(cursor);
      }
    }
  };

  return (wallet, range, limit, budget, upTo = range.below) => {
    if (wallet === ZERO_WALLET) return [];
    const recipients = new RecipientTable(limit, upTo);
    const last = summed.lastOf(wallet) ?? 0;
    if (last < range.from || last >= range.below) {
      budget.ensure(sizeOf(wallet, range));
      findAndCount(recipients, wallet, range, budget);
      return recipients.list();
    }
    budget.ensure(PAGES_PER_FOLD * ENTRIES_PER_PAGE); // the worst case, however few entries have been added
    findAndCount(recipients, wallet, { from: last + 1, below: range.below }, budget);
    const partly = sums.addTo(recipients, wallet, range.from, budget);
    // Sums that began before the range say nothing about the part within it.
    const older = { from: range.from, below: last + 1 };
    const isShort = (recipient: number) => sizeOf(recipient, older) <= maxOwnPages * ENTRIES_PER_PAGE;
    if ([...partly].every(isShort)) {
      for (const recipient of partly) countReceived(recipients, recipient, wallet, older, budget);
      return recipients.list();
    }
    for (const cursor of readPages(wallet, older, budget)) {
      while (cursor.next()) {
        const row = isSentWithin(cursor, wallet, older) && recipients.rowOf(cursor.counterparty);
        if (row && partly.has(cursor.counterparty)) row.add(cursor);
      }
    }
    return recipients.list();
  };
}

interface SentSums {
  /**
   * Adds rows for the latest recipients in a wallet's sums while rows fit, and adds to each row the transfers from
   * transfer `from` on. Returns the recipients of transfers both before and after `from`; their rows lack the sums.
   */
  addTo(recipients: RecipientTable, wallet: number, from: number, budget: WorkBudget): Set<number>;
}

/** Typical number of sums per row. */
const SUMS_PER_ROW = 256;

function prepareSentSums(db: Db): SentSums {
  const spansSince = db.prepare<[number, number], { span: number; sent: number }>(
    'SELECT span, sent FROM counterparty_sums INDEXED BY counterparty_sums_by_peak WHERE wallet = +? AND sent >= +?',
  );
  const sumsOf = db
    .prepare<[number, number], Buffer>('SELECT sums FROM counterparty_sums WHERE wallet = +? AND span = +?')
    .pluck();
  const cursor = new SumsCursor();
  const open = (wallet: number, span: number, budget: WorkBudget): SumsCursor => {
    budget.spend(SUMS_PER_ROW);
    return cursor.open(sumsOf.get(wallet, span) ?? Buffer.alloc(0), span);
  };

  /** The latest recipients without a row, latest first, as many as fit. */
  const latest = (
    recipients: RecipientTable,
    wallet: number,
    from: number,
    budget: WorkBudget,
  ): [recipient: number, lastSent: number][] => {
    const found: [recipient: number, lastSent: number][] = [];
    const { room } = recipients;
    const isTooOld = (sent: number) => found.length === room && sent < found.at(-1)![1];
    const spans = room === 0 ? [] : spansSince.all(wallet, from).sort((a, b) => b.sent - a.sent);
    for (const { span, sent } of spans) {
      if (isTooOld(sent)) break;
      const sums = open(wallet, span, budget);
      while (sums.next()) {
        const { counterparty, lastSent } = sums;
        if (lastSent < from || isTooOld(lastSent) || !recipients.takes(counterparty, lastSent)) continue;
        if (found.length === room) found.pop();
        let rank = found.length;
        while (rank > 0 && found[rank - 1]![1] < lastSent) rank--;
        found.splice(rank, 0, [counterparty, lastSent]);
      }
    }
    return found;
  };

  return {
    addTo(recipients, wallet, from, budget) {
      for (const [recipient, lastSent] of latest(recipients, wallet, from, budget))
        recipients.addRow(recipient, lastSent);
      const partly = new Set<number>();
      for (const span of new Set(recipients.ids.map(sumsSpanOf))) {
        const sums = open(wallet, span, budget);
        while (sums.next()) {
          const row = sums.lastSent < from ? undefined : recipients.rowOf(sums.counterparty);
          if (row === undefined) continue;
          if (sums.firstSent < from) partly.add(sums.counterparty);
          else row.addTotals(sums.totals());
        }
      }
      return partly;
    },
  };
}

/** Adds rows for the counterparties of wanted entries, newest first, while rows fit. */
function addLatestRecipients(
  recipients: RecipientTable,
  cursor: HistoryCursor,
  isWanted: (entry: HistoryCursor) => boolean,
): void {
  const oldestFirst: [recipient: number, transfer: number][] = [];
  while (cursor.next()) if (isWanted(cursor)) oldestFirst.push([cursor.counterparty, cursor.transfer]);
  for (const [recipient, transfer] of oldestFirst.reverse())
    if (!recipients.isFull) recipients.addRow(recipient, transfer);
}

function isSentWithin(cursor: HistoryCursor, wallet: number, { from, below }: IdRange): boolean {
  return cursor.transfer >= from && cursor.transfer < below && isSent(cursor, wallet);
}

/** Whether the entry receives native coins. Only native entries carry an amount. */
function isReceived({ flags, amountStart, amountEnd }: HistoryCursor): boolean {
  return (flags & HistoryFlag.in) !== 0 && amountEnd > amountStart;
}

/** The counted entries of one recipient, summed. */
export interface RecipientTotals {
  /** wallets.id. */
  recipient: number;
  count: number;
  wei: bigint;
  /** transfers.id of the first and the last of these entries. */
  firstTransfer: number;
  lastTransfer: number;
}

/**
 * Most other wallets have no row. A byte indexed by the low bits of the id shows this for nearly all of them without
 * the map.
 */
const FILTER_BYTES = 4096;

/** Rows by recipient, in insertion order. */
export class RecipientTable {
  private readonly rows = new Map<number, Row>();
  private readonly filter = new Uint8Array(FILTER_BYTES);
  /** Recipients of earlier pages. */
  private readonly skipped = new Set<number>();
  private readonly limit: number;
  private readonly upTo: number;

  /** Takes up to `limit` rows, of recipients whose newest transfer is below `upTo`. */
  constructor(limit: number, upTo = Number.POSITIVE_INFINITY) {
    this.limit = limit;
    this.upTo = upTo;
  }

  get isFull(): boolean {
    return this.rows.size >= this.limit;
  }

  /** How many more rows fit. */
  get room(): number {
    return this.limit - this.rows.size;
  }

  /** wallets.id of the recipients with a row. */
  get ids(): number[] {
    return [...this.rows.keys()];
  }

  /** Whether a recipient whose newest transfer so far is this one would get a row, if one fits. */
  takes(recipient: number, transfer: number): boolean {
    return transfer < this.upTo && !this.rows.has(recipient) && !this.skipped.has(recipient);
  }

  /** Adds a row unless it exists. Transfers must come newest first. */
  addRow(recipient: number, transfer: number): void {
    if (transfer >= this.upTo) this.skipped.add(recipient);
    if (!this.takes(recipient, transfer)) return;
    this.rows.set(recipient, new Row());
    this.filter[recipient % FILTER_BYTES] = 1;
  }

  rowOf(recipient: number): Row | undefined {
    return this.filter[recipient % FILTER_BYTES] === 0 ? undefined : this.rows.get(recipient);
  }

  list(): RecipientTotals[] {
    return [...this.rows].map(([recipient, row]) => ({
      recipient,
      count: row.count,
      wei: row.wei,
      firstTransfer: row.first,
      lastTransfer: row.last,
    }));
  }
}

class Row {
  first = Number.POSITIVE_INFINITY;
  last = 0;
  count = 0;
  private readonly sums = new WeiSums(1);
  private stored = 0n;

  /** Counts the current entry. Entries may come in any order. */
  add(cursor: HistoryCursor): void {
    const { transfer } = cursor;
    if (transfer < this.first) this.first = transfer;
    if (transfer > this.last) this.last = transfer;
    this.count++;
    this.sums.add(0, cursor);
  }

  /** Adds the sent transfers from stored sums. */
  addTotals({ outWei, sentCount, firstSent, lastSent }: CounterpartyTotals): void {
    this.first = Math.min(this.first, firstSent);
    this.last = Math.max(this.last, lastSent);
    this.count += sentCount;
    this.stored += outWei;
  }

  get wei(): bigint {
    return this.stored + this.sums.sum(0);
  }
}
