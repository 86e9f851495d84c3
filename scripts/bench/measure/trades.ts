/** What the sums of trades cost the commit of a busy block: on copies of one index, with and without them. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { Checkpointer } from '../../../src/store/checkpointer.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import type { Figure, Table } from '../figure.ts';
import { ownUsage } from '../process/resource-usage.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { tradesBatch } from '../setup/growth-chain.ts';
import { growthOptions } from './growth.ts';

/** Of the index that the blocks are appended to. Sums of a small one share pages, so they cost less. */
const TRANSFERS = { standard: 2_000_000, quick: 50_000 };

/** Two-sided transactions of a block. */
const TRANSACTIONS = 1_000;
const BLOCKS = { standard: 40, quick: 4 };

/** At most 15 % more processor time, better 5 %. */
const BUDGET = { floor: 1 / 1.15, goal: 1 / 1.05 };

/** A page and its header in the log. */
const FRAME_BYTES = 24 + 8192;

/** Grows an index if none is given; the one given stays as it is. */
export async function measureTrades(context: BenchContext): Promise<Table[]> {
  const { quick, index } = context.options;
  const folder = index ?? join(context.folder, 'trades');
  mkdirSync(folder, { recursive: true });
  const options = growthOptions(folder, false);
  await context.withWorker('growth', null, async (worker) => {
    const transfers = await worker.call('open', options);
    const wanted = quick ? TRANSFERS.quick : TRANSFERS.standard;
    context.log(`trades: an index of ${formatNumber(Math.max(wanted, transfers))} transfers`);
    if (transfers < wanted) await worker.call('growTo', wanted);
    await worker.call('close');
  });
  const paths = ['with.db', 'without.db'].map((name) => join(context.folder, name));
  try {
    for (const path of paths) copyFileSync(options.path, path);
    forgetLists(paths[1]!);
    context.log(`trades: blocks of ${formatNumber(TRANSACTIONS)} two-sided transactions, in turns`);
    const sides = paths.map((path) => new Side(path, options.cacheMb));
    try {
      await appendInTurns(sides, BLOCKS[quick ? 'quick' : 'standard']);
      return [tradesTable(sides)];
    } finally {
      for (const side of sides) side.close();
    }
  } finally {
    for (const path of paths)
      for (const suffix of ['', '-wal', '-shm', '.lock']) rmSync(`${path}${suffix}`, { force: true });
  }
}

/** Without lists of trades an index keeps no sums. */
function forgetLists(path: string): void {
  const db = openDatabase(path);
  db.exec('DELETE FROM trade_rules');
  db.close();
}

async function appendInTurns(sides: readonly Side[], blocks: number): Promise<void> {
  const first = (sides[0]?.head ?? 0) + 1;
  for (let number = first; number < first + blocks; number++) {
    const batches = [tradesBatch(number, TRANSACTIONS)];
    for (const side of number % 2 === 0 ? sides : sides.toReversed()) await side.append(batches);
  }
}

/** An index that grows, and what each of its commits cost. */
class Side {
  readonly milliseconds: number[] = [];
  readonly pages: number[] = [];
  private readonly writer: IndexWriter;
  private readonly checkpointer: Checkpointer;

  constructor(path: string, cacheMb: number) {
    this.writer = new IndexWriter(path, { cacheMb });
    this.writer.disableAutoCheckpoint();
    this.checkpointer = new Checkpointer(path);
  }

  get head(): number {
    return this.writer.head()?.number ?? 0;
  }

  /** Commits a block, and empties the log outside the measured time, as a thread of the daemon does. */
  async append(batches: BlockBatch[]): Promise<void> {
    const before = ownUsage();
    this.writer.append(batches);
    const after = ownUsage();
    await this.checkpointer.checkpointWal();
    this.milliseconds.push((after.cpu - before.cpu) * 1000);
    this.pages.push((after.written - before.written) / FRAME_BYTES);
  }

  close(): void {
    this.checkpointer.close();
    this.writer.close();
  }
}

function tradesTable([withSums, without]: readonly Side[]): Table {
  const figure = (name: string, unit: Figure['unit'], of: 'milliseconds' | 'pages'): Figure => ({
    name,
    unit,
    samples: withSums?.[of] ?? [],
    against: { name: 'the same without sums of trades', samples: without?.[of] ?? [] },
  });
  return {
    title: `A block of ${formatNumber(TRANSACTIONS)} two-sided transactions at the head`,
    layout: 'list',
    figures: [
      { ...figure('commit, processor time', 'ms', 'milliseconds'), budget: BUDGET },
      figure('commit, pages written', 'pages', 'pages'),
    ],
    notes: ['Both are appended to copies of one index, block by block in turns.'],
  };
}
