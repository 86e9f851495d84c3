/** Backfills an index from a separate node process, end to end. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { MAX_WAL_BYTES } from '../../../src/indexer/adaptive-commit-size.ts';
import type { IndexStats } from '../../../src/model/index-stats.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { measureIndex } from '../../../src/store/index-stats.ts';
import type { Figure, Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { type FillRun, fillIndex, ratesByPart } from '../setup/fill-index.ts';

const PARTS = 10;
/** With fewer commits than this, the curve has too few points to be meaningful. */
const MIN_POINTS = 10;
/** Longest time to measure the size of one table, milliseconds. */
const SURVEY_MS = 600_000;

export async function measureFilling(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  const runs: FillRun[] = [];
  let dataDir = '';
  for (let i = 1; i <= context.options.repeat; i++) {
    context.log(`filling: run ${i} of ${context.options.repeat}`);
    if (dataDir !== '') rmSync(dataDir, { recursive: true, force: true });
    dataDir = join(context.folder, `filled-${i}`);
    runs.push(await fillIndex(context, chain, dataDir));
  }
  context.useFilledFolder(dataDir);
  const hasCourse = runs.every(({ course }) => course.length > MIN_POINTS);
  return [
    rates(runs),
    ...(hasCourse ? [course(runs)] : []),
    sizes(surveyOf(join(dataDir, 'index.db')), runs[0]?.transfers ?? 0),
  ];
}

/** Transfers/s, for an index of up to a million transfers and for a larger one. */
function rateBudget(transfers: number): Figure['budget'] {
  return transfers < 2_000_000 ? { floor: 50_000, goal: 80_000 } : { floor: 45_000, goal: 70_000 };
}

function rates(runs: readonly FillRun[]): Table {
  const of = (name: string, unit: Figure['unit'], value: (run: FillRun) => number): Figure => ({
    name,
    unit,
    samples: runs.map(value),
  });
  return {
    title: `Filling ${formatNumber(runs[0]?.transfers ?? 0)} transfers from the node`,
    layout: 'list',
    figures: [
      {
        ...of('end to end', 'transfers/s', ({ transfers, seconds }) => transfers / seconds),
        budget: rateBudget(runs[0]?.transfers ?? 0),
      },
      of(
        'time in which the writer commits',
        '%',
        ({ commitSeconds, seconds }) => (commitSeconds / seconds) * 100,
      ),
      of('written in', 'commits', ({ commits }) => commits),
      of('processor time per transfer, all threads', 'us', (run) => (run.cpuSeconds / run.transfers) * 1e6),
      {
        ...of('largest memory of the daemon', 'MB', (run) => run.peakMegabytes),
        budget: { floor: 700, goal: 500 },
      },
      {
        ...of('largest write-ahead log', 'MB', (run) => run.walPeakBytes / 1e6),
        budget: { floor: MAX_WAL_BYTES / 1e6, goal: 256 },
      },
    ],
    notes: ['Daemon and node share the cores: nothing is pinned.'],
  };
}

/** How the rate falls as the index grows. */
function course(runs: readonly FillRun[]): Table {
  const tenths = runs.map(({ course }) => ratesByPart(course, PARTS));
  // The first tenth contains the start, and a single tenth is only a few commits.
  const fall = (rates: number[]) => (1 - mean(rates.slice(-2)) / mean(rates.slice(1, 3))) * 100;
  const falls = tenths.map((rates) => `${fall(rates).toFixed(0)} %`).join(', ');
  return {
    title: 'Course of filling, transfers/s in each tenth',
    layout: 'grid',
    figures: Array.from({ length: PARTS }, (_, i) => ({
      name: 'transfers/s',
      column: `${((i + 1) * 100) / PARTS} %`,
      unit: 'transfers/s' as const,
      samples: tenths.map((rates) => rates[i] ?? Number.NaN),
    })),
    notes: [`Fall from the second and third tenth to the last two: ${falls} (floor 35, goal 15).`],
  };
}

function surveyOf(indexPath: string): IndexStats {
  const db = openIndexForReading(indexPath);
  try {
    return measureIndex(db, indexPath, SURVEY_MS);
  } finally {
    db.close();
  }
}

function sizes({ fileBytes, tables }: IndexStats, transfers: number): Table {
  const perTransfer = (name: string, bytes: number): Figure => ({
    name,
    unit: 'B',
    samples: [bytes / transfers],
  });
  return {
    title: 'Size of index.db, bytes per transfer; tables with their indexes',
    layout: 'list',
    figures: [
      { ...perTransfer('the whole file', fileBytes), budget: { floor: 140, goal: 100 } },
      ...tables.map(({ name, bytes }) => perTransfer(name, bytes)),
    ],
    notes: [],
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
