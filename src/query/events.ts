/** Transfers with all data of a notification. */
import type { Db } from '../store/open-database.ts';
import { DamageError } from '../store/storage-error.ts';
import { idList, LISTED_TRANSFERS, TOKEN_JOINS, TRANSFER_COLUMNS, type TransferRow } from './transfers.ts';
import { prepareWalletsById } from './wallets.ts';

export interface EventRow extends TransferRow {
  /** Hex digits without prefix, lower case. */
  blockHash: string;
}

interface EventReader {
  /** The transfers of a list of ids, in its order. */
  byId(ids: readonly number[]): EventRow[];
  /** Call after a rollback, before the next read: wallet ids above `last` are reassigned. */
  invalidateWalletsAbove(last: number): void;
}

/** As read from the table, with the ids of sender and receiver. */
interface StoredEvent extends EventRow {
  sender: number;
  receiver: number;
}

export function prepareEventReader(db: Db): EventReader {
  const addresses = new AddressCache(db);
  const statement = db.prepare<[string], StoredEvent>(/* sql */ `
    SELECT ${TRANSFER_COLUMNS}, lower(hex(b.hash)) AS blockHash, t.sender, t.receiver, '' AS "from", '' AS "to"
    FROM ${LISTED_TRANSFERS} ${TOKEN_JOINS}`);
  return {
    byId(ids) {
      const rows = statement.all(idList(ids));
      addresses.load(rows.flatMap(({ sender, receiver }) => [sender, receiver]));
      for (const row of rows) {
        row.from = addresses.get(row.sender);
        row.to = addresses.get(row.receiver);
      }
      addresses.evictOldest();
      return rows;
    },
    invalidateWalletsAbove: (last) => addresses.invalidateAbove(last),
  };
}

/** About 1 MB. */
const MAX_CACHED = 8_192;

/**
 * A cache of wallet addresses. Most of a block's wallets occurred in earlier blocks, and a lookup costs as much as the
 * rest of a transfer, because the rows are scattered over the largest table.
 */
class AddressCache {
  private readonly cache = new Map<number, string>();
  private readonly walletsById: ReturnType<typeof prepareWalletsById>;

  constructor(db: Db) {
    this.walletsById = prepareWalletsById(db);
  }

  /** Loads the addresses of `ids`. They stay until the next `evictOldest`. */
  load(ids: readonly number[]): void {
    const missing = [...new Set(ids)].filter((id) => !this.cache.has(id)).sort((a, b) => a - b);
    if (missing.length === 0) return;
    for (const { id, address } of this.walletsById(missing)) this.cache.set(id, address);
  }

  get(id: number): string {
    const address = this.cache.get(id);
    if (address === undefined) throw new DamageError(`a transfer names wallet ${id}, which has no row`);
    return address;
  }

  /** Drops the addresses read first. */
  evictOldest(): void {
    for (const id of this.cache.keys()) {
      if (this.cache.size <= MAX_CACHED) return;
      this.cache.delete(id);
    }
  }

  invalidateAbove(last: number): void {
    for (const id of this.cache.keys()) if (id > last) this.cache.delete(id);
  }
}
