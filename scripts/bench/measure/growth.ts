/** The cost of a transfer as the index grows: the writer's path alone, on a chain that grows like real ones. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Figure, Table } from '../figure.ts';
import { growthPicture } from '../report/growth-picture.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { GrowthPoint } from '../workers/growth.ts';

const MILLION = 1_000_000;

/**
 * Each part ends at one of these sizes, in millions. The parts before 3, 10, 30 and 100 cover about a tenth
 * each. No part takes an hour, the limit of a call to a worker.
 */
const ENDS = [1, 2, 3, 9, 10, 27, 30, 60, 90, 100];

/** The baseline part. */
const FIRST_PART = 2 * MILLION;

const { index } = parseConfig({}).config;

/** Bytes of a page in the WAL: header and page. */
const FRAME_BYTES = 24 + 8192;

const BUDGETS = {
  /** Relative to the second million. */
  cpu: { floor: 2, goal: 1.3 },
  frames: { floor: 0.5, goal: 0.2 },
  size: { floor: 95, goal: 80 },
  memory: { floor: 700, goal: 500 },
};

/** Continues the index, and reports everything measured while it grew, including earlier runs. */
export async function measureGrowth(context: BenchContext): Promise<Table[]> {
  const { transfers, index: kept, cold, picture } = context.options;
  const folder = kept ?? join(context.folder, 'growth');
  mkdirSync(folder, { recursive: true });
  const pointsFile = join(folder, 'growth.json');
  const points = readPoints(pointsFile);
  await context.withWorker('growth', null, async (worker) => {
    const before = await worker.call('open', {
      path: join(folder, 'index.db'),
      cacheMb: index.cache_mb,
      maxTransfers: index.batch_transfers,
      memoryMb: index.backfill_memory_mb,
      cold,
    });
    for (const end of endsOf(before, transfers)) {
      context.log(`growth: to ${formatNumber(end)} transfers`);
      points.push(await worker.call('growTo', end));
      writeFileSync(pointsFile, JSON.stringify(points, null, 1));
    }
    await worker.call('close');
  });
  if (picture !== null) writeFileSync(picture, pictureOf(points));
  return [growthTable(points)];
}

function readPoints(file: string): GrowthPoint[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

const cpuOf = ({ commitCpuSeconds, checkpointCpuSeconds, transfers }: GrowthPoint) =>
  ((commitCpuSeconds + checkpointCpuSeconds) * 1e6) / transfers;
const framesOf = ({ walBytes, transfers }: GrowthPoint) => walBytes / FRAME_BYTES / transfers;
const sizeOf = ({ fileBytes, totalTransfers }: GrowthPoint) => fileBytes / totalTransfers;

/** The baseline part. */
function baseOf(points: readonly GrowthPoint[]): GrowthPoint | undefined {
  return points.find(({ totalTransfers }) => totalTransfers === FIRST_PART);
}

function pictureOf(points: readonly GrowthPoint[]): string {
  const warm = points.filter(({ cold }) => !cold);
  const base = baseOf(points);
  const chart = (
    title: string,
    value: (point: GrowthPoint) => number,
    budget: { floor: number; goal: number },
  ) => ({
    title,
    points: warm.map((point) => ({ transfers: point.totalTransfers, value: value(point) })),
    budget,
  });
  const cpuLimit = (times: number) => times * (base === undefined ? 0 : cpuOf(base));
  return growthPicture(
    [
      chart('Processor time per transfer, us', cpuOf, {
        floor: cpuLimit(BUDGETS.cpu.floor),
        goal: cpuLimit(BUDGETS.cpu.goal),
      }),
      chart('Pages written to the log per transfer', framesOf, BUDGETS.frames),
      chart('Size per transfer, bytes', sizeOf, BUDGETS.size),
      chart('Largest memory, MB', ({ peakMegabytes }) => peakMegabytes, BUDGETS.memory),
    ],
    'What a transfer costs, by the transfers in the index: the writer alone, without a node',
  );
}

/** The ends of the parts from `before` to `transfers`. */
function endsOf(before: number, transfers: number): number[] {
  const ends = ENDS.map((millions) => millions * MILLION).filter((end) => end < transfers);
  return [...ends, transfers].filter((end) => end > before);
}

function growthTable(points: readonly GrowthPoint[]): Table {
  const perTransfer = (of: (point: GrowthPoint) => number) => (point: GrowthPoint) =>
    of(point) / point.transfers;
  const base = baseOf(points);
  const rows: [name: string, unit: Figure['unit'], value: (point: GrowthPoint) => number][] = [
    ['processor time per transfer', 'us', cpuOf],
    ['of which checkpoints', 'us', perTransfer((point) => point.checkpointCpuSeconds * 1e6)],
    ['time per transfer', 'us', perTransfer((point) => point.seconds * 1e6)],
    ['transfers per commit', 'transfers', (point) => point.transfers / point.commits],
    ['pages written to the log per transfer', 'pages', framesOf],
    ['read per transfer', 'B', perTransfer((point) => point.readBytes)],
    ['size per transfer', 'B', sizeOf],
    ['largest memory', 'MB', (point) => point.peakMegabytes],
    ['transfers per wallet', 'transfers', (point) => point.totalTransfers / point.wallets],
    ['transfers per holding', 'transfers', (point) => point.totalTransfers / point.holdings],
  ];
  return {
    title: "Growth of the index, by the writer's path alone",
    layout: 'grid',
    figures: rows.flatMap(([name, unit, value]) =>
      points.map((point) => ({
        name,
        column: `to ${formatNumber(point.totalTransfers)}${point.cold ? ', cold' : ''}`,
        unit,
        samples: [value(point)],
      })),
    ),
    notes: [
      ...(base === undefined
        ? []
        : points.map(
            (point) =>
              `Processor time to ${formatNumber(point.totalTransfers)} against the second million: ${(cpuOf(point) / cpuOf(base)).toFixed(2)} times (at 100 million floor ${BUDGETS.cpu.floor}, goal ${BUDGETS.cpu.goal}).`,
          )),
      `Pages per transfer: floor ${BUDGETS.frames.floor}, goal ${BUDGETS.frames.goal}. Size: ${BUDGETS.size.floor} and ${BUDGETS.size.goal}. Memory: ${BUDGETS.memory.floor} and ${BUDGETS.memory.goal}.`,
      'Generated without a node: a wallet is new in one of nine transfers, the others come back by Zipf. The memory is that of the writer with the generator. Cold: the pages of the file are dropped from the page cache before each commit.',
    ],
  };
}
