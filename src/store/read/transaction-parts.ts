/** Transactions as trades see them: their transfers by ids, without hashes. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import type { Db } from '../open-database.ts';
import { tokenOf } from '../schema.ts';
import { mayTrade } from '../trades/may-trade.ts';
import { idList } from './id-list.ts';
import { unpackTransfer } from './transfers.ts';

/** A transaction of several transfers, as the range of their ids, `first <= id < below`. */
export interface TransactionRange {
  first: number;
  below: number;
  /** Whether it moves one of the tokens that were asked for. */
  isWanted: boolean;
}

/**
 * The transactions of a list of ascending transfers that have others too, each once, in its order, and whether they
 * move one of `others`, tokens or NATIVE. Null for any. This rules out most transactions without reading their rows.
 */
export function prepareTransactionRanges(
  db: Db,
): (ids: readonly number[], others: ReadonlySet<number> | null) => TransactionRange[] {
  const statement = db
    .prepare<
      [string | null, string | null, string],
      [first: number, below: number, isWanted: 0 | 1]
    >(/* sql */ `
      SELECT first, below, ? IS NULL OR EXISTS (
          SELECT 1 FROM transfers o WHERE o.id >= first AND o.id < below
            AND iif(o.token_kind < 0, -o.token_kind, o.token_kind >> 3) IN (SELECT list.value FROM json_each(?) list))
      FROM (
        SELECT first, ifnull((
            SELECT n.id FROM transfers n WHERE n.id > first AND typeof(n.tx) = 'blob' ORDER BY n.id LIMIT 1
          ), (SELECT max(id) + 1 FROM transfers)) AS below
        FROM (
          SELECT DISTINCT iif(typeof(t.tx) = 'blob', t.id, t.id - t.tx) AS first
          FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value)
        LIMIT -1) -- else the query is flattened, and reads "below" each time that it names it
      WHERE below > first + 1`)
    .raw();
  return (ids, others) => {
    const wanted = others && idList([...others]);
    return statement
      .all(wanted, wanted, idList(ids))
      .map(([first, below, isWanted]) => ({ first, below, isWanted: isWanted === 1 }));
  };
}

/** A transaction that may hold trades, with all its transfers. */
export interface TradingTransaction {
  /** transfers.id of the first one. */
  first: number;
  transfers: readonly PartTransfer[];
}

type PartRow = [id: number, isFirst: 0 | 1, from: number, to: number, tokenKind: number, value: string];

/** Reads transactions in the order of the list. Keeps those that move two assets, a wallet giving and getting. */
export function prepareTradingTransactions(
  db: Db,
): (transactions: readonly TransactionRange[]) => TradingTransaction[] {
  const statement = db
    .prepare<[string], PartRow>(/* sql */ `
      SELECT t.id, typeof(t.tx) = 'blob', t.sender, t.receiver, t.token_kind, hex(t.value)
      FROM json_each(?) list CROSS JOIN transfers t ON t.id >= +list.key AND t.id < list.value`)
    .raw();
  return (transactions) => {
    const rows = statement.all(rangeList(transactions));
    const columns = {
      from: rows.map(([, , from]) => from),
      to: rows.map(([, , , to]) => to),
      token: rows.map(([, , , , tokenKind]) => tokenOf(tokenKind)),
    };
    const found: TradingTransaction[] = [];
    for (let start = 0, end = 0; start < rows.length; start = end) {
      end = start + 1;
      while (end < rows.length && rows[end]![1] === 0) end++;
      if (mayTrade(columns, start, end))
        found.push({ first: rows[start]![0], transfers: rows.slice(start, end).map(partOf) });
    }
    return found;
  };
}

/** As the one parameter of a statement that reads them in order with `json_each(?)`, as keys and values. */
function rangeList(ranges: readonly TransactionRange[]): string {
  return `{${ranges.map(({ first, below }) => `"${first}":${below}`).join()}}`;
}

function partOf([id, , from, to, tokenKind, value]: PartRow): PartTransfer {
  const packed = { id, sender: from, receiver: to, tokenKind, value, log: null };
  const { kind, token, tokenNumber, amount } = unpackTransfer(packed, '', 0);
  return { from, to, kind, token, tokenNumber, amount: movesOne(kind) ? 1n : digitsToBigInt(amount) };
}
