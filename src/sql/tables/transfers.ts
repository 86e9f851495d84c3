/** The tables of transfers. */

import type { ColumnValues } from '../../export/batch.ts';
import { TRANSFERS as EXPORTED, transferColumns } from '../../export/block-tables.ts';
import { NATIVE_DECIMALS } from '../../lib/units.ts';
import { columnsOf } from '../../model/transfer-fields.ts';
import { isNativeKind, TransferKind } from '../../model/transfer-kind.ts';
import { prepareTokensById } from '../../query/tokens.ts';
import type { Tip } from '../../store/chain.ts';
import { idList } from '../../store/read/id-list.ts';
import {
  PACKED_COLUMNS,
  type PackedTransfer,
  type StoredTransfer,
  unpackTransfer,
} from '../../store/read/transfers.ts';
import { inUnits } from '../amounts.ts';
import type { Arguments } from './arguments.ts';
import type { IndexReads } from './index-reads.ts';
import { type Cell, portionOf, sqlColumns } from './rows.ts';
import { EITHER_SIDE, READS, type SqlColumn, type TableShape } from './shape.ts';
import { type RowUse, type SqlTable, uses } from './table.ts';
import { type Ids, tokenIdsIn, transferIds } from './transfer-ids.ts';

const IN_ORDER: readonly string[] = columnsOf('postgres').map(({ column }) => column.name);
const exported = [...EXPORTED.columns].sort((a, b) => IN_ORDER.indexOf(a.name) - IN_ORDER.indexOf(b.name));

const COLUMNS = sqlColumns(exported, ['amount']);

const NAMED: readonly SqlColumn[] = [
  ...COLUMNS,
  { name: 'token_name', type: 'text' },
  { name: 'token_symbol', type: 'text' },
  { name: 'token_decimals', type: 'integer' },
  { name: 'quantity', type: 'text' },
  { name: 'quantity_real', type: 'real' },
];

const EXACT = ['eq', 'in'] as const;
const RANGE = ['eq', 'min', 'max'] as const;

const INDEXED: TableShape['indexed'] = {
  id: { ops: [...EXACT, 'min', 'max'], reads: READS.row },
  block_number: { ops: RANGE, reads: READS.range },
  block_timestamp: { ops: RANGE, reads: READS.range },
  tx_hash: { ops: EXACT, reads: READS.scan },
  from_address: { ops: EXACT, reads: READS.history },
  to_address: { ops: EXACT, reads: READS.history },
  [EITHER_SIDE]: { ops: ['eq'], reads: READS.history },
  token_address: { ops: EXACT, reads: READS.history },
};

const SHAPE = {
  indexed: INDEXED,
  ordered: ['id', 'block_number', 'block_timestamp'],
  unique: 'id',
  isFoldable: true,
  scanCost: 100,
};

export const TRANSFERS: SqlTable = {
  shape: {
    name: 'transfers',
    description: 'every transfer, internal ones included',
    columns: COLUMNS,
    ...SHAPE,
  },
  estimate: ({ lastTransfer }) => lastTransfer,
  prepare: (reads) => prepareRows(reads, COLUMNS),
};

export const NAMED_TRANSFERS: SqlTable = {
  shape: {
    name: 'named_transfers',
    description: 'transfers, with the name of the token and the amount in whole coins or tokens',
    columns: NAMED,
    ...SHAPE,
    indexed: { ...INDEXED, token_symbol: { ops: EXACT, reads: READS.history } },
  },
  estimate: ({ lastTransfer }) => lastTransfer,
  prepare: (reads) => prepareRows(reads, NAMED),
};

function prepareRows(reads: IndexReads, columns: readonly SqlColumn[]): ReturnType<SqlTable['prepare']> {
  const readTransfers = prepareStored(reads);
  const namesOf = prepareNames(reads);
  return function* (args, use) {
    const isWanted = tokenFilter(reads, args);
    for (const ids of transferIds(reads, args, use)) {
      const found = needsRows(use) || isWanted !== null ? readTransfers(ids, use) : ids.map(withId);
      const rows = isWanted === null ? found : found.filter(isWanted);
      const valuesOf = transferValues(reads, rows, use);
      const named: Names = uses(use, ...NAMES) ? namesOf(rows) : {};
      const both = (column: string) => named[column] ?? valuesOf(column);
      yield portionOf(rows.length, columns, use.columns, both, !use.isAscending);
    }
  };
}

/** The values of a column of transfers, by its name; the ids of the rows ascend. */
export function transferValues(
  reads: IndexReads,
  rows: readonly StoredTransfer[],
  use: RowUse,
): (column: string) => ColumnValues | undefined {
  if (uses(use, ...ADDRESSES)) loadAddresses(reads, rows, use);
  const values: Partial<Record<string, () => ColumnValues>> = transferColumns(
    rows,
    prepareBlockOf(reads),
    reads.book,
  );
  return (column) => values[column]?.();
}

const ADDRESSES = ['from_address', 'to_address', 'token_address', 'funder_address', 'wallet_address'];
const NAMES = ['token_name', 'token_symbol', 'token_decimals', 'quantity', 'quantity_real'];
const BLOCKS = ['block_number', 'block_timestamp'];
const OF_TRANSACTION = ['tx_hash', 'event_index'];

const OF_TOKEN = ['token_address', 'token_symbol'];

function needsRows(use: RowUse): boolean {
  const others = COLUMNS.map(({ name }) => name).filter((name) => name !== 'id' && !BLOCKS.includes(name));
  return uses(use, ...others, ...NAMES);
}

const UNREAD = unpackTransfer({ id: 0, sender: 0, receiver: 0, tokenKind: 0, value: '', log: null }, '', 0);

/** A transfer of which only the id and the block are read. */
function withId(id: number): StoredTransfer {
  return { ...UNREAD, id };
}

function loadAddresses({ book }: IndexReads, rows: readonly StoredTransfer[], use: RowUse): void {
  if (uses(use, 'token_address')) book.tokens.load(rows.flatMap(({ token }) => (token === 0 ? [] : [token])));
  book.wallets.load(rows.flatMap(({ sender, receiver }) => [sender, receiver]));
}

/** Reads transfers by ascending id. Without columns of their transaction, whose first transfer has the hash, faster. */
function prepareStored({ db, transfers }: IndexReads): (ids: Ids, use: RowUse) => StoredTransfer[] {
  const byId = db.prepare<[string], PackedTransfer>(
    `SELECT ${PACKED_COLUMNS} FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`,
  );
  const range = db.prepare<[number, number], PackedTransfer>(
    `SELECT ${PACKED_COLUMNS} FROM transfers t WHERE t.id >= +? AND t.id < +? ORDER BY t.id`,
  );
  return (ids, use) => {
    const [from, below] = [ids[0] ?? 0, (ids.at(-1) ?? -1) + 1];
    const isRange = below - from === ids.length;
    if (uses(use, ...OF_TRANSACTION)) return isRange ? transfers.range(from, below) : transfers.byId(ids);
    const rows = isRange ? range.all(from, below) : byId.all(idList(ids));
    return rows.map((row) => unpackTransfer(row, '', 0));
  };
}

/** The block of each transfer, for ids that ascend. */
function prepareBlockOf({ blocks }: IndexReads): (transfer: number) => Tip {
  let current: Tip | undefined;
  return (transfer) => {
    if (current === undefined || transfer > current.lastTransfer) [current] = blocks.of([transfer]);
    return current!;
  };
}

/** Leaves out the rows of other tokens, which the query would reject, before their columns are computed. */
function tokenFilter(reads: IndexReads, args: Arguments): ((row: StoredTransfer) => boolean) | null {
  const ids = tokenIdsIn(reads, args);
  if (ids === undefined) return null;
  const tokens = new Set(ids);
  const isByToken = Object.keys(args).every((column) => OF_TOKEN.includes(column));
  const isComplete = reads.tokenHistoryEnd().lastTransfer === reads.end().lastTransfer;
  return isByToken && isComplete ? null : ({ token }) => tokens.has(token);
}

type Names = Record<string, Cell[]>;

/** The columns that only named transfers have. */
function prepareNames({ db }: IndexReads): (rows: readonly StoredTransfer[]) => Names {
  const tokensById = prepareTokensById(db);
  return (rows) => {
    const ids = [...new Set(rows.flatMap(({ token }) => (token === 0 ? [] : [token])))];
    const tokens = new Map(tokensById(ids).map((token) => [token.id, token]));
    const of = rows.map(({ token }) => tokens.get(token));
    return {
      token_name: of.map((token) => token?.name ?? null),
      token_symbol: of.map((token) => token?.symbol ?? null),
      token_decimals: of.map((token) => (token?.decimals == null ? null : BigInt(token.decimals))),
      quantity: rows.map((row, i) => quantityOf(row, of[i]?.decimals ?? null)),
    };
  };
}

/** As in the view of PostgreSQL: null while the decimals are unknown. */
function quantityOf({ kind, amount }: StoredTransfer, decimals: number | null): string | null {
  if (isNativeKind(kind)) return inUnits(BigInt(`0x0${amount}`), NATIVE_DECIMALS);
  if (kind === TransferKind.erc20)
    return decimals === null ? null : inUnits(BigInt(`0x0${amount}`), decimals);
  return kind === TransferKind.erc721 ? '1' : BigInt(`0x0${amount}`).toString();
}
