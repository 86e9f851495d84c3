/** Transactions as trades see them: their transfers by ids, without hashes. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import type { PartTransfer } from '../../model/wallet-part.ts';
import type { Db } from '../open-database.ts';
import { tokenOf } from '../schema.ts';
import { mayTrade } from '../trades/may-trade.ts';
import { idList } from './id-list.ts';
import { unpackTransfer } from './transfers.ts';

/** Where the transaction of a transfer begins, and whether it has no other transfer. */
export interface TransactionStart {
  first: number;
  isAlone: boolean;
}

/** The transactions of a list of transfers, in its order. */
export function prepareTransactionStarts(db: Db): (ids: readonly number[]) => TransactionStart[] {
  const statement = db
    .prepare<[string], [first: number, isAlone: 0 | 1]>(/* sql */ `
      SELECT iif(typeof(t.tx) = 'blob', t.id, t.id - t.tx), typeof(t.tx) = 'blob'
        AND EXISTS (SELECT 1 FROM transfers n WHERE n.id = t.id + 1 AND typeof(n.tx) = 'blob')
      FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`)
    .raw();
  return (ids) => statement.all(idList(ids)).map(([first, isAlone]) => ({ first, isAlone: isAlone === 1 }));
}

/** A transaction that may hold trades, with all its transfers. */
export interface TradingTransaction {
  /** transfers.id of the first one. */
  first: number;
  transfers: readonly PartTransfer[];
}

type PartRow = [id: number, isFirst: 0 | 1, from: number, to: number, tokenKind: number, value: string];

interface PartsReading {
  /** Transfers read. */
  rows: number;
  /** The last transaction that was read to its end; null for none. */
  last: number | null;
  /** Whether the limit came before the end. */
  isCut: boolean;
  transactions: TradingTransaction[];
}

/**
 * Reads the transactions whose first transfers are `firsts`, in that order, as many as have `limit` transfers. Keeps
 * those that move two assets, of which one passes `isWanted`, a wallet giving and getting; amounts are decoded of these
 * alone.
 */
export function prepareTradingTransactions(
  db: Db,
): (firsts: readonly number[], limit: number, isWanted: (token: number) => boolean) => PartsReading {
  const statement = db
    .prepare<[string, number], PartRow>(/* sql */ `
      SELECT t.id, typeof(t.tx) = 'blob', t.sender, t.receiver, t.token_kind, hex(t.value) FROM (
          SELECT list.value AS first, ifnull((
              SELECT n.id FROM transfers n WHERE n.id > list.value AND typeof(n.tx) = 'blob' ORDER BY n.id LIMIT 1
            ), ${Number.MAX_SAFE_INTEGER}) AS below
          FROM json_each(?) list)
        CROSS JOIN transfers t ON t.id >= first AND t.id < below
      LIMIT +?`)
    .raw();
  return (firsts, limit, isWanted) => {
    const rows = statement.all(idList(firsts), limit + 1);
    const columns = {
      from: rows.map(([, , from]) => from),
      to: rows.map(([, , , to]) => to),
      token: rows.map(([, , , , tokenKind]) => tokenOf(tokenKind)),
    };
    const isCut = rows.length > limit;
    const transactions: TradingTransaction[] = [];
    let last: number | null = null;
    for (let start = 0, end = 0; start < rows.length; start = end) {
      end = start + 1;
      while (end < rows.length && rows[end]![1] === 0) end++;
      if (isCut && end === rows.length) break;
      last = rows[start]![0];
      if (!columns.token.slice(start, end).some(isWanted) || !mayTrade(columns, start, end)) continue;
      transactions.push({ first: last, transfers: rows.slice(start, end).map(partOf) });
    }
    return { rows: rows.length, last, isCut, transactions };
  };
}

function partOf([id, , from, to, tokenKind, value]: PartRow): PartTransfer {
  const packed = { id, sender: from, receiver: to, tokenKind, value, log: null };
  const { kind, token, tokenNumber, amount } = unpackTransfer(packed, '', 0);
  return { from, to, kind, token, tokenNumber, amount: movesOne(kind) ? 1n : digitsToBigInt(amount) };
}
