/** The tables of trades. */

import { NATIVE_DECIMALS } from '../../lib/units.ts';
import { NATIVE_TYPE, TRADE_COLUMNS, type TradeColumn, type TradeRow } from '../../model/trade-columns.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import { blockFinder } from '../../store/read/blocks.ts';
import { prepareTradeRows } from '../../store/read/trade-rows.ts';
import type { StoredTransfer } from '../../store/read/transfers.ts';
import { prepareTradeLists } from '../../store/trades/trade-lists.ts';
import { inUnits } from '../amounts.ts';
import { type Arguments, timeText } from './arguments.ts';
import type { IndexReads } from './index-reads.ts';
import { type Cell, type Portion, portionOf } from './rows.ts';
import { type ColumnType, EITHER_SIDE, READS, type SqlColumn, type TableShape } from './shape.ts';
import { type RowUse, type SqlTable, uses } from './table.ts';
import { transferIds } from './transfer-ids.ts';

const TYPES: Record<TradeColumn['type'], ColumnType> = {
  id: 'integer',
  block: 'integer',
  flag: 'integer',
  time: 'text',
  hash: 'text',
  address: 'text',
  kind: 'text',
  units: 'text',
  number: 'text',
  legs: 'text',
};

const COLUMNS: readonly SqlColumn[] = TRADE_COLUMNS.flatMap(({ name, type, description }): SqlColumn[] => [
  { name, type: TYPES[type], description },
  ...(type === 'units' ? [{ name: `${name}_real`, type: 'real' as const }] : []),
]);

const NAMES: readonly SqlColumn[] = [
  { name: 'token_symbol', type: 'text' },
  { name: 'token_decimals', type: 'integer' },
  { name: 'token_quantity', type: 'text' },
  { name: 'quote_symbol', type: 'text' },
  { name: 'quote_decimals', type: 'integer' },
  { name: 'quote_quantity', type: 'text' },
  { name: 'price', type: 'text' },
  { name: 'price_real', type: 'real' },
];

const EXACT = ['eq', 'in'] as const;
const RANGE = ['eq', 'min', 'max'] as const;

const SHAPE: Pick<TableShape, 'indexed' | 'ordered' | 'unique' | 'scanCost'> = {
  indexed: {
    first_transfer: { ops: EXACT, reads: READS.row },
    block_number: { ops: RANGE, reads: READS.range },
    block_timestamp: { ops: RANGE, reads: READS.range },
    tx_hash: { ops: EXACT, reads: READS.scan },
    wallet_address: { ops: EXACT, reads: READS.history },
    token_address: { ops: EXACT, reads: READS.history },
    quote_address: { ops: EXACT, reads: READS.history },
  },
  ordered: ['first_transfer', 'block_number', 'block_timestamp'],
  unique: null,
  scanCost: 120,
};

export const TRADES: SqlTable = {
  shape: {
    name: 'trades',
    description: 'what a wallet bought, sold or swapped in a transaction, told by its transfers',
    columns: COLUMNS,
    ...SHAPE,
  },
  estimate: ({ lastTransfer }) => lastTransfer,
  prepare: (reads, lists) => prepareRows(reads, lists, COLUMNS),
};

export const NAMED_TRADES: SqlTable = {
  shape: {
    name: 'named_trades',
    description: 'trades, with symbols, amounts in whole coins or tokens, and the price',
    columns: [...COLUMNS, ...NAMES],
    ...SHAPE,
    indexed: {
      ...SHAPE.indexed,
      token_symbol: { ops: EXACT, reads: READS.history },
      quote_symbol: { ops: EXACT, reads: READS.history },
    },
  },
  estimate: ({ lastTransfer }) => lastTransfer,
  prepare: (reads, lists) => prepareRows(reads, lists, [...COLUMNS, ...NAMES]),
};

function prepareRows(
  reads: IndexReads,
  configured: ConfiguredTradeLists,
  columns: readonly SqlColumn[],
): ReturnType<SqlTable['prepare']> {
  const listsOf = prepareTradeLists(reads.db, configured);
  const tradesIn = prepareTradeRows(reads.db, reads.book);
  const transactionsOf = prepareTransactions(reads);
  return function* (args, use) {
    const { ids: lists } = listsOf();
    const seen = new Set<number>();
    for (const ids of transferIds(reads, ofTransfers(args), { ...use, firstRows: null })) {
      const transfers = transactionsOf(ids, seen);
      if (transfers.length === 0) continue;
      reads.book.load(transfers);
      const blocks = reads.blocks.range(
        reads.blockOf(transfers[0]!.id).number,
        reads.blockOf(transfers.at(-1)!.id).number,
      );
      yield tradeRows(reads, tradesIn(transfers, blockFinder(blocks), lists), columns, use);
    }
  };
}

/** The conditions on trades as those on their transfers. */
function ofTransfers(args: Arguments): Arguments {
  const {
    first_transfer,
    wallet_address,
    token_address,
    quote_address,
    token_symbol,
    quote_symbol,
    ...others
  } = args;
  const token = token_address ?? quote_address;
  const symbol = token_symbol ?? quote_symbol;
  return {
    ...others,
    ...(first_transfer && { id: first_transfer }),
    ...(wallet_address && { [EITHER_SIDE]: wallet_address }),
    ...(token && { token_address: token }),
    ...(symbol && { token_symbol: symbol }),
  };
}

/** The transfers of the whole transactions that contain these, without those of transactions seen before. */
function prepareTransactions({ db, transfers, end }: IndexReads) {
  const next = db
    .prepare<[number], number>(
      "SELECT id FROM transfers WHERE id > +? AND typeof(tx) = 'blob' ORDER BY id LIMIT 1",
    )
    .pluck();
  return (ids: readonly number[], seen: Set<number>): StoredTransfer[] => {
    const firsts = new Set<number>();
    for (const { id, eventIndex } of transfers.byId(ids)) firsts.add(id - eventIndex);
    return [...firsts].flatMap((first) => {
      if (seen.has(first)) return [];
      seen.add(first);
      return transfers.range(first, next.get(first) ?? end().lastTransfer + 1);
    });
  };
}

function tradeRows(
  reads: IndexReads,
  rows: readonly TradeRow[],
  columns: readonly SqlColumn[],
  use: RowUse,
): Portion {
  const named = uses(use, ...NAMES.map(({ name }) => name)) ? namesOf(reads, rows) : {};
  const values: Partial<Record<string, () => Cell[]>> = Object.fromEntries(
    TRADE_COLUMNS.map(({ name }) => [name, () => rows.map((row) => cellOf(name, row))]),
  );
  return portionOf(
    rows.length,
    columns,
    use.columns,
    (name) => named[name] ?? values[name]?.(),
    !use.isAscending,
  );
}

function cellOf(name: TradeColumn['name'], row: TradeRow): Cell {
  if (name === 'block_timestamp') return timeText(new Date(row.block_timestamp * 1000));
  const value = row[name];
  return typeof value === 'boolean' ? Number(value) : value;
}

/** As in the view of PostgreSQL. */
function namesOf(reads: IndexReads, rows: readonly TradeRow[]): Record<string, Cell[]> {
  const token = rows.map((row) => sideOf(reads, row.token_type, row.token_address, row.token_amount));
  const quote = rows.map((row) => sideOf(reads, row.quote_type, row.quote_address, row.quote_amount));
  return {
    token_symbol: token.map(({ symbol }) => symbol),
    token_decimals: token.map(({ decimals }) => decimals),
    token_quantity: token.map(({ quantity }) => quantity),
    quote_symbol: quote.map(({ symbol }) => symbol),
    quote_decimals: quote.map(({ decimals }) => decimals),
    quote_quantity: quote.map(({ quantity }) => quantity),
    price: token.map(({ quantity }, i) => priceOf(quantity, quote[i]?.quantity ?? null)),
  };
}

interface Side {
  symbol: string | null;
  decimals: number | null;
  quantity: string | null;
}

function sideOf(reads: IndexReads, type: string | null, address: string | null, amount: string | null): Side {
  const { symbol, decimals } = (address === null ? undefined : reads.tokenByAddress(address)) ?? {
    symbol: null,
    decimals: null,
  };
  if (amount === null) return { symbol, decimals, quantity: null };
  if (type === NATIVE_TYPE) return { symbol, decimals, quantity: inUnits(BigInt(amount), NATIVE_DECIMALS) };
  if (type !== 'erc20') return { symbol, decimals, quantity: amount };
  return { symbol, decimals, quantity: decimals === null ? null : inUnits(BigInt(amount), decimals) };
}

const PRICE_DECIMALS = 18;

/** Quote per token, rounded to 18 decimals. */
function priceOf(token: string | null, quote: string | null): string | null {
  if (token === null || quote === null) return null;
  const [a, b] = [fractionOf(quote), fractionOf(token)];
  if (b.digits === 0n) return null;
  const scale = 10n ** BigInt(PRICE_DECIMALS + b.decimals);
  const divisor = b.digits * 10n ** BigInt(a.decimals);
  return inUnits((2n * a.digits * scale + divisor) / (2n * divisor), PRICE_DECIMALS);
}

function fractionOf(text: string): { digits: bigint; decimals: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
}
