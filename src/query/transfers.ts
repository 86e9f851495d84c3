/** Transfers by id, with every field of a record. */
import { digitsToBigInt } from '../lib/hex.ts';
import { hasTokenNumber, movesOne } from '../model/transfer-kind.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';

/** The meaning of a transfer's columns, for answers and notifications alike. */
export { kindName } from '../store/read/transfers.ts';

/** Hashes, addresses and integers are hex digits without prefix, in either case; zero has no digits. */
export interface TransferRow {
  id: number;
  kind: number;
  amount: string;
  tokenNumber: string;
  logIndex: number | null;
  txHash: string;
  /** Position among the transfers of its transaction, from 0, in chain order. */
  eventIndex: number;
  blockNumber: number;
  /** Unix seconds. */
  timestamp: number;
  from: string;
  to: string;
  /** The token's contract; empty for a native transfer. */
  token: string;
  /** From the token's contract; null while unknown, and for a native transfer. */
  symbol: string | null;
  decimals: number | null;
}

/** SQL: the hash of the transaction of `transfers t`. */
export const TX_HASH = /* sql */ `
  lower(hex(iif(typeof(t.tx) = 'blob', t.tx, (SELECT tx FROM transfers WHERE id = t.id - t.tx))))`;

/**
 * SQL: the eventIndex of `transfers t`. Every transfer but its transaction's first stores the distance back to that
 * first one.
 */
export const EVENT_INDEX = /* sql */ `iif(typeof(t.tx) = 'blob', 0, t.tx)`;

/** SQL: the columns of a TransferRow except `from` and `to`, over LISTED_TRANSFERS with TOKEN_JOINS. */
const TRANSFER_COLUMNS = /* sql */ `
  t.id, t.kind, hex(t.amount) AS amount, hex(t.token_number) AS tokenNumber, t.log_index AS logIndex,
    ${TX_HASH} AS txHash, ${EVENT_INDEX} AS eventIndex, b.number AS blockNumber, b.timestamp,
    lower(hex(contract.address)) AS token, m.symbol, m.decimals`;

/** SQL: the transfers `t` of an `idList`, in its order, and the block `b` of each. */
const LISTED_TRANSFERS = /* sql */ `
  json_each(?) list CROSS JOIN transfers t ON t.id = list.value
  CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.id')}`;

/** SQL: the token of `transfers t`, by its contract, and its metadata `m`. */
const TOKEN_JOINS = /* sql */ `
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

/** The amount in the smallest units of the coin or token. An ERC-721 token counts as one. */
export function amountOf({ kind, amount }: TransferRow): bigint {
  return movesOne(kind) ? 1n : digitsToBigInt(amount);
}

/** The id of an ERC-721 or ERC-1155 token as decimal text; null for transfers without ids. */
export function tokenIdOf({ kind, tokenNumber }: TransferRow): string | null {
  return hasTokenNumber(kind) ? digitsToBigInt(tokenNumber).toString() : null;
}
