/** Transfers by id, with every field of a record. */
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from './id-list.ts';

/** Hashes, addresses and integers are hex digits without prefix, lower or upper case; an integer of zero has none. */
export interface TransferRow {
  id: number;
  kind: number;
  amount: string;
  tokenNumber: string;
  logIndex: number | null;
  txHash: string;
  blockNumber: number;
  /** Unix seconds. */
  timestamp: number;
  from: string;
  to: string;
  /** The token's contract; empty for a native transfer. */
  token: string;
  /** From the token's contract, null while unknown and for a native transfer. */
  symbol: string | null;
  decimals: number | null;
}

/** SQL: the hash of the transaction of `transfers t`. */
export const TX_HASH = /* sql */ `
  lower(hex(iif(typeof(t.tx) = 'blob', t.tx, (SELECT tx FROM transfers WHERE id = t.id - t.tx))))`;

/** SQL: what a TransferRow has besides `from` and `to`, over LISTED_TRANSFERS with TOKEN_JOINS. */
export const TRANSFER_COLUMNS = /* sql */ `
  t.id, t.kind, hex(t.amount) AS amount, hex(t.token_number) AS tokenNumber, t.log_index AS logIndex,
    ${TX_HASH} AS txHash, b.number AS blockNumber, b.timestamp,
    lower(hex(contract.address)) AS token, m.symbol, m.decimals`;

/** SQL: the transfers `t` of an `idList`, in its order, and the block `b` of each. */
export const LISTED_TRANSFERS = /* sql */ `
  json_each(?) list CROSS JOIN transfers t ON t.id = list.value
  CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.id')}`;

/** SQL: the token of `transfers t`, by its contract, and its metadata `m`. */
export const TOKEN_JOINS = /* sql */ `
  LEFT JOIN tokens ON tokens.id = t.token LEFT JOIN wallets contract ON contract.id = tokens.wallet
  LEFT JOIN token_metadata m ON m.address = contract.address`;

/** The transfers of a list of ids, in its order. */
export function prepareTransfersById(db: Db): (ids: readonly number[]) => TransferRow[] {
  const statement = db.prepare<[string], TransferRow>(/* sql */ `
    SELECT ${TRANSFER_COLUMNS}, lower(hex(sender.address)) AS "from", lower(hex(receiver.address)) AS "to"
    FROM ${LISTED_TRANSFERS}
    CROSS JOIN wallets sender ON sender.id = t.sender
    CROSS JOIN wallets receiver ON receiver.id = t.receiver ${TOKEN_JOINS}`);
  return (ids) => statement.all(idList(ids));
}
