/** Native funding of a wallet. Which transfers count is decided when they are appended (store/append.ts). */
import type { Db } from '../store/open.ts';
import { type TransferRow, transferById } from './transfers.ts';
import { addressBytes } from './wallets.ts';

/** The first funding of an address: its earliest direct native transfer from another, else the earliest internal one. */
export function firstFunding(db: Db): (address: string) => TransferRow | undefined {
  return namedTransfer(db, 'funding');
}

/** The newest direct native transfer received from another; if there is none, the newest internal one. */
export function latestNativeIn(db: Db): (address: string) => TransferRow | undefined {
  return namedTransfer(db, 'coalesce(latest_direct, latest_internal)');
}

/** The transfer that an expression over a wallet's columns names. */
function namedTransfer(db: Db, column: string): (address: string) => TransferRow | undefined {
  const name = db
    .prepare<[Buffer], number | null>(`SELECT ${column} FROM wallets WHERE address = +?`)
    .pluck();
  const transfer = transferById(db);
  return (address) => {
    const id = name.get(addressBytes(address));
    return id === undefined || id === null ? undefined : transfer(id);
  };
}
