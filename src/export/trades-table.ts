/**
 * The table `trades` in files: its rows follow from the transfers of whole transactions, and from lists of contracts.
 */
import { TRADE_COLUMNS, type TradeColumn, type TradeRow } from '../model/trade-columns.ts';
import { inReadTransaction } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { blockFinder, prepareBlocks } from '../store/read/blocks.ts';
import { prepareTradeRows } from '../store/read/trade-rows.ts';
import { prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';
import { prepareTradeLists } from '../store/trades/trade-lists.ts';
import { BATCH_ROWS, type Batch, EXPORT_ADDRESSES, type FileColumn } from './batch.ts';
import type { BlockTable } from './block-tables.ts';

const PARQUET_TYPES: Record<TradeColumn['type'], FileColumn['type']> = {
  id: 'INT64',
  block: 'INT64',
  hash: 'STRING',
  address: 'STRING',
  kind: 'STRING',
  units: 'STRING',
  number: 'STRING',
  time: 'TIMESTAMP',
  legs: 'STRING',
  flag: 'BOOLEAN',
};

export const TRADES: BlockTable = {
  kind: 'blocks',
  columns: TRADE_COLUMNS.map((column) => ({
    name: column.name,
    type: PARQUET_TYPES[column.type],
    ...('nullable' in column && { nullable: true }),
    ...('distinct' in column && { distinct: true }),
  })),
  dependsOnGaps: true,
  rules(db, configured) {
    const lists = prepareTradeLists(db, configured);
    return () => inReadTransaction(db, () => lists().rules);
  },
  read(db, configured) {
    const book = new AddressBook(db, EXPORT_ADDRESSES);
    const blocks = prepareBlocks(db);
    const transfers = prepareTransfers(db);
    const lists = prepareTradeLists(db, configured);
    const rowsOf = prepareTradeRows(db, book);
    return function* batches({ first, last }) {
      const blockOf = blockFinder(blocks.range(first, last));
      const below = (blocks.at(last)?.lastTransfer ?? 0) + 1;
      let open: StoredTransfer[] = [];
      for (let next = (blocks.at(first - 1)?.lastTransfer ?? 0) + 1; next < below; next += BATCH_ROWS) {
        const end = Math.min(below, next + BATCH_ROWS);
        // One transaction: the address lookups must see the rows that the transfers refer to.
        yield inReadTransaction(db, () => {
          const read = [...open, ...transfers.range(next, end)];
          // The last transaction may go on after these transfers.
          const whole = end === below ? read.length : lastStart(read);
          open = read.slice(whole);
          const complete = read.slice(0, whole);
          book.load(complete);
          return batchOf(rowsOf(complete, blockOf, lists().ids));
        });
      }
    };
  },
};

function lastStart(transfers: readonly StoredTransfer[]): number {
  return Math.max(
    0,
    transfers.findLastIndex(({ eventIndex }) => eventIndex === 0),
  );
}

function batchOf(rows: readonly TradeRow[]): Batch {
  return { rowCount: rows.length, values: TRADE_COLUMNS.map((column) => valuesOf(rows, column)) };
}

function valuesOf(rows: readonly TradeRow[], { name, type }: TradeColumn): Batch['values'][number] {
  const values = rows.map((row) => row[name]);
  switch (PARQUET_TYPES[type]) {
    case 'INT64':
      return BigInt64Array.from(values, (value) => BigInt(Number(value)));
    case 'TIMESTAMP':
      return values.map((seconds) => new Date(Number(seconds) * 1000));
    case 'BOOLEAN':
      return values.map((value) => value === true);
    default:
      return values.map((value) => (value === null ? null : String(value)));
  }
}
