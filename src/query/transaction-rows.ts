/** Transfers of one transaction by ids, without their addresses, which are scattered over the largest table. */
import { digitsToBigInt } from '../lib/hex.ts';
import { LruMap } from '../lib/lru-map.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { NATIVE, type PartTransfer } from '../model/wallet-part.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { DamageError } from '../store/storage-error.ts';

/** A transfer in ids of `wallets` and `tokens`. */
export interface TransactionRow extends PartTransfer {
  id: number;
  /** The id of the first transfer of its transaction. */
  first: number;
}

interface StoredRow {
  id: number;
  back: number;
  from: number;
  to: number;
  kind: number;
  token: number | null;
  amount: string;
  tokenNumber: string;
}

/** SQL: the columns of a StoredRow. Every transfer but its transaction's first stores the distance back to that one. */
const COLUMNS = /* sql */ `
  t.id, iif(typeof(t.tx) = 'blob', 0, t.tx) AS back, t.sender AS "from", t.receiver AS "to", t.kind, t.token,
    hex(t.amount) AS amount, hex(t.token_number) AS tokenNumber`;

/** Reads the transfers of the transaction whose first transfer is `first`, in order, at most `limit`. */
export function prepareTransactionStart(db: Db): (first: number, limit: number) => TransactionRow[] {
  const statement = db.prepare<[number, number], StoredRow>(
    `SELECT ${COLUMNS} FROM transfers t WHERE t.id >= +? ORDER BY t.id LIMIT +?`,
  );
  return (first, limit) => {
    const rows = statement.all(first, limit);
    const end = rows.findIndex(({ id, back }) => id - back !== first);
    return (end < 0 ? rows : rows.slice(0, end)).map(rowOf);
  };
}

/** Transfers of a transaction that `prepareTransactionStarts` reads. */
export const START_ROWS = 8;

/** Reads the first START_ROWS transfers of each transaction in a list, by the ids of their first transfers. */
export function prepareTransactionStarts(db: Db): (firsts: readonly number[]) => TransactionRow[] {
  const statement = db.prepare<[string], StoredRow>(/* sql */ `
    SELECT ${COLUMNS} FROM json_each(?) list
      CROSS JOIN transfers t ON t.id >= list.value AND t.id < list.value + ${START_ROWS}
    WHERE iif(typeof(t.tx) = 'blob', t.id, t.id - t.tx) = list.value`);
  return (firsts) => statement.all(idList(firsts)).map(rowOf);
}

/** The transfers of a list of ids, in its order. */
export function prepareTransactionRows(db: Db): (ids: readonly number[]) => TransactionRow[] {
  const statement = db.prepare<[string], StoredRow>(
    `SELECT ${COLUMNS} FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`,
  );
  return (ids) => statement.all(idList(ids)).map(rowOf);
}

function rowOf({ id, back, from, to, kind, token, amount, tokenNumber }: StoredRow): TransactionRow {
  return {
    id,
    first: id - back,
    from,
    to,
    kind,
    token: token ?? NATIVE,
    tokenNumber,
    amount: kind === TransferKind.erc721 ? 1n : digitsToBigInt(amount),
  };
}

/** About 1 MB. */
const MAX_CONTRACTS = 4_096;

interface TokenContracts {
  /** The contract of a token, 40 hex digits. */
  of(token: number): string;
  /** Call after a rollback, which reassigns ids. */
  clear(): void;
}

export function prepareTokenContracts(db: Db): TokenContracts {
  const cache = new LruMap<number, string>(MAX_CONTRACTS);
  const statement = db
    .prepare<[number], string>(/* sql */ `
      SELECT lower(hex(w.address)) FROM tokens t CROSS JOIN wallets w ON w.id = t.wallet WHERE t.id = +?`)
    .pluck();
  return {
    of(token) {
      let contract = cache.get(token);
      if (contract !== undefined) return contract;
      contract = statement.get(token);
      if (contract === undefined) throw new DamageError(`a transfer names token ${token}, which has no row`);
      cache.set(token, contract);
      return contract;
    },
    clear: () => cache.clear(),
  };
}

/** Whether a block was indexed without traces, so that internal transfers may be missing. */
export function prepareIsTraceGap(db: Db): (block: number) => boolean {
  const lastOfRange = db
    .prepare<[number], number>(
      'SELECT last FROM untraced_blocks WHERE first <= +? ORDER BY first DESC LIMIT 1',
    )
    .pluck();
  return (block) => (lastOfRange.get(block) ?? -1) >= block;
}
