/** Transfers with all that a notification of one says. */
import type { Db } from '../store/open.ts';
import { blockNumberOf } from './blocks.ts';
import type { TransferRow } from './transfers.ts';

export interface EventRow extends TransferRow {
  /** Position among the transfers of its transaction, from 0. */
  eventIndex: number;
  /** Hex digits without prefix, lower case. */
  blockHash: string;
}

export interface EventReads {
  /** The transfers of a list of ids, in its order. */
  byId(ids: readonly number[]): EventRow[];
  /** To be called after a rollback, before the next read: ids of wallets above `last` are given anew. */
  forgetWalletsAbove(last: number): void;
}

/** As read: the sides by their ids. */
interface StoredEvent extends EventRow {
  sender: number;
  receiver: number;
}

export function eventReads(db: Db): EventReads {
  const addresses = new Addresses(db);
  const statement = db.prepare<[string], StoredEvent>(/* sql */ `
    SELECT t.id, t.kind, hex(t.amount) AS amount, hex(t.token_number) AS tokenNumber, t.log_index AS logIndex,
      lower(hex(iif(typeof(t.tx) = 'blob', t.tx, (SELECT tx FROM transfers WHERE id = t.id - t.tx)))) AS txHash,
      iif(typeof(t.tx) = 'blob', 0, t.tx) AS eventIndex,
      b.number AS blockNumber, b.timestamp, lower(hex(b.hash)) AS blockHash,
      t.sender, t.receiver, '' AS "from", '' AS "to",
      lower(hex(contract.address)) AS token, m.symbol, m.decimals
    FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value
    CROSS JOIN blocks b ON b.number = ${blockNumberOf('t.id')}
    LEFT JOIN tokens ON tokens.id = t.token LEFT JOIN wallets contract ON contract.id = tokens.wallet
    LEFT JOIN token_metadata m ON m.address = contract.address`);
  return {
    byId(ids) {
      const rows = statement.all(`[${ids.join()}]`);
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
 * Addresses of wallets, kept from block to block: most of a block's wallets were in blocks before it, and to look each up
 * costs as much as all else of a transfer, since their rows are scattered over the largest table.
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

  /** Makes sure of some addresses, until the next `makeRoom`. */
  read(ids: readonly number[]): void {
    const missing = [...new Set(ids)].filter((id) => !this.kept.has(id)).sort((a, b) => a - b);
    if (missing.length === 0) return;
    for (const { id, address } of this.lookUp(`[${missing.join()}]`)) this.kept.set(id, address);
  }

  of(id: number): string {
    const address = this.kept.get(id);
    if (address === undefined) throw new Error(`the index has no wallet ${id}, which a transfer names`);
    return address;
  }

  /** Lets those go that were read first. */
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
