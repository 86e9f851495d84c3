/** Transactions as trades see them: their transfers by ids, without hashes. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import type { Db } from '../open-database.ts';
import { idList } from './id-list.ts';
import { tokenInSql, unpackTransfer } from './transfers.ts';

/** A transaction that may hold trades, with all its transfers. */
export interface TradingTransaction {
  /** transfers.id of the first one. */
  first: number;
  transfers: readonly PartTransfer[];
}

interface WantedTrades {
  token: number;
  /** What it is traded for: tokens or NATIVE. Null for any. */
  others: ReadonlySet<number> | null;
}

type PartRow = [id: number, isFirst: 0 | 1, from: number, to: number, tokenKind: number, value: string];

/** Transactions of more transfers are read if they move both tokens: comparing their transfers takes too long here. */
const MOST_COMPARED = 64;

/**
 * The transactions of a list of ascending transfers of a token in which a wallet may trade it: a wallet gives it and
 * gets one of the others, or the other way round. Each comes once, in the order of the list. Null where they have more
 * than `limit` transfers. One statement rules out most transactions before a row is handed over, which takes most of
 * the time of a reading.
 */
export function prepareTradingTransactions(
  db: Db,
): (ids: readonly number[], wanted: WantedTrades, limit: number) => TradingTransaction[] | null {
  const statement = db
    .prepare<[string, string | null, number, string | null, number, number], PartRow>(/* sql */ `
      SELECT t.id, typeof(t.tx) = 'blob', t.sender, t.receiver, t.token_kind, hex(t.value)
      FROM (
        SELECT first, below FROM (
          SELECT first, ifnull((
              SELECT n.id FROM transfers n WHERE n.id > first AND typeof(n.tx) = 'blob' ORDER BY n.id LIMIT 1
            ), (SELECT max(id) + 1 FROM transfers)) AS below
          FROM (
            SELECT DISTINCT iif(typeof(t.tx) = 'blob', t.id, t.id - t.tx) AS first
            FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value)
          LIMIT -1) /* else the query is flattened, and reads "below" each time that it names it */
        WHERE below > first + 1 AND EXISTS (
          SELECT 1 FROM transfers o WHERE o.id >= first AND o.id < below
            AND iif(+? IS NULL, ${tokenInSql('o')} <> +?,
              ${tokenInSql('o')} IN (SELECT list.value FROM json_each(?) list))
            AND (below - first > ${MOST_COMPARED} OR EXISTS (
              SELECT 1 FROM transfers w WHERE w.id >= first AND w.id < below
                AND (w.sender = o.receiver OR w.receiver = o.sender) AND ${tokenInSql('w')} = +?)))
      ) CROSS JOIN transfers t ON t.id >= first AND t.id < below
      LIMIT +?`)
    .raw();
  return (ids, { token, others }, limit) => {
    const list = others && idList([...others]);
    const rows = statement.all(idList(ids), list, token, list, token, limit + 1);
    return rows.length > limit ? null : transactionsOf(rows);
  };
}

/** Rows of whole transactions, by transaction. */
function transactionsOf(rows: readonly PartRow[]): TradingTransaction[] {
  const found: TradingTransaction[] = [];
  for (let start = 0, end = 0; start < rows.length; start = end) {
    end = start + 1;
    while (end < rows.length && rows[end]![1] === 0) end++;
    found.push({ first: rows[start]![0], transfers: rows.slice(start, end).map(partOf) });
  }
  return found;
}

/** By position: taking a row apart by a pattern takes several times as long until the code is compiled. */
function partOf(row: PartRow): PartTransfer {
  const from = row[2];
  const to = row[3];
  const packed = { id: row[0], sender: from, receiver: to, tokenKind: row[4], value: row[5], log: null };
  const { kind, token, tokenNumber, amount } = unpackTransfer(packed, '', 0);
  return { from, to, kind, token, tokenNumber, amount: movesOne(kind) ? 1n : digitsToBigInt(amount) };
}
