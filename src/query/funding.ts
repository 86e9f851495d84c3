/** Native funding of a wallet. Which transfers count is decided when they are appended (store/append.ts). */
import type { Db } from '../store/open.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { type TransferRow, transferById, transfersById } from './transfers.ts';
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

interface FundingRow {
  wallet: number;
  funder: number | null;
  /** transfers.id of the first funding; null together with `funder`. */
  funding: number | null;
}

/**
 * The first fundings from an address back: its own, its funder's, and so on, `depth` at most. Ends at a wallet
 * without funding, at the zero address, and before a funder who stands in the chain already.
 */
export function fundingChain(db: Db): (address: string, depth: number) => TransferRow[] {
  const columns = 'id AS wallet, funder, funding';
  const byAddress = db.prepare<[Buffer], FundingRow>(`SELECT ${columns} FROM wallets WHERE address = +?`);
  const byId = db.prepare<[number], FundingRow>(`SELECT ${columns} FROM wallets WHERE id = +?`);
  const transfers = transfersById(db);
  return (address, depth) => {
    const fundings: number[] = [];
    const seen = new Set<number>();
    let at = byAddress.get(addressBytes(address));
    while (at !== undefined && fundings.length < depth) {
      const { wallet, funder, funding } = at;
      seen.add(wallet);
      if (funder === null || funding === null || wallet === ZERO_WALLET || seen.has(funder)) break;
      fundings.push(funding);
      at = byId.get(funder);
    }
    return transfers(fundings);
  };
}
