/** What a transfer costs as the index grows: the writer's path alone, on a chain that grows as real ones do. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Figure, Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { GrowthPoint } from '../workers/growth.ts';

const MILLION = 1_000_000;

/** Each part ends at one of these sizes, in millions; the last part before 3, 10, 30 and 100 is of a tenth or so. */
const ENDS = [1, 2, 3, 9, 10, 27, 30, 90, 100];

/** The part that others are compared with. */
const FIRST_PART = 2 * MILLION;

const { index } = parseConfig({}).config;

export async function measureGrowth(context: BenchContext): Promise<Table[]> {
  const { transfers, index: kept, cold } = context.options;
  const folder = kept ?? join(context.folder, 'growth');
  mkdirSync(folder, { recursive: true });
  const points = await context.withWorker('growth', null, async (worker) => {
    const before = await worker.call('open', {
      path: join(folder, 'index.db'),
      cacheMb: index.cache_mb,
      maxTransfers: index.batch_transfers,
      memoryMb: index.backfill_memory_mb,
      cold,
    });
    const done: GrowthPoint[] = [];
    for (const end of endsOf(before, transfers)) {
      context.log(`growth: to ${formatNumber(end)} transfers`);
      done.push(await worker.call('growTo', end));
    }
    await worker.call('close');
    return done;
  });
  return [growthTable(points, cold)];
}

/** Where the parts from `before` to `transfers` end. */
function endsOf(before: number, transfers: number): number[] {
  const ends = ENDS.map((millions) => millions * MILLION).filter((end) => end < transfers);
  return [...ends, transfers].filter((end) => end > before);
}

function growthTable(points: readonly GrowthPoint[], cold: boolean): Table {
  const perTransfer = (of: (point: GrowthPoint) => number) => (point: GrowthPoint) =>
    of(point) / point.transfers;
  const cpu = perTransfer((point) => (point.commitCpuSeconds + point.checkpointCpuSeconds) * 1e6);
  const base = points.find(({ totalTransfers }) => totalTransfers === FIRST_PART);
  const rows: [name: string, unit: Figure['unit'], value: (point: GrowthPoint) => number][] = [
    ['processor time per transfer', 'us', cpu],
    ['of which checkpoints', 'us', perTransfer((point) => point.checkpointCpuSeconds * 1e6)],
    ['time per transfer', 'us', perTransfer((point) => point.seconds * 1e6)],
    ['transfers per commit', 'transfers', (point) => point.transfers / point.commits],
    ['written to the log per transfer', 'B', perTransfer((point) => point.walBytes)],
    ['read per transfer', 'B', perTransfer((point) => point.readBytes)],
    ['size per transfer', 'B', (point) => point.fileBytes / point.totalTransfers],
    ['largest memory', 'MB', (point) => point.peakMegabytes],
    ['transfers per wallet', 'transfers', (point) => point.totalTransfers / point.wallets],
    ['transfers per holding', 'transfers', (point) => point.totalTransfers / point.holdings],
  ];
  return {
    title: `Growth of the index, by the writer's path alone${cold ? ', pages dropped from the cache before each commit' : ''}`,
    layout: 'grid',
    figures: rows.flatMap(([name, unit, value]) =>
      points.map((point) => ({
        name,
        column: `to ${formatNumber(point.totalTransfers)}`,
        unit,
        samples: [value(point)],
      })),
    ),
    notes: [
      ...(base === undefined
        ? []
        : points.map(
            (point) =>
              `Processor time to ${formatNumber(point.totalTransfers)} against the second million: ${(cpu(point) / cpu(base)).toFixed(2)} times (at 100 million floor 2, goal 1.3).`,
          )),
      'Generated without a node: a wallet is new in one of nine transfers, the others come back by Zipf. The memory is that of the writer with the generator.',
    ],
  };
}
