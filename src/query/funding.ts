/** Native funding of a wallet. Which transfers count is decided when they are appended (store/append.ts). */
import { type AddressKeys, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import type { Db } from '../store/open.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { blockNumberOf } from './blocks.ts';
import { type TransferRow, TX_HASH, transfersById } from './transfers.ts';
import { byAddress } from './wallets.ts';

/** A native transfer as its receiver's answers show it. */
export type FundingTransfer = Pick<
  TransferRow,
  'kind' | 'amount' | 'txHash' | 'blockNumber' | 'timestamp' | 'from'
>;

/** The first funding of an address: its earliest direct native transfer from another, else the earliest internal one. */
export function firstFunding(db: Db): (address: string) => FundingTransfer | undefined {
  return namedTransfer(db, 'w.funding');
}

/** The newest direct native transfer received from another; if there is none, the newest internal one. */
export function latestNativeIn(db: Db): (address: string) => FundingTransfer | undefined {
  return namedTransfer(db, 'coalesce(w.latest_direct, w.latest_internal)');
}

/**
 * The native transfer to a wallet that an expression over the columns of `wallets w` names. It reads no more than is
 * shown: who received it is known, and a native transfer has no token.
 */
function namedTransfer(db: Db, id: string): (address: string) => FundingTransfer | undefined {
  const statement = db.prepare<AddressKeys, FundingTransfer>(/* sql */ `
    SELECT t.kind, hex(t.amount) AS amount, ${TX_HASH} AS txHash, b.number AS blockNumber, b.timestamp,
      lower(hex(sender.address)) AS "from"
    FROM ${WALLET_BY_ADDRESS} CROSS JOIN transfers t ON t.id = ${id}
      CROSS JOIN blocks b ON b.number = ${blockNumberOf('t.id')} CROSS JOIN wallets sender ON sender.id = t.sender`);
  return (address) => byAddress(statement, address);
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
  const columns = 'w.id AS wallet, w.funder, w.funding';
  const own = db.prepare<AddressKeys, FundingRow>(`SELECT ${columns} FROM ${WALLET_BY_ADDRESS}`);
  const byId = db.prepare<[number], FundingRow>(`SELECT ${columns} FROM wallets w WHERE w.id = +?`);
  const transfers = transfersById(db);
  return (address, depth) => {
    const fundings: number[] = [];
    const seen = new Set<number>();
    let at = byAddress(own, address);
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
