/**
 * Migrations 4 to 8: the same wallets and transfers in less room. A table is copied piece by piece into its new form,
 * and the copied rows are deleted in the same transaction: the new rows take the pages of the old ones, so the file
 * hardly grows.
 */
import { isNativeKind } from '../types.ts';
import { ActivityFlag, writeEntry } from './activity.ts';
import type { Migration } from './migrations.ts';
import { type Db, highest } from './open-database.ts';
import { ADDRESS_PREFIX_BYTES, ADDRESSES, FUNDINGS, TRANSFERS, WALLETS, ZERO_WALLET } from './schema.ts';
import { DamageError } from './storage-error.ts';

/** Rows per piece; a row of `activity`, which is a run, is a hundred times as long. */
const ROWS_PER_STEP = 20_000;
const ROWS_PER_RUN = 100;

/** How many prefixes an address can have. */
const PREFIX_COUNT = 256 ** ADDRESS_PREFIX_BYTES;

/** The migrations, in pieces of so many rows. */
export function compactRowMigrations(rows: number = ROWS_PER_STEP): Migration[] {
  return [
    {
      version: 4,
      title: 'find wallets by the beginning of their address',
      end: () => PREFIX_COUNT,
      step: (db, cursor) => fillAddressTable(db, cursor, rows),
    },
    {
      version: 5,
      title: 'list first fundings apart',
      end: lastWallet,
      step: (db, cursor) => fillFundingTable(db, cursor, rows),
    },
    {
      version: 6,
      title: 'store wallets in less room',
      end: lastWallet,
      step: (db, cursor) => compactWallets(db, cursor, rows),
    },
    {
      version: 7,
      title: 'store activity in less room',
      end: lastWallet,
      step: (db, cursor) => compactActivity(db, cursor, Math.ceil(rows / ROWS_PER_RUN)),
    },
    {
      version: 8,
      title: 'store transfers in less room',
      end: (db) => highest(db, 'blocks', 'last_transfer'),
      step: (db, cursor) => compactTransfers(db, cursor, rows),
    },
  ];
}

function lastWallet(db: Db): number {
  return highest(db, 'blocks', 'last_wallet');
}

/** The cursor is the prefix of an address, as a number: all addresses with the same prefix are in one piece. */
function fillAddressTable(db: Db, cursor: number | null, rows: number): number | null {
  if (cursor === null) db.exec(ADDRESSES);
  const from = prefixBytes(cursor ?? 0);
  const last = db
    .prepare<[Buffer, number], Buffer>(
      'SELECT address FROM wallets WHERE address >= ? ORDER BY address LIMIT 1 OFFSET ?',
    )
    .pluck()
    .get(from, rows - 1);
  const next = last === undefined ? null : last.readUIntBE(0, ADDRESS_PREFIX_BYTES) + 1;
  const start = /* sql */ `substr(address, 1, ${ADDRESS_PREFIX_BYTES})`;
  db.prepare(/* sql */ `
    INSERT INTO addresses (key, wallet)
    SELECT iif(id = min(id) OVER (PARTITION BY ${start}), ${start}, address), id
    FROM wallets WHERE address >= ? AND address < ? ORDER BY 1`).run(from, prefixBytes(next ?? PREFIX_COUNT));
  if (next === null) db.exec('DROP INDEX wallets_by_address');
  return next;
}

/** A prefix as bytes, which sort before all addresses that have it; for the end, bytes after all addresses. */
function prefixBytes(number: number): Buffer {
  if (number === PREFIX_COUNT) return Buffer.alloc(21, 255);
  const bytes = Buffer.alloc(ADDRESS_PREFIX_BYTES);
  bytes.writeUIntBE(number, 0, ADDRESS_PREFIX_BYTES);
  return bytes;
}

/** The cursor is the next funder: all wallets that one funded are in one piece. */
function fillFundingTable(db: Db, cursor: number | null, rows: number): number | null {
  if (cursor === null) db.exec(FUNDINGS);
  const from = cursor ?? 0;
  const last = db
    .prepare<[number, number], number>(
      'SELECT funder FROM wallets WHERE funder >= ? ORDER BY funder, funding LIMIT 1 OFFSET ?',
    )
    .pluck()
    .get(from, rows - 1);
  const next = last === undefined ? null : last + 1;
  db.prepare(/* sql */ `
    INSERT INTO fundings (funder, funding)
    SELECT funder, funding FROM wallets WHERE funder >= ? AND funder < ? ORDER BY funder, funding`).run(
    from,
    next ?? Number.MAX_SAFE_INTEGER,
  );
  if (next === null) db.exec('DROP INDEX wallets_by_funder');
  return next;
}

/** The cursor is the last wallet that was copied. */
function compactWallets(db: Db, cursor: number | null, rows: number): number | null {
  if (cursor === null) {
    db.exec('ALTER TABLE wallets RENAME TO wallets_before');
    db.exec(WALLETS);
  }
  const last = nth(db, 'wallets_before', rows);
  db.function('shorter_run', compactRun);
  db.prepare(/* sql */ `
    INSERT INTO wallets (id, address, transfers, transactions, tokens, token_transfers, internal_received,
      native_received, native_sent, funder, funded, first_transfer, last_after, first_direct_after,
      first_internal_after, latest_direct_after, latest_internal_after, recent)
    SELECT id, address, transfers, transactions, tokens, token_transfers, internal_received,
      native_received, native_sent, funder, funded, first_transfer, last_transfer - first_transfer,
      first_direct - first_transfer, first_internal - first_transfer, latest_direct - first_direct,
      latest_internal - first_internal, shorter_run(recent, first_transfer)
    FROM wallets_before WHERE id <= ?`).run(last ?? Number.MAX_SAFE_INTEGER);
  return deleteCopied(db, 'wallets_before', last);
}

/**
 * A row of the table `migration` beside that of the cursor: the last run that was rewritten of the cursor's wallet, which
 * may have many thousands. An earlier release rewrote all runs of a wallet at once and left no such row.
 */
const LAST_RUN = -7;

/** The cursor is the wallet whose runs were rewritten last. */
function compactActivity(db: Db, cursor: number | null, runs: number): number | null {
  const savedRun = db.prepare<[number], number>('SELECT cursor FROM migration WHERE version = ?').pluck();
  const from = [cursor ?? ZERO_WALLET - 1, savedRun.get(LAST_RUN) ?? Number.MAX_SAFE_INTEGER] as const;
  const last = db
    .prepare<[number, number, number], { wallet: number; first_transfer: number }>(
      `SELECT wallet, first_transfer FROM activity WHERE (wallet, first_transfer) > (?, ?)
       ORDER BY wallet, first_transfer LIMIT 1 OFFSET ?`,
    )
    .get(...from, runs - 1);
  const to = last ? [last.wallet, last.first_transfer] : [Number.MAX_SAFE_INTEGER, 0];
  db.function('shorter_run', compactRun);
  db.prepare(/* sql */ `
    UPDATE activity SET entries = shorter_run(entries, (SELECT w.first_transfer FROM wallets w WHERE w.id = wallet))
    WHERE (wallet, first_transfer) > (?, ?) AND (wallet, first_transfer) <= (?, ?)`).run(...from, ...to);
  if (last === undefined) return null;
  db.prepare('INSERT OR REPLACE INTO migration (version, cursor) VALUES (?, ?)').run(
    LAST_RUN,
    last.first_transfer,
  );
  return last.wallet;
}

/** The cursor is the last transfer that was copied. */
function compactTransfers(db: Db, cursor: number | null, rows: number): number | null {
  if (cursor === null) {
    db.exec('ALTER TABLE transfers RENAME TO transfers_before');
    db.exec(TRANSFERS);
  }
  const last = nth(db, 'transfers_before', rows);
  db.prepare(/* sql */ `
    INSERT INTO transfers (id, tx, sender, receiver, token_kind, amount, token_number, log_index)
    SELECT id, tx, sender, receiver, ifnull(token, 0) * 8 + kind, amount, token_number, log_index
    FROM transfers_before WHERE id <= ?`).run(last ?? Number.MAX_SAFE_INTEGER);
  return deleteCopied(db, 'transfers_before', last);
}

/** The id of the n-th of a table's remaining rows, null when there are fewer. */
function nth(db: Db, table: string, n: number): number | null {
  const row = db.prepare<[number], number>(`SELECT id FROM ${table} ORDER BY id LIMIT 1 OFFSET ?`).pluck();
  return row.get(n - 1) ?? null;
}

/** Deletes the copied rows; drops the table at the end. */
function deleteCopied(db: Db, table: string, last: number | null): number | null {
  if (last === null) db.exec(`DROP TABLE ${table}`);
  else db.prepare(`DELETE FROM ${table} WHERE id <= ?`).run(last);
  return last;
}

/**
 * A run in the form of store/activity.ts. In the old form the first entry had its whole transfer id, and the number of
 * wei bytes stood before the wei.
 */
function compactRun(run: unknown, base: unknown): Uint8Array {
  if (!(run instanceof Uint8Array)) throw new DamageError('a run of activity is no blob');
  const out = new Uint8Array(run.length);
  let at = 0;
  let end = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = run[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < run.length) {
    const idDelta = varint() - (end === 0 ? Number(base) : 0);
    const flags = run[at++]!;
    const counterparty = varint();
    const wei = isNativeKind(flags & ActivityFlag.kindMask) ? run.subarray(at + 1, at + 1 + run[at]!) : null;
    if (wei !== null) at += 1 + wei.length;
    end = writeEntry(out, end, idDelta, flags, counterparty, wei);
  }
  return out.subarray(0, end);
}
