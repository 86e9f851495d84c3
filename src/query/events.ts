/** Transfers with everything that a notification contains. */
import type { Db } from '../store/open.ts';
import { idList } from './id-list.ts';
import { LISTED_TRANSFERS, TOKEN_JOINS, TRANSFER_COLUMNS, type TransferRow } from './transfers.ts';

export interface EventRow extends TransferRow {
  /** Position among the transfers of its transaction, from 0. */
  eventIndex: number;
  /** Hex digits without prefix, lower case. */
  blockHash: string;
}

export interface EventReads {
  /** The transfers of a list of ids, in its order. */
  byId(ids: readonly number[]): EventRow[];
  /** Call it after a rollback, before the next read: wallet ids above `last` are reassigned. */
  forgetWalletsAbove(last: number): void;
}

/** As read from the table: sender and receiver by their ids. */
interface StoredEvent extends EventRow {
  sender: number;
  receiver: number;
}

export function eventReads(db: Db): EventReads {
  const addresses = new Addresses(db);
  const statement = db.prepare<[string], StoredEvent>(/* sql */ `
    SELECT ${TRANSFER_COLUMNS}, iif(typeof(t.tx) = 'blob', 0, t.tx) AS eventIndex, lower(hex(b.hash)) AS blockHash,
      t.sender, t.receiver, '' AS "from", '' AS "to"
    FROM ${LISTED_TRANSFERS} ${TOKEN_JOINS}`);
  return {
    byId(ids) {
      const rows = statement.all(idList(ids));
      addresses.read(rows.flatMap(({ sender, receiver }) => [sender, receiver]));
      for (const row of rows) {
        row.from = addresses.of(row.sender);
        row.to = addresses.of(row.receiver);
      }
      addresses.makeRoom();
      return rows;
    },
    forgetWalletsAbove: (last) => addresses.forgetAbove(last),
  };
}

/** About 1 MB. */
const MAX_KEPT = 8_192;

/**
 * A cache of wallet addresses: most of a block's wallets occurred in earlier blocks, and a lookup costs as much as the
 * rest of a transfer, since the rows are scattered over the largest table.
 */
class Addresses {
  private readonly kept = new Map<number, string>();
  private readonly lookUp: (ids: string) => { id: number; address: string }[];

  constructor(db: Db) {
    const statement = db.prepare<[string], { id: number; address: string }>(/* sql */ `
      SELECT w.id, lower(hex(w.address)) AS address
      FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value`);
    this.lookUp = (ids) => statement.all(ids);
  }

  /** Loads the addresses of `ids`; they stay until the next `makeRoom`. */
  read(ids: readonly number[]): void {
    const missing = [...new Set(ids)].filter((id) => !this.kept.has(id)).sort((a, b) => a - b);
    if (missing.length === 0) return;
    for (const { id, address } of this.lookUp(idList(missing))) this.kept.set(id, address);
  }

  of(id: number): string {
    const address = this.kept.get(id);
    if (address === undefined) throw new Error(`the index has no wallet ${id}, which a transfer names`);
    return address;
  }

  /** Drops the addresses that were read first. */
  makeRoom(): void {
    for (const id of this.kept.keys()) {
      if (this.kept.size <= MAX_KEPT) return;
      this.kept.delete(id);
    }
  }

  forgetAbove(last: number): void {
    for (const id of this.kept.keys()) if (id > last) this.kept.delete(id);
  }
}
