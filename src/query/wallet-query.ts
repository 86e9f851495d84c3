/** A query about one wallet, by its id where that is known, else by its address: one statement either way. */
import { type AddressKeys, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { getByHexAddress } from './get-by-hex-address.ts';

export class WalletQuery<T> {
  private readonly statementById: Statement<[number], T>;
  private readonly statementByAddress: Statement<AddressKeys, T & { wallet: number }>;

  /** `columns` are SQL over `wallets w` and what is joined to it by `joins`. */
  constructor(db: Db, columns: string, joins: string) {
    this.statementById = db.prepare(`SELECT ${columns} FROM wallets w ${joins} WHERE w.id = +?`);
    this.statementByAddress = db.prepare(
      `SELECT w.id AS wallet, ${columns} FROM ${WALLET_BY_ADDRESS} ${joins}`,
    );
  }

  byId(wallet: number): T | undefined {
    return this.statementById.get(wallet);
  }

  /** The answer about a checked address, with its wallets.id. */
  byAddress(address: string): (T & { wallet: number }) | undefined {
    return getByHexAddress(this.statementByAddress, address);
  }
}
