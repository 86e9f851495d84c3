/** Transfers with all that a notification of one says. */
import type { Db } from '../store/open.ts';
import { TRANSFER_COLUMNS, TRANSFER_JOINS, type TransferRow } from './transfers.ts';

export interface EventRow extends TransferRow {
  /** Position among the transfers of its transaction, from 0. */
  eventIndex: number;
  /** Hex digits without prefix, lower case. */
  blockHash: string;
}

const COLUMNS = /* sql */ `${TRANSFER_COLUMNS},
  iif(typeof(t.tx) = 'blob', 0, t.tx) AS eventIndex, lower(hex(b.hash)) AS blockHash`;

/** The transfers of a list of ids, in its order. */
export function eventsById(db: Db): (ids: readonly number[]) => EventRow[] {
  const statement = db.prepare<[string], EventRow>(/* sql */ `
    SELECT ${COLUMNS} FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value ${TRANSFER_JOINS}`);
  return (ids) => statement.all(`[${ids.join()}]`);
}
