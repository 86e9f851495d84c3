/** The tables exported by ranges of blocks. Their rows never change once the blocks are final. */
import { digitsToBigInt } from '../lib/hex.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { type ColumnField, columnsOf } from '../model/transfer-fields.ts';
import { hasTokenNumber, movesOne } from '../model/transfer-kind.ts';
import type { BlockRange } from '../store/block-gaps.ts';
import type { Tip } from '../store/chain.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { blockFinder, prepareBlocks } from '../store/read/blocks.ts';
import { kindName, prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';
import { BATCH_ROWS, type Batch, type ColumnValues, EXPORT_ADDRESSES, type FileColumn } from './batch.ts';

/** A table whose rows belong to blocks. */
export interface BlockTable {
  kind: 'blocks';
  columns: readonly FileColumn[];
  /** Whether the rows of a block say that transfers of it are missing. */
  dependsOnGaps?: true;
  /** The rules that the rows follow from besides the blocks, as text; absent where there are none. */
  rules?(db: Db, configured: ConfiguredTradeLists): () => string;
  /** Reads the rows of a range of indexed blocks in chain order. `configured` are the lists of `[trades]`. */
  read(db: Db, configured: ConfiguredTradeLists): (range: BlockRange) => Generator<Batch, void, void>;
}

export const BLOCKS: BlockTable = {
  kind: 'blocks',
  columns: [
    { name: 'number', type: 'INT64', distinct: true },
    { name: 'hash', type: 'STRING', distinct: true },
    { name: 'timestamp', type: 'TIMESTAMP', distinct: true },
    { name: 'transfers', type: 'INT32' },
    { name: 'new_addresses', type: 'INT32' },
  ],
  read(db) {
    const blocks = prepareBlocks(db);
    return function* batches({ first, last }) {
      let previous = blocks.at(first - 1);
      for (let next = first; next <= last; next += BATCH_ROWS) {
        const rows = [...blocks.range(next, Math.min(last, next + BATCH_ROWS - 1))];
        const before = [previous, ...rows];
        previous = rows.at(-1);
        yield blockBatch(rows, before);
      }
    };
  },
};

/** `before` begins with the block before the first one, undefined where that is the first of the index. */
export function blockBatch(rows: readonly Tip[], before: readonly (Tip | undefined)[]): Batch {
  return {
    rowCount: rows.length,
    values: [
      BigInt64Array.from(rows, ({ number }) => BigInt(number)),
      rows.map(({ hash }) => hash),
      rows.map(({ timestamp }) => new Date(timestamp * 1000)),
      Int32Array.from(rows, ({ lastTransfer }, i) => lastTransfer - (before[i]?.lastTransfer ?? 0)),
      Int32Array.from(rows, ({ lastWallet }, i) => lastWallet - (before[i]?.lastWallet ?? 0)),
    ],
  };
}

const TRANSFER_FIELDS = columnsOf('parquet');

const PARQUET_TYPES: Record<ColumnField['type'], FileColumn['type']> = {
  id: 'INT64',
  block: 'INT64',
  position: 'INT32',
  integer: 'INT32',
  hash: 'STRING',
  address: 'STRING',
  kind: 'STRING',
  units: 'STRING',
  number: 'STRING',
  time: 'TIMESTAMP',
};

export type TransferColumns = Record<ColumnField['column']['name'], () => ColumnValues>;

export const TRANSFERS: BlockTable = {
  kind: 'blocks',
  columns: TRANSFER_FIELDS.map((field) => ({
    name: field.column.name,
    type: PARQUET_TYPES[field.type],
    ...('nullable' in field && { nullable: true }),
    ...('distinct' in field.column && { distinct: true }),
  })),
  read(db) {
    const book = new AddressBook(db, EXPORT_ADDRESSES);
    const blocks = prepareBlocks(db);
    const transfers = prepareTransfers(db);
    return function* batches({ first, last }) {
      const blockOf = blockFinder(blocks.range(first, last));
      const below = (blocks.at(last)?.lastTransfer ?? 0) + 1;
      for (let next = (blocks.at(first - 1)?.lastTransfer ?? 0) + 1; next < below; next += BATCH_ROWS) {
        const end = Math.min(below, next + BATCH_ROWS);
        // One transaction: the address lookups must see the rows that the transfers refer to.
        yield inReadTransaction(db, () => transferBatch(transfers.range(next, end), blockOf, book));
      }
    };
  },
};

function transferBatch(
  rows: readonly StoredTransfer[],
  blockOf: (transfer: number) => Tip,
  book: AddressBook,
): Batch {
  book.load(rows);
  const columns = transferColumns(rows, blockOf, book);
  return { rowCount: rows.length, values: TRANSFER_FIELDS.map(({ column }) => columns[column.name]()) };
}

/** The values of each column, computed when asked for. The book has the addresses of the rows. */
export function transferColumns(
  rows: readonly StoredTransfer[],
  blockOf: (transfer: number) => Tip,
  { wallets, tokens }: AddressBook,
): TransferColumns {
  let found: readonly Tip[] | undefined;
  const blocks = () => {
    found ??= rows.map(({ id }) => blockOf(id));
    return found;
  };
  return {
    block_number: () => BigInt64Array.from(blocks(), ({ number }) => BigInt(number)),
    block_timestamp: () => blocks().map(({ timestamp }) => new Date(timestamp * 1000)),
    tx_hash: () => rows.map(({ txHash }) => `0x${txHash}`),
    event_index: () => Int32Array.from(rows, ({ eventIndex }) => eventIndex),
    log_index: () => rows.map(({ logIndex }) => logIndex),
    transfer_type: () => rows.map(({ kind }) => kindName(kind)),
    from_address: () => rows.map(({ sender }) => wallets.of(sender)),
    to_address: () => rows.map(({ receiver }) => wallets.of(receiver)),
    token_address: () => rows.map(({ token }) => (token === 0 ? null : tokens.of(token))),
    token_id: () =>
      rows.map(({ kind, tokenNumber }) =>
        hasTokenNumber(kind) ? digitsToBigInt(tokenNumber).toString() : null,
      ),
    amount: () => rows.map(({ kind, amount }) => (movesOne(kind) ? '1' : digitsToBigInt(amount).toString())),
    id: () => BigInt64Array.from(rows, ({ id }) => BigInt(id)),
  };
}
