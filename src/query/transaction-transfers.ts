/** The transfers of one transaction, reduced to who moved what. */
import type { Db } from '../store/open-database.ts';
import type { TransferRow } from './transfers.ts';

/** A transfer of a transaction, as in a TransferRow. */
export type TransactionTransfer = Pick<TransferRow, 'kind' | 'amount' | 'from' | 'to' | 'token'>;

/**
 * The transfers of the transaction whose first transfer is `first`, in chain order; null if there are more than `limit`,
 * since each costs three reads scattered over the table of wallets.
 */
export function prepareTransactionTransfers(
  db: Db,
): (first: number, limit: number) => TransactionTransfer[] | null {
  const statement = db.prepare<[number, number], TransactionTransfer & { isFirst: number }>(/* sql */ `
    SELECT t.kind, hex(t.amount) AS amount, lower(hex(sender.address)) AS "from", lower(hex(receiver.address)) AS "to",
      lower(hex(contract.address)) AS token, typeof(t.tx) = 'blob' AS isFirst
    FROM transfers t CROSS JOIN wallets sender ON sender.id = t.sender
      CROSS JOIN wallets receiver ON receiver.id = t.receiver
      LEFT JOIN tokens ON tokens.id = t.token LEFT JOIN wallets contract ON contract.id = tokens.wallet
    WHERE t.id >= +? ORDER BY t.id LIMIT +?`);
  return (first, limit) => {
    const transfers: TransactionTransfer[] = [];
    for (const { isFirst, ...transfer } of statement.iterate(first, limit + 1)) {
      if (isFirst && transfers.length > 0) break;
      transfers.push(transfer);
    }
    return transfers.length > limit ? null : transfers;
  };
}
