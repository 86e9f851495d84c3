/** A wallet's balance of an asset over time, from its history. */
import { bytesToBigInt, digitsToBigInt } from '../lib/hex.ts';
import { isNativeKind, kindBits, movesOne } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { unpackTransfer } from '../store/read/transfers.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { READING_BOUNDS } from './reach.ts';
import { prepareSharedTransfers } from './shared-transfers.ts';
import {
  directionOf,
  HistoryEnd,
  prepareFirstOfTransaction,
  prepareHistoryReading,
} from './wallet-history-reading.ts';
import { prepareAssetBalance } from './wallet-profit.ts';
import type { WorkBudget } from './work-budget.ts';

interface BalanceHistory {
  /** The transfers that changed the balance, and the balance after each, oldest first. */
  points: { transfer: number; balance: bigint }[];
  /** The balance before the first transfer that was read. */
  before: bigint;
  /** The first transfer of the oldest transaction read, where the work limit ended the history; else null. */
  readFrom: number | null;
}

/** Units of work: of an entry, and of its row, 0.2 and 1 µs. */
const ENTRY_UNITS = 2;
const ROW_UNITS = 10;

/** The native coin alone: its equivalents are tokens of their own here. */
const NO_EQUIVALENTS = { nativeEquivalents: new Set<number>() };

const TOKEN_FILTER = {
  direction: HistoryFlag.in | HistoryFlag.out,
  kinds: kindBits(({ isNative }) => !isNative),
};

/** What a transfer added to a balance. */
interface Change {
  transfer: number;
  amount: bigint;
}

/** The balances within a range of whole transactions. What followed the range is read too. */
export function prepareBalanceHistory(
  db: Db,
  { transfers, stretches } = READING_BOUNDS,
): (wallet: number, token: number, range: IdRange, budget: WorkBudget) => BalanceHistory {
  const firstOf = prepareFirstOfTransaction(db);
  const balanceOf = prepareAssetBalance(db);
  const nativeChanges = prepareNativeChanges(db, transfers);
  const tokenChanges = prepareTokenChanges(db, transfers);
  return (wallet, token, { from, below }, budget) => {
    const points: BalanceHistory['points'] = [];
    let balance = balanceOf(wallet, token, NO_EQUIVALENTS);
    const range = { from, below: Number.MAX_SAFE_INTEGER };
    const end = new HistoryEnd(firstOf, stretches);
    const changes =
      token === NATIVE
        ? nativeChanges(wallet, range, end, budget)
        : tokenChanges(wallet, token, range, end, budget);
    for (const page of changes)
      for (let i = page.length - 1; i >= 0; i--) {
        const { transfer, amount } = page[i]!;
        if (transfer < below) points.push({ transfer, balance });
        balance -= amount;
      }
    return { points: points.reverse(), before: balance, readFrom: end.readFrom };
  };
}

/** Pages of changes from the newest one, each oldest first. */
function prepareNativeChanges(
  db: Db,
  most: number,
): (wallet: number, range: IdRange, end: HistoryEnd, budget: WorkBudget) => Generator<Change[]> {
  const entriesOf = prepareHistoryReading(db, most);
  return function* (wallet, range, end, budget) {
    for (const page of entriesOf(wallet, range, end, budget)) {
      budget.spend(ENTRY_UNITS * page.length);
      const changes: Change[] = [];
      for (const entry of page) {
        if (!isNativeKind(entry.flags & HistoryFlag.kindMask)) continue;
        const direction = directionOf(entry);
        if (direction === 0) continue;
        const wei = bytesToBigInt(entry.bytes, entry.amountStart, entry.amountEnd);
        changes.push({ transfer: entry.id, amount: direction > 0 ? wei : -wei });
      }
      yield changes;
    }
  };
}

/** The same of a token. The reading ends with the first transfer of the token, wherever that is. */
function prepareTokenChanges(
  db: Db,
  most: number,
): (
  wallet: number,
  token: number,
  range: IdRange,
  end: HistoryEnd,
  budget: WorkBudget,
) => Generator<Change[]> {
  const sharedTransfers = prepareSharedTransfers(db);
  const amountsOf = prepareTokenAmounts(db);
  const transfersOf = db
    .prepare<[number, number], number>('SELECT transfers FROM holdings WHERE token = +? AND wallet = +?')
    .pluck();
  return function* (wallet, token, range, end, budget) {
    let left = transfersOf.get(token, wallet) ?? 0;
    if (left === 0) return;
    let unread = most;
    for (const shared of sharedTransfers(wallet, token, { ...range, ...TOKEN_FILTER }, end, budget)) {
      const first = end.within(shared);
      const ids = shared.filter((id) => id >= first);
      budget.spend(ROW_UNITS * ids.length);
      const amounts = amountsOf(wallet, token, ids);
      yield ids.flatMap((transfer, i) => (amounts[i] === 0n ? [] : { transfer, amount: amounts[i]! }));
      left -= ids.length;
      if (left <= 0) {
        end.readFrom = null;
        return;
      }
      unread -= ids.length;
      if (unread <= 0 && end.readFrom === null) end.endAt(ids[0]!);
    }
  };
}

/** By how much each of these transfers of a token moved the wallet's balance. */
function prepareTokenAmounts(db: Db): (wallet: number, token: number, ids: readonly number[]) => bigint[] {
  const formOf = prepareSummedForm(db);
  const values = db
    .prepare<[number, number, string], string>(/* sql */ `
      SELECT group_concat(((t.receiver = +?) - (t.sender = +?)) || ' ' || t.token_kind || ' ' || hex(t.value))
      FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`)
    .pluck();
  return (wallet, token, ids) => {
    if (ids.length === 0) return [];
    const form = formOf(token);
    const texts = values.get(wallet, wallet, idList(ids))!.split(',');
    return texts.map((text) => {
      const [direction = '', tokenKind = '', value = ''] = text.split(' ');
      const packed = { id: 0, sender: 0, receiver: 0, tokenKind: Number(tokenKind), log: null };
      const { kind, amount } = unpackTransfer({ ...packed, value }, '', 0);
      if (direction === '0' || (form !== undefined && kind !== form)) return 0n;
      const moved = movesOne(kind) ? 1n : digitsToBigInt(amount);
      return direction === '1' ? moved : -moved;
    });
  };
}

/** The only kind whose transfers move balances of a token; undefined for the native coin, and where all kinds do. */
export function prepareSummedForm(db: Db): (token: number) => number | undefined {
  const formOf = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = +?').pluck();
  return (token) => (token === NATIVE || !sumsOwnForm(db) ? undefined : formOf.get(token));
}
