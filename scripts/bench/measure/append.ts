/** Appends blocks to a filled index: how long it takes, and where the time goes from the node's answers to the file. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { type Figure, median, type Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { LARGE_TRANSFERS, streamBlocks } from '../setup/chain-plan.ts';
import type { ChainNode } from '../setup/fill-index.ts';
import { type LoadedBlocks, loadStepByStep } from './load-steps.ts';
import { type StepTimes, timeStatements } from './statement-times.ts';

/** Page cache of the writer, MiB: the daemon's default. */
const CACHE_MB = parseConfig({}).config.index.cache_mb;

/** Share of `more`, minus the blocks appended singly, that is appended in batches as large as in a backfill. */
const FILLED_PART = 0.3;

/** The appended blocks, in chain order. */
interface AppendWork {
  /** One ordinary block each. */
  blocks: LoadedBlocks;
  /** As many blocks together as one backfill commit takes. */
  fillings: LoadedBlocks;
  /** One busy block each. */
  large: LoadedBlocks;
}

export async function measureAppend(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  const source = join(await context.filledFolder(), 'index.db');
  const work = await loadWork(context, chain);
  context.log('append: writing blocks to a copy of the filled index');
  const times = withCopy(source, context.folder, (writer) => timeAppends(writer, work));
  context.log('append: the same once more, statement by statement');
  const steps = withCopy(source, context.folder, (writer) => timeSteps(writer, work));
  return [appendTable(work, times), stepsTable(work, times, steps)];
}

/** Loads the blocks after the filled part of the chain. */
async function loadWork(
  { options, log }: BenchContext,
  { worker, url, segments }: ChainNode,
): Promise<AppendWork> {
  log('append: loading and decoding what is to be appended');
  const { fill, more, large } = segments;
  await worker.call('setHead', large.last);
  const load = (from: number, to: number, blocksPerBatch: number) =>
    loadStepByStep({ url, from, to, blocksPerBatch });
  const single = more.first + streamBlocks(options.quick) - 1;
  const filled = Math.floor((more.last - single) * FILLED_PART);
  const work = {
    blocks: await load(more.first, single, 1),
    fillings: await load(single + 1, single + filled, Math.ceil(filled / options.repeat)),
    large: await load(large.first, large.last, 1),
  };
  await worker.call('setHead', fill.last);
  return work;
}

/** Runs `use` with a writer on a copy of an index and removes the copy afterwards. */
function withCopy<T>(source: string, folder: string, use: (writer: IndexWriter) => T): T {
  const path = join(folder, 'copy.db');
  copyFileSync(source, path);
  const writer = new IndexWriter(path, { cacheMb: CACHE_MB });
  try {
    return use(writer);
  } finally {
    writer.close();
    for (const suffix of ['', '-wal', '-shm', '.lock']) rmSync(`${path}${suffix}`, { force: true });
  }
}

/** One value per kind of work. */
type PerWork<T> = Record<keyof AppendWork, T>;

/** Milliseconds of each append. */
function timeAppends(writer: IndexWriter, work: AppendWork): PerWork<number[]> {
  const timeEach = ({ batches }: LoadedBlocks) =>
    batches.map((batch) => {
      const startedAt = performance.now();
      writer.append([batch]);
      return performance.now() - startedAt;
    });
  return { blocks: timeEach(work.blocks), fillings: timeEach(work.fillings), large: timeEach(work.large) };
}

/** Milliseconds of all appends of a kind, by step. */
function timeSteps(writer: IndexWriter, work: AppendWork): PerWork<StepTimes> {
  const timeAll = ({ batches }: LoadedBlocks) =>
    timeStatements(() => {
      for (const batch of batches) writer.append([batch]);
    });
  return { blocks: timeAll(work.blocks), fillings: timeAll(work.fillings), large: timeAll(work.large) };
}

const totalTransfers = (batches: readonly BlockBatch[]) =>
  batches.reduce((sum, batch) => sum + batch.transferCount, 0);

function appendTable(work: AppendWork, times: PerWork<number[]>): Table {
  const figures = (what: string, { batches }: LoadedBlocks, ms: number[]): Figure[] => {
    const size = formatNumber(Math.round(median(batches.map(({ transferCount }) => transferCount))));
    const name = `${what} of ${size} transfers`;
    const rates = ms.map((time, i) => (batches[i]?.transferCount ?? 0) / (time / 1000));
    return [
      { name, unit: 'ms', samples: ms },
      { name: `${name}, rate`, unit: 'transfers/s', samples: rates },
    ];
  };
  return {
    title: 'Appending to a filled index, one commit each',
    layout: 'list',
    figures: [
      ...figures('block', work.blocks, times.blocks),
      ...figures('block', work.large, times.large),
      ...figures('filling batch', work.fillings, times.fillings),
    ],
    notes: [],
  };
}

const COLUMNS: PerWork<string> = {
  blocks: 'block of 250',
  large: `block of ${formatNumber(LARGE_TRANSFERS)}`,
  fillings: 'filling batch',
};

/** Steps below this share of an append's time are shown together. */
const MIN_SHARE = 0.02;

/** Microseconds per transfer in each step, from the node's answer to the file. */
function stepsTable(work: AppendWork, times: PerWork<number[]>, steps: PerWork<StepTimes>): Table {
  const figures: Figure[] = [];
  const named = mainSteps(steps.fillings);
  for (const kind of ['fillings', 'large', 'blocks'] as const) {
    const { batches, fetchMs, cutMs, decodeMs } = work[kind];
    const transfers = totalTransfers(batches);
    const add = (name: string, ms: number) => {
      figures.push({ name, column: COLUMNS[kind], unit: 'us', samples: [(ms * 1000) / transfers] });
    };
    add('fetch', fetchMs);
    add('cut', cutMs);
    add('parse and decode', decodeMs);
    const total = sum(steps[kind].values());
    const shown = named.map((step) => [step, steps[kind].get(step) ?? 0] as const);
    for (const [step, ms] of shown) add(`append: ${step}`, ms);
    add('append: all else', total - sum(shown.map(([, ms]) => ms)));
    add('append, steps together', total);
    add('append, without looking at steps', sum(times[kind]));
  }
  return {
    title: 'Where the time goes, microseconds per transfer, one step after the other',
    layout: 'grid',
    figures,
    notes: [
      'While filling, fetching, parsing and decoding run beside the appends.',
      'Steps are timed around the statements of the driver, which costs some percent itself: "read ' +
        'addresses" and "read wallets" resolve addresses, "insert transfers" writes the rows, what is about ' +
        'wallets, tokens and holdings keeps the aggregates.',
    ],
  };
}

/** The significant steps, largest first. */
function mainSteps(steps: StepTimes): string[] {
  const total = sum(steps.values());
  return [...steps]
    .filter(([step, ms]) => ms >= total * MIN_SHARE || step === 'commit' || step === 'checkpoint')
    .sort(([, a], [, b]) => b - a)
    .map(([step]) => step);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
