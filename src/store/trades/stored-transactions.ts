/**
 * The stored transactions that may hold trades. Those in gaps are left out: a missing transfer could make any part a
 * trade.
 */
import { digitsToBigInt } from '../../lib/hex.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import { NATIVE, type PartTransfer } from '../../model/wallet-part.ts';
import { type BlockRange, gapsBetween } from '../block-gaps.ts';
import { prepareBlockOfTransfer } from '../chain.ts';
import type { Db, Statement } from '../open-database.ts';
import { DamageError } from '../storage-error.ts';
import { mayTrade } from './may-trade.ts';

type TradingRow = [
  id: number,
  isFirst: 0 | 1,
  from: number,
  to: number,
  kind: number,
  token: number,
  amount: string,
  tokenNumber: string,
];

/** Rows per read. */
const ROWS_PER_READ = 5_000;

/** Reads those among the transfers `first..last`, which begin and end between transactions. */
export class StoredTransactions {
  private readonly db: Db;
  private readonly rows: Statement<[number, number, number], TradingRow>;
  private readonly blockOf: (transfer: number) => number | null;
  private readonly lastTransferOf: Statement<[number], number>;

  constructor(db: Db) {
    this.db = db;
    this.rows = db
      .prepare<[number, number, number], TradingRow>(/* sql */ `
        SELECT id, typeof(tx) = 'blob', sender, receiver, kind, ifnull(token, ${NATIVE}), hex(amount),
          lower(hex(token_number))
        FROM transfers WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?`)
      .raw();
    this.blockOf = prepareBlockOfTransfer(db);
    this.lastTransferOf = db
      .prepare<[number], number>(
        'SELECT last_transfer FROM blocks WHERE number <= ? ORDER BY number DESC LIMIT 1',
      )
      .pluck();
  }

  *trading(first: number, last: number): Generator<readonly PartTransfer[]> {
    const gaps = this.gapsAmong(first, last);
    for (let from = first, limit = ROWS_PER_READ; from <= last; ) {
      const rows = this.rows.all(from, last, limit);
      if (rows[0]?.[0] !== from || rows.at(-1)?.[0] !== from + rows.length - 1) throw missing(first, last);
      const isLast = from + rows.length > last;
      if (!isLast && rows.length < limit) throw missing(first, last);
      // The last transaction may go on after these rows.
      const end = isLast ? rows.length : rows.findLastIndex(([, isFirst]) => isFirst === 1);
      if (end > 0) yield* tradingAmong(rows.slice(0, end), gaps);
      else limit *= 2;
      from += Math.max(0, end);
    }
  }

  /** The transfers of gaps among these. */
  private gapsAmong(first: number, last: number): BlockRange[] {
    if (first > last) return [];
    const blocks = { first: this.blockOf(first) ?? 0, last: this.blockOf(last) ?? 0 };
    return gapsBetween(this.db, blocks).map((gap) => this.transfersOf(gap));
  }

  /** The transfers of blocks, as a range of their ids. */
  transfersOf({ first, last }: BlockRange): BlockRange {
    const endOf = (block: number) => this.lastTransferOf.get(block) ?? 0;
    return { first: endOf(first - 1) + 1, last: endOf(last) };
  }
}

function missing(first: number, last: number): DamageError {
  return new DamageError(`some of the transfers ${first} to ${last} are missing`);
}

function* tradingAmong(
  rows: readonly TradingRow[],
  gaps: readonly BlockRange[],
): Generator<readonly PartTransfer[]> {
  const columns = {
    from: rows.map(([, , from]) => from),
    to: rows.map(([, , , to]) => to),
    token: rows.map(([, , , , , token]) => token),
  };
  for (let start = 0, end = 0; start < rows.length; start = end) {
    end = start + 1;
    while (end < rows.length && rows[end]![1] === 0) end++;
    if (!mayTrade(columns, start, end)) continue;
    const id = rows[start]![0];
    if (gaps.some(({ first, last }) => first <= id && id <= last)) continue;
    yield rows.slice(start, end).map(partOf);
  }
}

function partOf([, , from, to, kind, token, amount, tokenNumber]: TradingRow): PartTransfer {
  return { from, to, kind, token, tokenNumber, amount: movesOne(kind) ? 1n : digitsToBigInt(amount) };
}
