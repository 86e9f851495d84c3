/** The counterparties of a wallet, summed over its activity. */
import { type ActivityCursor, ActivityFlag, ENTRIES_PER_RUN } from '../store/activity.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { isNativeKind } from '../types.ts';
import { prepareActivityRuns, prepareActivitySize } from './activity.ts';
import type { IdRange } from './blocks.ts';
import { CounterpartyCache } from './counterparty-cache.ts';
import { CounterpartyTable, type CounterpartyTotals } from './counterparty-table.ts';
import { RecipientTable, type RecipientTotals } from './recipient-table.ts';
import type { WorkBudget } from './work-budget.ts';

const ALL_TRANSFERS: IdRange = { from: 1, below: Number.MAX_SAFE_INTEGER };

/**
 * Fewer entries than this are summed anew each time. It is more than the event loop does itself (api/api.ts), so only
 * the read threads cache any.
 */
const MIN_CACHED_ENTRIES = 160 * ENTRIES_PER_RUN;

/**
 * The wallets with which a wallet has most transfers, most first; of equal ones the latest first. Excludes the wallet
 * itself, the zero address, and token transfers of amount zero, which make nobody a counterparty.
 */
export function prepareCounterparties(
  db: Db,
): (wallet: number, limit: number, budget: WorkBudget) => CounterpartyTotals[] {
  const readRuns = prepareActivityRuns(db);
  const sizeOf = prepareActivitySize(db);
  const cache = new CounterpartyCache(db);
  const scratch = new CounterpartyTable();

  const addAll = (table: CounterpartyTable, wallet: number, range: IdRange, budget: WorkBudget): void => {
    for (const cursor of readRuns(wallet, range, budget)) {
      while (cursor.next()) {
        if (cursor.transfer >= range.from && isCounted(cursor, wallet)) table.add(cursor);
      }
    }
  };

  return (wallet, limit, budget) => {
    const cached = cache.get(wallet);
    const range = { ...ALL_TRANSFERS, from: cached?.from ?? ALL_TRANSFERS.from };
    const size = sizeOf(wallet, range);
    budget.ensure(size);
    if (cached === undefined && size < MIN_CACHED_ENTRIES) {
      scratch.clear();
      addAll(scratch, wallet, range, budget);
      return scratch.top(limit);
    }
    const table = cached?.table ?? new CounterpartyTable();
    cache.delete(wallet);
    addAll(table, wallet, range, budget);
    cache.set(wallet, table);
    return table.top(limit);
  };
}

/**
 * The wallets to which a wallet sent native coins within a range, latest first. The zero address funds nobody, and no
 * wallet funds itself. Once `limit` wallets are found, older ones are ignored.
 */
export function prepareFundedWallets(
  db: Db,
): (wallet: number, range: IdRange, limit: number, budget: WorkBudget) => RecipientTotals[] {
  const readRuns = prepareActivityRuns(db);
  const sizeOf = prepareActivitySize(db);
  return (wallet, range, limit, budget) => {
    if (wallet === ZERO_WALLET) return [];
    budget.ensure(sizeOf(wallet, range));
    const recipients = new RecipientTable(limit);
    const isWanted = (entry: ActivityCursor) => isSentNative(entry, wallet, range);
    for (const cursor of readRuns(wallet, range, budget)) {
      if (!recipients.isFull) {
        addLatestRecipients(recipients, cursor, isWanted);
        cursor.rewind();
      }
      while (cursor.next()) {
        if (isSentNative(cursor, wallet, range)) recipients.rowOf(cursor.counterparty)?.add(cursor);
      }
    }
    return recipients.list();
  };
}

/** Adds rows for the counterparties of wanted entries, newest first, while there is room. */
function addLatestRecipients(
  recipients: RecipientTable,
  cursor: ActivityCursor,
  isWanted: (entry: ActivityCursor) => boolean,
): void {
  const oldestFirst: number[] = [];
  while (cursor.next()) if (isWanted(cursor)) oldestFirst.push(cursor.counterparty);
  for (const recipient of oldestFirst.reverse()) if (!recipients.isFull) recipients.addRow(recipient);
}

function isCounted({ flags, counterparty }: ActivityCursor, wallet: number): boolean {
  return counterparty !== wallet && counterparty !== ZERO_WALLET && (flags & ActivityFlag.zero) === 0;
}

function isSentNative(
  { transfer, flags, counterparty }: ActivityCursor,
  wallet: number,
  range: IdRange,
): boolean {
  if (
    (flags & ActivityFlag.out) === 0 ||
    !isNativeKind(flags & ActivityFlag.kindMask) ||
    counterparty === wallet
  )
    return false;
  return transfer >= range.from && transfer < range.below;
}
