/** The table of blocks. */
import { blockBatch, BLOCKS as EXPORTED } from '../../export/block-tables.ts';
import { type Arguments, boundsIn, integersIn, timesIn } from './arguments.ts';
import type { IndexReads } from './index-reads.ts';
import { portionOf, sqlColumns } from './rows.ts';
import { READS, type SqlColumn } from './shape.ts';
import type { SqlTable } from './table.ts';

const BLOCKS_PER_READ = 1_024;
/** Of the first read of a query, which may want only the newest block. */
const FIRST_READ = 16;

const COLUMNS: readonly SqlColumn[] = [
  ...sqlColumns(EXPORTED.columns, []),
  { name: 'last_transfer', type: 'integer' },
];
const POSITIONS = new Map(EXPORTED.columns.map(({ name }, at) => [name, at]));

export const BLOCKS: SqlTable = {
  shape: {
    name: 'blocks',
    description: 'every indexed block',
    columns: COLUMNS,
    indexed: {
      number: { ops: ['eq', 'in', 'min', 'max'], reads: READS.row },
      timestamp: { ops: ['eq', 'min', 'max'], reads: READS.range },
    },
    ordered: ['number', 'timestamp'],
    unique: 'number',
    scanCost: 50,
  },
  estimate: ({ number, startBlock }) => number - startBlock + 1,
  prepare: (reads) =>
    function* (args, { columns, isAscending, firstRows }) {
      for (const [first, last] of rangesOf(reads, args, isAscending, firstRows ?? FIRST_READ)) {
        const before = reads.blocks.at(first - 1);
        const rows = [...reads.blocks.range(first, last)];
        const { rowCount, values } = blockBatch(rows, [before, ...rows]);
        const ends = rows.map(({ lastTransfer }) => BigInt(lastTransfer));
        const valuesOf = (name: string) =>
          name === 'last_transfer' ? ends : values[POSITIONS.get(name) ?? -1];
        yield portionOf(rowCount, COLUMNS, columns, valuesOf, !isAscending);
      }
    },
};

/** First and last numbers of portions, which descend unless asked for in ascending order. */
function* rangesOf(
  reads: IndexReads,
  args: Arguments,
  isAscending: boolean,
  firstSize: number,
): Generator<[first: number, last: number], void, void> {
  const end = reads.end();
  const numbers = boundsIn(args, 'number');
  const { since, until } = timesIn(args, 'timestamp');
  const head = { ...end, hashPrefix: '', revision: 0, rewrites: [] };
  const times = reads.blocksInTime(head, { since, until: reads.timesAscend() ? until : undefined });
  let first = Math.max(numbers.min, times.first, end.startBlock);
  let last = Math.min(numbers.max, times.last, end.number);
  const wanted = integersIn(args, 'number');
  if (wanted !== undefined) {
    const within = wanted.filter((number) => number >= first && number <= last);
    for (const number of within.sort((a, b) => (isAscending ? a - b : b - a))) yield [number, number];
    return;
  }
  let size = Math.max(1, Math.min(firstSize, BLOCKS_PER_READ));
  for (; first <= last; size = BLOCKS_PER_READ) {
    if (isAscending) {
      yield [first, Math.min(last, first + size - 1)];
      first += size;
    } else {
      yield [Math.max(first, last - size + 1), last];
      last -= size;
    }
  }
}
