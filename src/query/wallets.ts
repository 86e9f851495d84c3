import { type Hex, writeHex } from '../lib/hex.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/addresses.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { DamageError } from '../store/storage-error.ts';

/** Totals of a wallet with transfers. Amounts are hex digits without prefix. */
interface WalletSummary {
  transactions: number;
  tokens: number;
  nativeReceived: string;
  nativeSent: string;
  firstBlock: number;
  lastBlock: number;
  /** Unix seconds of `lastBlock`. */
  lastTimestamp: number;
  /** wallets.id of the first funder, null without one. */
  funder: number | null;
}

/** A summary, and what labels and the batch answer need in addition. */
export interface WalletFacts extends WalletSummary {
  tokenTransfers: number;
  internalReceived: number;
  /** The block of the first funding, null without one. */
  fundingBlock: number | null;
}

/** The wallet id of an address, undefined when no transfer contains it. */
export function prepareWalletIdByAddress(db: Db): (address: string) => number | undefined {
  const statement = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  return (address) => getByHexAddress(statement, address);
}

/** The id of an address's first transfer; undefined when the address is neither sender nor receiver of any. */
export function prepareFirstTransferByAddress(db: Db): (address: string) => number | undefined {
  const statement = db
    .prepare<AddressKeys, number | null>(`SELECT w.first_transfer FROM ${WALLET_BY_ADDRESS}`)
    .pluck();
  return (address) => getByHexAddress(statement, address) ?? undefined;
}

/** The address of an indexed wallet. */
export function prepareAddressByWalletId(db: Db): (wallet: number) => Hex {
  const statement = db
    .prepare<[number], Hex>(`SELECT '0x' || lower(hex(address)) FROM wallets WHERE id = +?`)
    .pluck();
  return (wallet) => {
    const address = statement.get(wallet);
    if (address === undefined)
      throw new DamageError(`the index refers to wallet ${wallet}, which has no row`);
    return address;
  };
}

/** A wallet listed in an answer about another wallet. */
interface ListedWallet {
  id: number;
  /** Hex digits without prefix. */
  address: string;
  /** wallets.id of its first funder, or null. */
  funder: number | null;
}

/** The wallets of a list of ids, in its order. Leaves out those not in the index. */
export function prepareWalletsById(db: Db): (ids: readonly number[]) => ListedWallet[] {
  const statement = db.prepare<[string], ListedWallet>(/* sql */ `
    SELECT w.id, lower(hex(w.address)) AS address, w.funder
    FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value`);
  return (ids) => statement.all(idList(ids));
}

/** SQL: the columns of a WalletSummary, over `wallets w` with SUMMARY_JOIN. */
const SUMMARY_COLUMNS = /* sql */ `
  w.transactions, w.tokens, hex(w.native_received) AS nativeReceived, hex(w.native_sent) AS nativeSent,
    ${blockNumberSql('w.first_transfer')} AS firstBlock, b.number AS lastBlock, b.timestamp AS lastTimestamp,
    w.funder`;

/** SQL: the block of the last transfer, for a wallet with transfers. */
const SUMMARY_JOIN = /* sql */ `
  CROSS JOIN blocks b ON w.transfers > 0 AND b.number = ${blockNumberSql('w.last_transfer')}`;

/** The totals of a wallet; undefined without transfers. */
export function prepareWalletSummary(db: Db): WalletQuery<WalletSummary> {
  return new WalletQuery(db, SUMMARY_COLUMNS, SUMMARY_JOIN);
}

/** The facts of a wallet; undefined without transfers. */
export function prepareWalletFacts(db: Db): WalletQuery<WalletFacts> {
  const columns = /* sql */ `
    ${SUMMARY_COLUMNS}, w.token_transfers AS tokenTransfers,
      w.internal_received AS internalReceived,
      iif(w.funding IS NULL, NULL, ${blockNumberSql('w.funding')}) AS fundingBlock`;
  return new WalletQuery(db, columns, SUMMARY_JOIN);
}

/** Reused for every lookup: the driver copies what it binds. */
const scratch = Buffer.alloc(20);

/** Runs a statement over WALLET_BY_ADDRESS for a valid address `0x...`; undefined without a row. */
export function getByHexAddress<T>(statement: Statement<AddressKeys, T>, address: string): T | undefined {
  writeHex(address, 2, 42, scratch, 0);
  return getByAddress(statement, scratch);
}

/** A query about one wallet, by its id if known, else by its address. */
export class WalletQuery<T> {
  private readonly statementById: Statement<[number], T>;
  private readonly statementByAddress: Statement<AddressKeys, T & { wallet: number }>;

  /** `columns` is SQL over `wallets w` and the tables joined by `joins`. */
  constructor(db: Db, columns: string, joins: string) {
    this.statementById = db.prepare(`SELECT ${columns} FROM wallets w ${joins} WHERE w.id = +?`);
    this.statementByAddress = db.prepare(
      `SELECT w.id AS wallet, ${columns} FROM ${WALLET_BY_ADDRESS} ${joins}`,
    );
  }

  byId(wallet: number): T | undefined {
    return this.statementById.get(wallet);
  }

  /** The answer about a valid address, with its wallets.id. */
  byAddress(address: string): (T & { wallet: number }) | undefined {
    return getByHexAddress(this.statementByAddress, address);
  }
}
