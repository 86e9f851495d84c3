/** Tokens by the address of their contract. */
import { type AddressKeys, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import type { Db } from '../store/open.ts';
import { blockNumberOf } from './blocks.ts';
import { byAddress } from './wallets.ts';

/** What is known of a token that has transfers. */
export interface TokenFacts {
  id: number;
  transfers: number;
  holders: number;
  wallets: number;
  firstBlock: number;
  /** Unix seconds of `firstBlock`. */
  firstTimestamp: number;
  /** Kind of its first transfer. */
  kind: number;
  /** What the contract says of itself, null while unknown. */
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** The facts of a token, or undefined when the address emitted no transfer. */
export function tokenFacts(db: Db): (address: string) => TokenFacts | undefined {
  const statement = db.prepare<AddressKeys, TokenFacts>(/* sql */ `
    SELECT t.id, t.transfers, t.holders, t.wallets, b.number AS firstBlock, b.timestamp AS firstTimestamp, t.kind,
      m.name, m.symbol, m.decimals
    FROM ${WALLET_BY_ADDRESS} CROSS JOIN tokens t ON t.wallet = w.id
      CROSS JOIN blocks b ON b.number = ${blockNumberOf('t.first_transfer')}
      LEFT JOIN token_metadata m ON m.address = w.address`);
  return (address) => byAddress(statement, address);
}

/** The id of a token, or undefined when the address emitted no transfer. */
export function tokenIdOf(db: Db): (address: string) => number | undefined {
  const statement = db
    .prepare<AddressKeys, number>(
      `SELECT t.id FROM ${WALLET_BY_ADDRESS} CROSS JOIN tokens t ON t.wallet = w.id`,
    )
    .pluck();
  return (address) => byAddress(statement, address);
}

export interface FirstBuyer {
  /** Hex digits without prefix. */
  address: string;
  /** Block of the first non-zero amount it received. */
  block: number;
  /** Unix seconds of `block`. */
  timestamp: number;
  /** Transfers of the token with it. */
  transfers: number;
}

/** The first receivers of a non-zero amount of a token, earliest first. */
export function firstBuyers(db: Db): (token: number, limit: number) => FirstBuyer[] {
  const statement = db.prepare<[number, number], FirstBuyer>(/* sql */ `
    SELECT lower(hex(w.address)) AS address, b.number AS block, b.timestamp, h.transfers
    FROM first_buyers f CROSS JOIN wallets w ON w.id = f.wallet
      CROSS JOIN holdings h ON h.token = f.token AND h.wallet = f.wallet
      CROSS JOIN blocks b ON b.number = ${blockNumberOf('f.transfer')}
    WHERE f.token = +? ORDER BY f.transfer LIMIT +?`);
  return (token, limit) => statement.all(token, limit);
}
