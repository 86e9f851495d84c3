/** The tables exported by ranges of blocks. Their rows never change once the blocks are final. */
import { bytesToHex, digitsToBigInt } from '../lib/hex.ts';
import { TRANSFER_KIND_NAMES, TransferKind } from '../model/transfer-kind.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { DamageError } from '../store/storage-error.ts';
import type { BlockRange } from '../store/trace-gaps.ts';
import { AddressBook } from './address-book.ts';
import { BATCH_ROWS, type Batch, type Column } from './files.ts';

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
    const select = db
      .prepare<[number, number, number], [number, string, number, number, number]>(/* sql */ `
        SELECT b.number, '0x' || lower(hex(b.hash)), b.timestamp,
          b.last_transfer - coalesce(p.last_transfer, 0), b.last_wallet - coalesce(p.last_wallet, 0)
        FROM blocks b LEFT JOIN blocks p ON p.number = b.number - 1
        WHERE b.number BETWEEN ? AND ? ORDER BY b.number LIMIT ?`)
      .raw();
    return function* batches({ first, last }) {
      for (let next = first; next <= last; next += BATCH_ROWS) {
        const rows = select.all(next, last, BATCH_ROWS);
        yield {
          rowCount: rows.length,
          values: [
            BigInt64Array.from(rows, (row) => BigInt(row[0])),
            rows.map((row) => row[1]),
            rows.map((row) => new Date(row[2] * 1000)),
            Int32Array.from(rows, (row) => row[3]),
            Int32Array.from(rows, (row) => row[4]),
          ],
        };
      }
    };
  },
};

/** id, tx, sender, receiver, kind, token, amount, token number, log index. */
type TransferRow = [
  number,
  Buffer | number,
  number,
  number,
  number,
  number | null,
  string,
  string,
  number | null,
];

/** A block with transfers, or without. */
interface BlockRow {
  number: number;
  timestamp: number;
  lastTransfer: number;
}

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
    const book = new AddressBook(db);
    const selectBlocks = db.prepare<[number, number], BlockRow>(/* sql */ `
      SELECT number, timestamp, last_transfer AS lastTransfer FROM blocks WHERE number BETWEEN ? AND ? ORDER BY number`);
    const lastIdBefore = db
      .prepare<[number], number>('SELECT last_transfer FROM blocks WHERE number = ?')
      .pluck();
    const select = db
      .prepare<[number, number], TransferRow>(/* sql */ `
        SELECT id, tx, sender, receiver, kind, token, hex(amount), hex(token_number), log_index
        FROM transfers WHERE id BETWEEN ? AND ? ORDER BY id`)
      .raw();
    return function* batches({ first, last }) {
      const blocks = selectBlocks.all(first, last);
      const end = blocks.at(-1)?.lastTransfer ?? 0;
      const position: Position = { blocks, block: 0, txHash: '' };
      for (let next = (lastIdBefore.get(first - 1) ?? 0) + 1; next <= end; next += BATCH_ROWS) {
        const until = Math.min(end, next + BATCH_ROWS - 1);
        // One transaction: the address lookups must see the rows that the transfers refer to.
        yield inReadTransaction(db, () => transferBatch(select.all(next, until), position, book));
      }
    };
  },
};

/** The position of a pass over transfers: block and transaction of the last one. */
interface Position {
  blocks: readonly BlockRow[];
  block: number;
  txHash: string;
}

function transferBatch(rows: readonly TransferRow[], position: Position, book: AddressBook): Batch {
  const blockNumbers = new BigInt64Array(rows.length);
  const timestamps: Date[] = [];
  const txHashes: string[] = [];
  for (const [i, [id, tx]] of rows.entries()) {
    const block = blockOf(id, position);
    blockNumbers[i] = BigInt(block.number);
    timestamps.push(new Date(block.timestamp * 1000));
    if (typeof tx !== 'number') position.txHash = bytesToHex(tx);
    txHashes.push(position.txHash);
  }
  const tokens = book.tokensOf(rows.flatMap(([, , , , , token]) => token ?? []));
  let nextToken = 0;
  return {
    rowCount: rows.length,
    values: [
      blockNumbers,
      timestamps,
      txHashes,
      Int32Array.from(rows, ([, tx]) => (typeof tx === 'number' ? tx : 0)),
      rows.map((row) => row[8]),
      rows.map(([, , , , kind]) => TRANSFER_KIND_NAMES[kind] ?? unknownKind(kind)),
      book.walletsOf(rows.map(([, , sender]) => sender)),
      book.walletsOf(rows.map(([, , , receiver]) => receiver)),
      rows.map(([, , , , , token]) => (token === null ? null : (tokens[nextToken++] ?? null))),
      rows.map(([, , , , kind, , , tokenNumber]) =>
        hasTokenId(kind) ? digitsToBigInt(tokenNumber).toString() : null,
      ),
      rows.map(([, , , , kind, , amount]) =>
        kind === TransferKind.erc721 ? '1' : digitsToBigInt(amount).toString(),
      ),
      BigInt64Array.from(rows, ([id]) => BigInt(id)),
    ],
  };
}

function blockOf(id: number, position: Position): BlockRow {
  for (;;) {
    const block = position.blocks[position.block];
    if (block === undefined) throw new DamageError(`transfer ${id} belongs to no block`);
    if (id <= block.lastTransfer) return block;
    position.block++;
  }
}

function hasTokenId(kind: number): boolean {
  return kind === TransferKind.erc721 || kind === TransferKind.erc1155;
}

function unknownKind(kind: number): never {
  throw new DamageError(`a transfer has the unknown kind ${kind}`);
}
