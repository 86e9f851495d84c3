/**
 * The table `addresses`: finds a wallet by its address.
 *
 * An index over whole addresses takes twice the space, and a commit changes twice as many of its pages. A prefix would
 * suffice if addresses were random, but an attacker can send to a million addresses with one prefix and make every
 * lookup compare them all. So only the first wallet with a given prefix is keyed by that prefix; later ones are keyed
 * by the whole address.
 */
import { bytesToHex, type Hex } from '../lib/hex.ts';
import type { Db, Statement } from './open-database.ts';
import { RowReader, RowWriter } from './rows.ts';
import { ADDRESS_PREFIX_BYTES } from './schema.ts';

/** The key to look up first. */
export function addressPrefix(address: Uint8Array): Uint8Array {
  return address.subarray(0, ADDRESS_PREFIX_BYTES);
}

/**
 * SQL for a FROM clause: the row of `wallets w` with a given address. Run statements that contain it with
 * `getByAddress`.
 */
export const WALLET_BY_ADDRESS = /* sql */ `
  addresses a CROSS JOIN wallets w ON a.key = +? AND w.id = a.wallet AND w.address = +?`;

/** SQL for a FROM clause: the row of `wallets w` whose address is the SQL expression `address`. */
export function walletByStoredAddress(address: string): string {
  const keys = `substr(${address}, 1, ${ADDRESS_PREFIX_BYTES}), ${address}`;
  return `addresses a CROSS JOIN wallets w ON a.key IN (${keys}) AND w.id = a.wallet AND w.address = ${address}`;
}

/** The parameters of WALLET_BY_ADDRESS. */
export type AddressKeys = [key: Uint8Array, address: Uint8Array];

/** Runs a statement over WALLET_BY_ADDRESS; undefined when no wallet has the address. */
export function getByAddress<T>(statement: Statement<AddressKeys, T>, address: Uint8Array): T | undefined {
  return statement.get(addressPrefix(address), address) ?? statement.get(address, address);
}

/** A row of `addresses`. */
export interface AddressRow {
  key: Uint8Array;
  wallet: number;
}

/** The statements on `addresses` that a commit needs. */
export class AddressTable {
  private readonly byKey: Statement<[Uint8Array], number>;
  private readonly byKeys: RowReader<[place: number, wallet: number]>;
  private readonly inserts: RowWriter;
  private readonly deleteAbove: Statement<[number, number, number]>;

  constructor(db: Db) {
    this.byKey = db.prepare<[Uint8Array], number>('SELECT wallet FROM addresses WHERE key = ?').pluck();
    this.byKeys = new RowReader(db, 1, 'wallet', 'addresses ON key = k.column2');
    this.inserts = new RowWriter(db, 'INSERT INTO addresses (key, wallet) VALUES (?, ?)');
    this.deleteAbove = db.prepare(/* sql */ `
      DELETE FROM addresses WHERE wallet > ? AND key IN (
        SELECT substr(address, 1, ${ADDRESS_PREFIX_BYTES}) FROM wallets WHERE id > ?
        UNION ALL SELECT address FROM wallets WHERE id > ?)`);
  }

  /** The wallet with this key. */
  walletByKey(key: Uint8Array): number | undefined {
    return this.byKey.get(key);
  }

  /** Calls `found` with each wallet that has one of the keys, and with the position of that key. */
  walletsByKey(keys: readonly Uint8Array[], found: (wallet: number, place: number) => void): void {
    this.byKeys.read(keys, ([, wallet], place) => found(wallet, place));
  }

  /** Adds new wallets. Fastest in key order. */
  add(wallets: Iterable<AddressRow>): void {
    this.inserts.reset();
    for (const { key, wallet } of wallets) this.inserts.add(key, wallet);
    this.inserts.flush();
  }

  /** Removes the wallets above `last`. Call it before their rows in `wallets` are deleted, because it reads them. */
  rollback(last: number): void {
    this.deleteAbove.run(last, last, last);
  }
}

/** Address of a wallet, null when it has no row. */
export function walletAddress(db: Db, wallet: number): Hex | null {
  const address = prepareAddressOf(db).get(wallet);
  return address ? bytesToHex(address) : null;
}

function prepareAddressOf(db: Db): Statement<[number], Buffer> {
  return db.prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?').pluck();
}

/** Addresses of wallets for messages. Prepared once, because a verification looks up every compared wallet. */
export function prepareWalletNames(db: Db): (wallet: number) => string {
  const addressOf = prepareAddressOf(db);
  return (wallet) => {
    const address = addressOf.get(wallet);
    return address ? bytesToHex(address) : `wallet ${wallet}, which has no row`;
  };
}
