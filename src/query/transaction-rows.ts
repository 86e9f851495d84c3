/** Transfers of one transaction by ids, without their addresses, which are scattered over the largest table. */
import { digitsToBigInt } from '../lib/hex.ts';
import { movesOne } from '../model/transfer-kind.ts';
import type { PartTransfer } from '../model/wallet-part.ts';
import type { Db } from '../store/open-database.ts';
import { prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';

/** Transfers of a transaction that are read with one of its events (events.ts). */
export { type StoredTransfer, TRANSACTION_ROWS as START_ROWS } from '../store/read/transfers.ts';

/** A transfer in ids of `wallets` and `tokens`. */
export interface TransactionRow extends PartTransfer {
  id: number;
  /** The id of the first transfer of its transaction. */
  first: number;
}

/** Reads the transfers of the transaction whose first transfer is `first`, in order, at most `limit`. */
export function prepareTransactionStart(db: Db): (first: number, limit: number) => TransactionRow[] {
  const transfers = prepareTransfers(db);
  return (first, limit) => transfers.transaction(first, limit).map(transactionRow);
}

/** The transfers of a list of ids, in its order. */
export function prepareTransactionRows(db: Db): (ids: readonly number[]) => TransactionRow[] {
  const transfers = prepareTransfers(db);
  return (ids) => transfers.byId(ids).map(transactionRow);
}

export function transactionRow({
  id,
  eventIndex,
  sender,
  receiver,
  kind,
  token,
  amount,
  tokenNumber,
}: StoredTransfer): TransactionRow {
  return {
    id,
    first: id - eventIndex,
    from: sender,
    to: receiver,
    kind,
    token,
    tokenNumber,
    amount: movesOne(kind) ? 1n : digitsToBigInt(amount),
  };
}
