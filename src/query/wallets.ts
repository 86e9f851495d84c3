/** Wallets by address. */
import { writeHex } from '../lib/hex.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import type { Db, Statement } from '../store/open.ts';
import { blockNumberOf } from './blocks.ts';

/** What a wallet that has transfers did in all. Amounts and addresses are hex digits without prefix. */
export interface WalletSummary {
  transactions: number;
  tokens: number;
  nativeReceived: string;
  nativeSent: string;
  firstBlock: number;
  lastBlock: number;
  /** Unix seconds of `lastBlock`. */
  lastTimestamp: number;
  /** Who funded it first, empty when nobody did. */
  funder: string;
}

/** Everything that is known of a wallet that has transfers. */
export interface WalletFacts extends WalletSummary {
  id: number;
  transfers: number;
  tokenTransfers: number;
  internalReceived: number;
  /** In which block it was funded first, null when it was not. */
  fundingBlock: number | null;
}

/** Reused for every lookup: the driver copies what it binds. */
const scratch = Buffer.alloc(20);

/** Asks a statement over WALLET_BY_ADDRESS about a checked address `0x...`; undefined when it has no answer. */
export function byAddress<T>(statement: Statement<AddressKeys, T>, address: string): T | undefined {
  writeHex(address, 2, 42, scratch, 0);
  return getByAddress(statement, scratch);
}

/** The id of an address that ever stood in a transfer, else undefined. */
export function walletIdOf(db: Db): (address: string) => number | undefined {
  const statement = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  return (address) => byAddress(statement, address);
}

/** A wallet that is listed in an answer about another. */
export interface ListedWallet {
  /** Hex digits without prefix. */
  address: string;
  /** wallets.id of who funded it first, or null. */
  funder: number | null;
}

/** The wallets of a list of ids, in its order. */
export function walletsById(db: Db): (ids: readonly number[]) => ListedWallet[] {
  const statement = db.prepare<[string], ListedWallet>(/* sql */ `
    SELECT lower(hex(w.address)) AS address, w.funder
    FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value`);
  return (ids) => statement.all(`[${ids.join()}]`);
}

/** SQL: what a WalletSummary is made of, over `wallets w` and `blocks b`, that of its last transfer. */
const SUMMARY_COLUMNS = /* sql */ `
  w.transactions, w.tokens, hex(w.native_received) AS nativeReceived, hex(w.native_sent) AS nativeSent,
    ${blockNumberOf('w.first_transfer')} AS firstBlock, b.number AS lastBlock, b.timestamp AS lastTimestamp,
    lower(hex((SELECT address FROM wallets WHERE id = w.funder))) AS funder`;

/** SQL: the wallet of an address that has transfers. */
const FROM_WALLET = /* sql */ `
  FROM ${WALLET_BY_ADDRESS} CROSS JOIN blocks b ON b.number = ${blockNumberOf('w.last_transfer')}
  WHERE w.transfers > 0`;

/** What an address did in all, or undefined when it has no transfers. */
export function walletSummary(db: Db): (address: string) => WalletSummary | undefined {
  const statement = db.prepare<AddressKeys, WalletSummary>(`SELECT ${SUMMARY_COLUMNS} ${FROM_WALLET}`);
  return (address) => byAddress(statement, address);
}

/** The facts of an address, or undefined when it has no transfers. */
export function walletFacts(db: Db): (address: string) => WalletFacts | undefined {
  const statement = db.prepare<AddressKeys, WalletFacts>(/* sql */ `
    SELECT ${SUMMARY_COLUMNS}, w.id, w.transfers, w.token_transfers AS tokenTransfers,
      w.internal_received AS internalReceived,
      iif(w.funding IS NULL, NULL, ${blockNumberOf('w.funding')}) AS fundingBlock ${FROM_WALLET}`);
  return (address) => byAddress(statement, address);
}
