/** Transfers by id, with every field of a record. */
import { digitsToBigInt } from '../lib/hex.ts';
import {
  hasTokenNumber,
  movesOne,
  shownKind,
  type TransferKindName,
  type ViewKind,
} from '../model/transfer-kind.ts';
import { isGapSql } from '../store/block-gaps.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import {
  kindName,
  PACKED_COLUMNS,
  type PackedTransfer,
  type StoredTransfer,
  unpackTransfer,
} from '../store/read/transfers.ts';

/** The meaning of a transfer's columns, for answers and notifications alike. */
export { kindName };

/** Hashes, addresses and integers are hex digits without prefix, in either case; zero has no digits. */
export interface TransferRow extends Omit<StoredTransfer, 'sender' | 'receiver' | 'token'> {
  blockNumber: number;
  blockHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** 1 if the block is a gap, so that transfers of it may be missing; else 0. */
  uncertain: 0 | 1;
  from: string;
  to: string;
  /** The token's contract; empty for a native transfer. */
  token: string;
  /** From the token's contract; null while unknown, and for a native transfer. */
  symbol: string | null;
  decimals: number | null;
  /** Of the token; null for a native transfer. */
  viewKind: ViewKind;
}

/** SQL: the hash of the transaction of `transfers t`. */
export const TX_HASH = /* sql */ `
  lower(hex(iif(typeof(t.tx) = 'blob', t.tx, (SELECT tx FROM transfers WHERE id = t.id - t.tx))))`;

/**
 * SQL: the eventIndex of `transfers t`. Every transfer but its transaction's first stores the distance back to that
 * first one.
 */
export const EVENT_INDEX = /* sql */ `iif(typeof(t.tx) = 'blob', 0, t.tx)`;

/** A stored transfer with what its row refers to. */
interface JoinedTransfer extends PackedTransfer, Omit<TransferRow, keyof StoredTransfer> {
  txHash: string;
  eventIndex: number;
  contract: string;
}

/** The transfers of a list of ids, in its order. */
export function prepareTransfersById(db: Db): (ids: readonly number[]) => TransferRow[] {
  const statement = db.prepare<[string], JoinedTransfer>(/* sql */ `
    SELECT ${PACKED_COLUMNS}, ${TX_HASH} AS txHash, ${EVENT_INDEX} AS eventIndex, b.number AS blockNumber,
      lower(hex(b.hash)) AS blockHash, b.timestamp, ${isGapSql('b.number')} AS uncertain, lower(hex(s.address))
      AS "from", lower(hex(r.address)) AS "to",
      lower(hex(c.address)) AS contract, m.symbol, m.decimals, m.view_kind AS viewKind
    FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value
    CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.id')}
    CROSS JOIN wallets s ON s.id = t.sender CROSS JOIN wallets r ON r.id = t.receiver
    LEFT JOIN tokens ON tokens.id = t.token LEFT JOIN wallets c ON c.id = tokens.wallet
    LEFT JOIN token_metadata m ON m.address = c.address`);
  return (ids) =>
    statement.all(idList(ids)).map((row) => ({
      ...unpackTransfer(row, row.txHash, row.eventIndex),
      blockNumber: row.blockNumber,
      blockHash: row.blockHash,
      timestamp: row.timestamp,
      uncertain: row.uncertain,
      from: row.from,
      to: row.to,
      token: row.contract,
      symbol: row.symbol,
      decimals: row.decimals,
      viewKind: row.viewKind,
    }));
}

/** The public name of the kind to show of a transfer. */
export function typeOf(row: TransferRow): TransferKindName {
  return kindName(shownKind(row));
}

/** The amount in the smallest units of the coin or token. An ERC-721 token counts as one. */
export function amountOf(row: TransferRow): bigint {
  if (movesOne(shownKind(row))) return 1n;
  return digitsToBigInt(movesOne(row.kind) ? row.tokenNumber : row.amount);
}

/** The id of an ERC-721 or ERC-1155 token as decimal text; null for transfers without ids. */
export function tokenIdOf(row: TransferRow): string | null {
  if (!hasTokenNumber(shownKind(row))) return null;
  return digitsToBigInt(hasTokenNumber(row.kind) ? row.tokenNumber : row.amount).toString();
}
