/** The cost of a transfer as the index grows: the writer's path alone, on a chain that grows like real ones. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { type Figure, median, type Table } from '../figure.ts';
import { growthPicture } from '../report/growth-picture.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { GrowthOptions, GrowthPoint } from '../workers/growth.ts';

const MILLION = 1_000_000;

/**
 * Each part ends at one of these sizes, in millions. The parts before 3, 10, 30 and 100 cover about a tenth
 * each. No part takes an hour, the limit of a call to a worker.
 */
const ENDS = [1, 2, 3, 9, 10, 27, 30, 60, 90, 100];

/** The end of the second million, to which the processor time of the other parts is compared. */
const SECOND = 2 * MILLION;

/** Parts that end here or later have baselines of their own. */
const LARGE = 9 * MILLION;

const { index } = parseConfig({}).config;

/** Bytes of a page in the WAL: header and page. */
const FRAME_BYTES = 24 + 8192;

const BUDGETS = {
  /** Relative to the second million. */
  cpu: { floor: 2, goal: 1.3 },
  frames: { floor: 0.5, goal: 0.2 },
  /** Of which 12 and 7 for the sums of trades and the histories of tokens. */
  size: { floor: 107, goal: 87 },
  memory: { floor: 700, goal: 500 },
};

/** The cost of a part. */
export type GrowthPart = GrowthPoint & {
  /**
   * Processor time per transfer of the second million of a fresh index, right before and right after the part, us.
   * Missing for cold and for small parts, and in files of older versions.
   */
  baselines?: readonly number[];
};

/** Continues the index, and reports everything measured while it grew, including earlier runs. */
export async function measureGrowth(context: BenchContext): Promise<Table[]> {
  const { transfers, index: kept, cold, picture } = context.options;
  const folder = kept ?? join(context.folder, 'growth');
  mkdirSync(folder, { recursive: true });
  const pointsFile = join(folder, 'growth.json');
  const points = readPoints(pointsFile);
  await context.withWorker('growth', null, async (worker) => {
    const before = await worker.call('open', growthOptions(folder, cold));
    const growTo = (end: number) => {
      context.log(`growth: to ${formatNumber(end)} transfers`);
      return worker.call('growTo', end);
    };
    const warmUp = (end: number) => worker.call('warmUp', end);
    const baseline = cold ? null : () => measureBaseline(context, join(folder, 'baseline'));
    for await (const part of growInParts(endsOf(before, transfers), { growTo, warmUp, baseline })) {
      points.push(part);
      writeFileSync(pointsFile, JSON.stringify(points, null, 1));
    }
    await worker.call('close');
  });
  if (picture !== null) writeFileSync(picture, pictureOf(points));
  return [growthTable(points)];
}

interface GrowthSteps {
  growTo(end: number): Promise<GrowthPoint>;
  /** Makes one commit that no part counts, if the part has more than one. */
  warmUp(end: number): Promise<void>;
  /** Measures a baseline; null for none. */
  baseline: (() => Promise<number>) | null;
}

/**
 * Grows to each of the ends. The speed of a machine can change within an hour, so each large part has a baseline right
 * before and right after it. The one between two large parts counts for both. Meanwhile the system may evict pages of
 * the idle index, so a large part counts from its second commit on; the baseline's first million is not counted either.
 */
export async function* growInParts(
  ends: readonly number[],
  { growTo, warmUp, baseline }: GrowthSteps,
): AsyncGenerator<GrowthPart> {
  let before: number | null = null;
  for (const end of ends) {
    if (baseline === null || end < LARGE) {
      yield await growTo(end);
      continue;
    }
    before ??= await baseline();
    await warmUp(end);
    const point = await growTo(end);
    const after = await baseline();
    yield { ...point, baselines: [before, after] };
    before = after;
  }
}

/**
 * Processor time per transfer of the second million of a fresh index, us. Runs in a process of its own, because the
 * peak memory of the growing one is measured.
 */
function measureBaseline(context: BenchContext, folder: string): Promise<number> {
  context.log(`growth: baseline, a fresh index to ${formatNumber(SECOND)} transfers`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  remove();
  mkdirSync(folder);
  return context.withCleanup(
    () =>
      context.withWorker('growth', null, async (worker) => {
        await worker.call('open', growthOptions(folder, false));
        // The first million warms up the process, as it does in the compared run.
        await worker.call('growTo', SECOND - MILLION);
        return cpuOf(await worker.call('growTo', SECOND));
      }),
    async () => remove(),
  );
}

/** As the daemon writes by default. */
export function growthOptions(folder: string, cold: boolean): GrowthOptions {
  return {
    path: join(folder, 'index.db'),
    cacheMb: index.cache_mb,
    maxTransfers: index.batch_transfers,
    memoryMb: index.backfill_memory_mb,
    cold,
  };
}

function readPoints(file: string): GrowthPart[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

const cpuOf = ({ commitCpuSeconds, checkpointCpuSeconds, transfers }: GrowthPoint) =>
  ((commitCpuSeconds + checkpointCpuSeconds) * 1e6) / transfers;
const framesOf = ({ walBytes, transfers }: GrowthPoint) => walBytes / FRAME_BYTES / transfers;
const sizeOf = ({ fileBytes, totalTransfers }: GrowthPoint) => fileBytes / totalTransfers;

/**
 * What `parts` are compared with, us per transfer: the median of their own baselines; without any, the second million
 * of the run; NaN without either.
 */
function baselineOf(parts: readonly GrowthPart[], run: readonly GrowthPart[]): number {
  const own = parts.flatMap(({ baselines = [] }) => baselines);
  const second = run.filter(({ totalTransfers }) => totalTransfers === SECOND);
  return median(own.length > 0 ? own : second.map(cpuOf));
}

function pictureOf(points: readonly GrowthPart[]): string {
  const warm = points.filter(({ cold }) => !cold);
  const base = baselineOf(warm, points);
  const chart = (
    title: string,
    value: (point: GrowthPoint) => number,
    budget: { floor: number; goal: number },
  ) => ({
    title,
    points: warm.map((point) => ({ transfers: point.totalTransfers, value: value(point) })),
    budget,
  });
  const cpuLimit = (times: number) => (Number.isNaN(base) ? 0 : times * base);
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

export function growthTable(points: readonly GrowthPart[]): Table {
  const perTransfer = (of: (point: GrowthPoint) => number) => (point: GrowthPoint) =>
    of(point) / point.transfers;
  const baseline = (point: GrowthPart) => baselineOf([point], points);
  const rows: [name: string, unit: Figure['unit'], value: (point: GrowthPart) => number][] = [
    ['processor time per transfer', 'us', cpuOf],
    ['of which checkpoints', 'us', perTransfer((point) => point.checkpointCpuSeconds * 1e6)],
    ['processor time per transfer of the second million', 'us', baseline],
    ['processor time against the second million', 'times', (point) => cpuOf(point) / baseline(point)],
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
    figures: rows
      .flatMap(([name, unit, value]) =>
        points.map((point) => ({
          name,
          column: `to ${formatNumber(point.totalTransfers)}${point.cold ? ', cold' : ''}`,
          unit,
          samples: [value(point)],
        })),
      )
      .filter(({ samples }) => samples.every(Number.isFinite)),
    notes: [
      `Processor time against the second million, at 100 million: floor ${BUDGETS.cpu.floor}, goal ` +
        `${BUDGETS.cpu.goal}. Parts that end at ${formatNumber(LARGE)} or later are compared with that of a fresh ` +
        'index: the mean of the ones right before and right after the part, and do not count their first commit ' +
        'after that pause. Smaller and cold parts, and those of older versions, are compared with that of this index.',
      `Pages per transfer: floor ${BUDGETS.frames.floor}, goal ${BUDGETS.frames.goal}. Size: ` +
        `${BUDGETS.size.floor} and ${BUDGETS.size.goal}. Memory: ${BUDGETS.memory.floor} and ${BUDGETS.memory.goal}.`,
      'Generated without a node: a wallet is new in one of nine transfers, the others come back by Zipf. ' +
        'The memory is that of the writer with the generator. Cold: the pages of the file are dropped from the page ' +
        'cache before each commit.',
    ],
  };
}
