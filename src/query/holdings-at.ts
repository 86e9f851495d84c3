/** What a wallet's holdings were at an earlier block: those of now, less what it moved since. */

import { decodeSigned, encodeSigned } from '../lib/signed.ts';
import { isNativeKind } from '../model/transfer-kind.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import { prepareBlocksOfTransfers, prepareTransferIdsOfBlocks } from './blocks.ts';
import { READING_BOUNDS, type ReadingBounds } from './reach.ts';
import { prepareTransactionRows, type TransactionRow } from './transaction-rows.ts';
import { HistoryEnd, prepareFirstOfTransaction, prepareHistoryReading } from './wallet-history-reading.ts';
import { ROW_UNITS } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** How the transfers since a block changed what the wallet holds of a token. */
interface HoldingChange {
  balance: bigint;
  /** The wallet's transfers of the token, of any kind. */
  transfers: number;
}

/** A moment of the past, and the way back to it. */
export interface EarlierHoldings {
  /** The holdings are those after this block; later than the wanted one where the work limit ended the reading. */
  block: number;
  /** Transfers below this id are of that block or earlier. */
  below: number;
  changes: ReadonlyMap<number, HoldingChange>;
  /** Tokens of which the wallet had no transfer yet. */
  unseen: number;
}

interface CountedBalance {
  balance: Buffer;
  ownTransfers: number;
}

/** The holding as it was, from its row of now. */
export function holdingAt<Row extends CountedBalance>(row: Row, change: HoldingChange | undefined): Row {
  if (change === undefined) return row;
  const balance = Buffer.from(encodeSigned(decodeSigned(row.balance) - change.balance));
  return { ...row, balance, ownTransfers: row.ownTransfers - change.transfers };
}

/** Reads what a wallet moved after `block`, within the bounds. `head` is the last indexed block. */
export function prepareEarlierHoldings(
  db: Db,
  bounds: Partial<ReadingBounds> = {},
): (wallet: number, block: number, head: number, budget: WorkBudget) => EarlierHoldings {
  const { transfers, stretches } = { ...READING_BOUNDS, ...bounds };
  const entriesOf = prepareHistoryReading(db, transfers);
  const firstOf = prepareFirstOfTransaction(db);
  const rowsOf = prepareTransactionRows(db);
  const idsOfBlocks = prepareTransferIdsOfBlocks(db);
  const blocksOf = prepareBlocksOfTransfers(db);
  const formsOf = db.prepare<[string], { id: number; kind: number }>(
    'SELECT k.id, k.kind FROM json_each(?) list CROSS JOIN tokens k ON k.id = list.value',
  );
  const transfersOf = db.prepare<[string, number], { token: number; transfers: number }>(/* sql */ `
    SELECT h.token, h.transfers FROM json_each(?) list CROSS JOIN holdings h ON h.token = list.value
    AND h.wallet = +?`);

  return (wallet, wanted, head, budget) => {
    const rows: TransactionRow[] = [];
    const end = new HistoryEnd(firstOf, stretches);
    for (const page of entriesOf(wallet, idsOfBlocks(wanted + 1, head), end, budget)) {
      const ids = page.flatMap(({ id, flags }) => (isNativeKind(flags & HistoryFlag.kindMask) ? [] : id));
      const first = end.within(ids);
      budget.spend(ROW_UNITS * ids.length);
      rows.push(...rowsOf(ids.filter((id) => id >= first)));
    }
    const block = end.readFrom === null ? wanted : blocksOf([end.readFrom])[0]!.number;
    const below = idsOfBlocks(0, block).below;
    const moved = rows.filter(({ id }) => id >= below);
    const tokens = idList([...new Set(moved.map(({ token }) => token))]);
    const forms = sumsOwnForm(db)
      ? new Map(formsOf.all(tokens).map(({ id, kind }) => [id, kind]))
      : new Map<number, number>();
    const changes = new Map<number, HoldingChange>();
    for (const { from, to, kind, token, amount } of moved) {
      const change = changes.get(token) ?? { balance: 0n, transfers: 0 };
      changes.set(token, change);
      change.transfers++;
      if (from === to || kind !== (forms.get(token) ?? kind)) continue;
      change.balance += to === wallet ? amount : -amount;
    }
    const unseen = transfersOf
      .all(tokens, wallet)
      .filter(({ token, transfers }) => changes.get(token)?.transfers === transfers).length;
    return { block, below, changes, unseen };
  };
}
