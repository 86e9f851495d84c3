/**
 * Transfers in bulk, as stored: wallets and tokens are ids (`AddressBook` has their addresses), hashes and integers are
 * hex digits without prefix, because the driver takes two to three times as long to create a Buffer as a text.
 */
import {
  isSemiFungible,
  movesOne,
  TRANSFER_KIND_NAMES,
  type TransferKindName,
} from '../../model/transfer-kind.ts';
import type { Db } from '../open-database.ts';
import { kindOf, LOG_INDEX_BASE, tokenOf } from '../schema.ts';
import { DamageError } from '../storage-error.ts';
import { idList } from './id-list.ts';

/** Zero has no digits; digits of integers are upper case, those of hashes lower case. */
export type StoredTransfer = ReturnType<typeof unpackTransfer>;

/** A StoredTransfer without its transaction, whose token and kind, and token number and amount, are still packed. */
export interface PackedTransfer {
  id: number;
  sender: number;
  receiver: number;
  tokenKind: number;
  value: string;
  log: number | null;
}

/** SQL: a PackedTransfer, from `transfers t`. */
export const PACKED_COLUMNS =
  't.id, t.sender, t.receiver, t.token_kind AS tokenKind, hex(t.value) AS value, t.log';

/** SQL: `transfers.token` of `alias`, 0 for a native transfer. The computed column takes longer. */
export function tokenInSql(alias: string): string {
  return `iif(${alias}.token_kind < 0, -${alias}.token_kind, ${alias}.token_kind >> 3)`;
}

/** With the hash of its transaction, or the distance from that one's first transfer. */
interface LinkedTransfer extends PackedTransfer {
  tx: string | number;
}

const COLUMNS = `${PACKED_COLUMNS}, iif(typeof(t.tx) = 'blob', lower(hex(t.tx)), t.tx) AS tx`;

export interface TransferReader {
  /** The transfers with ids `from <= id < below`, in order. */
  range(from: number, below: number): StoredTransfer[];
  /** The transfers of a list of ids, in its order. */
  byId(ids: readonly number[]): StoredTransfer[];
  /** The transfers of the transaction whose first transfer is `first`, in order, at most `limit`. */
  transaction(first: number, limit: number): StoredTransfer[];
  /**
   * The first TRANSACTION_ROWS transfers of each transaction that contains one of these ids, in id order per
   * transaction.
   */
  transactionsOf(ids: readonly number[]): StoredTransfer[];
}

/** Most transfers of a transaction that `transactionsOf` reads. */
export const TRANSACTION_ROWS = 8;

export function prepareTransfers(db: Db): TransferReader {
  const range = db.prepare<[number, number], LinkedTransfer>(
    `SELECT ${COLUMNS} FROM transfers t WHERE t.id >= +? AND t.id < +? ORDER BY t.id`,
  );
  const byId = db.prepare<[string], LinkedTransfer>(
    `SELECT ${COLUMNS} FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`,
  );
  const transactionsOf = db.prepare<[string], LinkedTransfer>(/* sql */ `
    SELECT ${COLUMNS} FROM (
        SELECT DISTINCT iif(typeof(x.tx) = 'blob', x.id, x.id - x.tx) AS first
        FROM json_each(?) list CROSS JOIN transfers x ON x.id = list.value)
      CROSS JOIN transfers t ON t.id >= first AND t.id < first + ${TRANSACTION_ROWS}
    WHERE iif(typeof(t.tx) = 'blob', t.id, t.id - t.tx) = first`);
  // What follows a transaction is not read: its limit may be far above its length.
  const transaction = db.prepare<[number, number, number, number], LinkedTransfer>(/* sql */ `
    SELECT ${COLUMNS} FROM transfers t
    WHERE t.id >= +? AND t.id < ifnull((
        SELECT n.id FROM transfers n WHERE n.id > +? AND n.id < +? AND typeof(n.tx) = 'blob' ORDER BY n.id LIMIT 1
      ), +?)
    ORDER BY t.id`);
  const hashOf = db
    .prepare<[number], string>(
      "SELECT lower(hex(tx)) FROM transfers WHERE id = +? AND typeof(tx) = 'blob'", // else it is not the first one
    )
    .pluck();

  const unpack = (rows: readonly LinkedTransfer[]): StoredTransfer[] => {
    let first = 0;
    let hash = '';
    return rows.map((row) => {
      const { id, tx } = row;
      const eventIndex = typeof tx === 'number' ? tx : 0;
      if (typeof tx !== 'number') hash = tx;
      else if (id - tx !== first) hash = hashOf.get(id - tx) ?? ofNoTransaction(id);
      first = id - eventIndex;
      return unpackTransfer(row, hash, eventIndex);
    });
  };
  return {
    range: (from, below) => unpack(range.all(from, below)),
    byId: (ids) => unpack(byId.all(idList(ids))),
    transaction: (first, limit) => unpack(transaction.all(first, first, first + limit, first + limit)),
    transactionsOf: (ids) => unpack(transactionsOf.all(idList(ids))),
  };
}

/** A transfer from its row. Its transaction's hash and its position in that transaction may be in other rows. */
export function unpackTransfer(
  { id, sender, receiver, tokenKind, value, log }: PackedTransfer,
  txHash: string,
  eventIndex: number,
) {
  const kind = kindOf(tokenKind);
  // Digits of the token's number. Before an amount they have a prefix of two digits, the number's length in bytes.
  const skipped = isSemiFungible(kind) ? 2 : 0;
  let end = 0;
  if (movesOne(kind)) end = value.length;
  else if (skipped > 0) end = 2 + 2 * Number.parseInt(value.slice(0, 2), 16);
  return {
    id,
    txHash,
    /** Position among the transfers of its transaction, from 0. The first one has the id `id - eventIndex`. */
    eventIndex,
    /** wallets.id */
    sender,
    receiver,
    /** A TransferKind, unless the row is damaged; `kindName` checks it. */
    kind,
    /** tokens.id, 0 for a native transfer. */
    token: tokenOf(tokenKind),
    /** Wei or token units; empty for ERC-721, whose amount is 1. */
    amount: end === 0 ? value : value.slice(end),
    /** The id of an ERC-721 or ERC-1155 token; empty for the other kinds. */
    tokenNumber: value.slice(skipped, end),
    /** Null for a native transfer. */
    logIndex: log === null ? null : log + LOG_INDEX_BASE,
  };
}

function ofNoTransaction(id: number): never {
  throw new DamageError(`transfer ${id} belongs to no transaction`);
}

/** A transfer in ids of `wallets`; `contract` is the token's wallet, null for a native transfer. */
export interface TransferParties {
  id: number;
  sender: number;
  receiver: number;
  contract: number | null;
}

/**
 * Who took part in the transfers with ids `from <= id < below`, at most `limit`, in order: four times as fast as whole
 * transfers.
 */
export function prepareTransferParties(
  db: Db,
): (from: number, below: number, limit: number) => TransferParties[] {
  const statement = db.prepare<
    [number, number, number],
    Omit<TransferParties, 'contract'> & { tokenKind: number }
  >(
    // `token` takes longer to compute in SQL
    'SELECT id, sender, receiver, token_kind AS tokenKind FROM transfers WHERE id >= +? AND id < +? ORDER ' +
      'BY id LIMIT +?',
  );
  const contracts = db.prepare<[string], { id: number; wallet: number }>(
    'SELECT k.id, k.wallet FROM json_each(?) list CROSS JOIN tokens k ON k.id = list.value',
  );
  return (from, below, limit) => {
    const rows = statement.all(from, below, limit);
    const wallets = new Map<number, number>();
    for (const { tokenKind } of rows) wallets.set(tokenOf(tokenKind), 0);
    wallets.delete(0);
    if (wallets.size > 0)
      for (const { id, wallet } of contracts.all(idList([...wallets.keys()]))) wallets.set(id, wallet);
    return rows.map(({ id, sender, receiver, tokenKind }) => ({
      id,
      sender,
      receiver,
      contract: wallets.get(tokenOf(tokenKind)) ?? null,
    }));
  };
}

/** The public name of a stored kind. */
export function kindName(kind: number): TransferKindName {
  const name = TRANSFER_KIND_NAMES[kind];
  if (name === undefined) throw new DamageError(`a transfer has the unknown kind ${kind}`);
  return name;
}
