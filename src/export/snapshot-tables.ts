/** The tables that change with every block. They are exported whole, as of the last indexed block. */
import { digitsToBigInt } from '../lib/hex.ts';
import { decodeSigned, ZERO_BALANCE } from '../lib/signed.ts';
import { TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import type { HoldingRow } from '../store/tokens/holding-row.ts';
import { BATCH_ROWS, type Batch, EXPORT_ADDRESSES, type FileColumn } from './batch.ts';

/** A table with one row per wallet, token or holding. */
export interface SnapshotTable {
  kind: 'snapshot';
  columns: readonly FileColumn[];
  /** Reads all rows by key. Call it within a transaction that lasts until the last batch. */
  read(db: Db): Generator<Batch, void, void>;
  /** Reads the rows after a key, in its order: ids of tokens, of wallets, or of a token and a wallet. */
  pages(db: Db): (after: Key | undefined, limit: number) => Page;
}

/** The ids that a row is found by. */
export type Key = readonly number[];

/** Rows with their keys. */
export interface Page extends Batch {
  keys: readonly Key[];
}

function snapshotTable(columns: readonly FileColumn[], pages: SnapshotTable['pages']): SnapshotTable {
  return {
    kind: 'snapshot',
    columns,
    pages,
    *read(db) {
      const read = pages(db);
      for (
        let page = read(undefined, BATCH_ROWS);
        page.rowCount > 0;
        page = read(page.keys.at(-1), BATCH_ROWS)
      )
        yield page;
    },
  };
}

interface TokenRow {
  id: number;
  address: string;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  kind: number;
  transfers: number;
  holders: number;
  wallets: number;
  firstBlock: number;
}

export const TOKENS = snapshotTable(
  [
    { name: 'token_address', type: 'STRING', distinct: true },
    { name: 'name', type: 'STRING', nullable: true },
    { name: 'symbol', type: 'STRING', nullable: true },
    { name: 'decimals', type: 'INT32', nullable: true },
    { name: 'token_type', type: 'STRING' },
    { name: 'transfers', type: 'INT64', distinct: true },
    { name: 'holders', type: 'INT64', distinct: true },
    { name: 'wallets', type: 'INT64', distinct: true },
    { name: 'first_block', type: 'INT64', distinct: true },
  ],
  (db) => {
    const select = db.prepare<[number, number], TokenRow>(/* sql */ `
      SELECT t.id, '0x' || lower(hex(w.address)) AS address, m.name, m.symbol, m.decimals, t.kind, t.transfers,
        t.holders, t.wallets, ${blockNumberSql('t.first_transfer')} AS firstBlock
      FROM tokens t CROSS JOIN wallets w ON w.id = t.wallet LEFT JOIN token_metadata m ON m.address = w.address
      WHERE t.id > ? ORDER BY t.id LIMIT ?`);
    return (after, limit) => {
      const rows = select.all(after?.[0] ?? 0, limit);
      return pageOf(
        rows.map(({ id }) => [id]),
        [
          rows.map((row) => row.address),
          rows.map((row) => row.name),
          rows.map((row) => row.symbol),
          rows.map((row) => row.decimals),
          rows.map((row) => TRANSFER_KIND_NAMES[row.kind] ?? null),
          BigInt64Array.from(rows, (row) => BigInt(row.transfers)),
          BigInt64Array.from(rows, (row) => BigInt(row.holders)),
          BigInt64Array.from(rows, (row) => BigInt(row.wallets)),
          BigInt64Array.from(rows, (row) => BigInt(row.firstBlock)),
        ],
      );
    };
  },
);

interface WalletRow {
  id: number;
  address: string;
  transfers: number;
  transactions: number;
  tokens: number;
  nativeReceived: string;
  nativeSent: string;
  funder: number | null;
  funded: number;
  firstBlock: number;
  lastBlock: number;
}

export const WALLETS = snapshotTable(
  [
    { name: 'address', type: 'STRING', distinct: true },
    { name: 'transfers', type: 'INT64', distinct: true },
    { name: 'transactions', type: 'INT64', distinct: true },
    { name: 'tokens', type: 'INT64', distinct: true },
    { name: 'native_received', type: 'STRING' },
    { name: 'native_sent', type: 'STRING' },
    { name: 'first_funder', type: 'STRING', nullable: true },
    { name: 'wallets_funded', type: 'INT64', distinct: true },
    { name: 'first_block', type: 'INT64', distinct: true },
    { name: 'last_block', type: 'INT64', distinct: true },
  ],
  (db) => {
    const book = new AddressBook(db, EXPORT_ADDRESSES);
    const select = db.prepare<[number, number], WalletRow>(/* sql */ `
      SELECT id, '0x' || lower(hex(address)) AS address, transfers, transactions, tokens,
        hex(native_received) AS nativeReceived, hex(native_sent) AS nativeSent, funder, funded,
        ${blockNumberSql('first_transfer')} AS firstBlock, ${blockNumberSql('last_transfer')} AS lastBlock
      FROM wallets WHERE id > ? AND transfers > 0 ORDER BY id LIMIT ?`);
    return (after, limit) => {
      const rows = select.all(after?.[0] ?? -1, limit);
      book.wallets.load(rows.flatMap(({ funder }) => funder ?? []));
      return pageOf(
        rows.map(({ id }) => [id]),
        [
          rows.map((row) => row.address),
          BigInt64Array.from(rows, (row) => BigInt(row.transfers)),
          BigInt64Array.from(rows, (row) => BigInt(row.transactions)),
          BigInt64Array.from(rows, (row) => BigInt(row.tokens)),
          rows.map((row) => digitsToBigInt(row.nativeReceived).toString()),
          rows.map((row) => digitsToBigInt(row.nativeSent).toString()),
          rows.map(({ funder }) => (funder === null ? null : book.wallets.of(funder))),
          BigInt64Array.from(rows, (row) => BigInt(row.funded)),
          BigInt64Array.from(rows, (row) => BigInt(row.firstBlock)),
          BigInt64Array.from(rows, (row) => BigInt(row.lastBlock)),
        ],
      );
    };
  },
);

export const HOLDERS = snapshotTable(
  [
    { name: 'token_address', type: 'STRING' },
    { name: 'holder_address', type: 'STRING' },
    { name: 'balance', type: 'STRING' },
    { name: 'transfers', type: 'INT64', distinct: true },
  ],
  (db) => {
    const book = new AddressBook(db, EXPORT_ADDRESSES);
    const select = db.prepare<[number, number, Uint8Array, number], HoldingRow>(/* sql */ `
      SELECT token, wallet, transfers, balance FROM holdings
      WHERE (token, wallet) > (?, ?) AND balance > ? ORDER BY token, wallet LIMIT ?`);
    return (after, limit) => {
      const rows = select.all(after?.[0] ?? 0, after?.[1] ?? 0, ZERO_BALANCE, limit);
      book.tokens.load(rows.map(({ token }) => token));
      book.wallets.load(rows.map(({ wallet }) => wallet));
      return pageOf(
        rows.map(({ token, wallet }) => [token, wallet]),
        [
          rows.map(({ token }) => book.tokens.of(token)),
          rows.map(({ wallet }) => book.wallets.of(wallet)),
          rows.map(({ balance }) => decodeSigned(balance).toString()),
          BigInt64Array.from(rows, ({ transfers }) => BigInt(transfers)),
        ],
      );
    };
  },
);

function pageOf(keys: readonly Key[], values: Batch['values']): Page {
  return { keys, rowCount: keys.length, values };
}
