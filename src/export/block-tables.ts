/** The tables exported by ranges of blocks. Their rows never change once the blocks are final. */
import { digitsToBigInt } from '../lib/hex.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import type { Tip } from '../store/chain.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { blockFinder, prepareBlocks } from '../store/read/blocks.ts';
import { kindName, prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';
import type { BlockRange } from '../store/trace-gaps.ts';
import { BATCH_ROWS, type Batch, type Column, EXPORT_ADDRESSES } from './files.ts';

/** A table whose rows belong to blocks. */
export interface BlockTable {
  kind: 'blocks';
  columns: readonly Column[];
  /** Reads the rows of a range of indexed blocks in chain order. */
  read(db: Db): (range: BlockRange) => Generator<Batch, void, void>;
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
        yield {
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
    };
  },
};

export const TRANSFERS: BlockTable = {
  kind: 'blocks',
  columns: [
    { name: 'block_number', type: 'INT64' },
    { name: 'block_timestamp', type: 'TIMESTAMP' },
    { name: 'tx_hash', type: 'STRING', distinct: true },
    { name: 'event_index', type: 'INT32' },
    { name: 'log_index', type: 'INT32', nullable: true },
    { name: 'transfer_type', type: 'STRING' },
    { name: 'from_address', type: 'STRING' },
    { name: 'to_address', type: 'STRING' },
    { name: 'token_address', type: 'STRING', nullable: true },
    { name: 'token_id', type: 'STRING', nullable: true },
    { name: 'amount', type: 'STRING', distinct: true },
    { name: 'id', type: 'INT64', distinct: true },
  ],
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
  const { wallets, tokens } = book;
  const blocks = rows.map(({ id }) => blockOf(id));
  return {
    rowCount: rows.length,
    values: [
      BigInt64Array.from(blocks, ({ number }) => BigInt(number)),
      blocks.map(({ timestamp }) => new Date(timestamp * 1000)),
      rows.map(({ txHash }) => `0x${txHash}`),
      Int32Array.from(rows, ({ eventIndex }) => eventIndex),
      rows.map(({ logIndex }) => logIndex),
      rows.map(({ kind }) => kindName(kind)),
      rows.map(({ sender }) => wallets.of(sender)),
      rows.map(({ receiver }) => wallets.of(receiver)),
      rows.map(({ token }) => (token === 0 ? null : tokens.of(token))),
      rows.map(({ kind, tokenNumber }) => (hasTokenId(kind) ? digitsToBigInt(tokenNumber).toString() : null)),
      rows.map(({ kind, amount }) =>
        kind === TransferKind.erc721 ? '1' : digitsToBigInt(amount).toString(),
      ),
      BigInt64Array.from(rows, ({ id }) => BigInt(id)),
    ],
  };
}

function hasTokenId(kind: number): boolean {
  return kind === TransferKind.erc721 || kind === TransferKind.erc1155;
}
