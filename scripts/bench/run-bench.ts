/** Takes the requested measurements one after another, and reports. */
import { writeFileSync } from 'node:fs';
import { type Figure, median, ratioOf, type Table, verdictOf } from './figure.ts';
import { describeMachine, loadAverage, processorTimes, type Run, stolenPercent } from './machine.ts';
import { measureAnswers } from './measure/answers.ts';
import { measureAppend } from './measure/append.ts';
import { measureDecode } from './measure/decode.ts';
import { measureFilling } from './measure/filling.ts';
import { measureGrowth } from './measure/growth.ts';
import { measureHead } from './measure/head.ts';
import { measureLarge } from './measure/large.ts';
import { measurePoints } from './measure/points.ts';
import { measureReplays } from './measure/replays.ts';
import { measureRest } from './measure/rest.ts';
import { measureRpc } from './measure/rpc.ts';
import { measureSink } from './measure/sink.ts';
import { measureStart } from './measure/start.ts';
import { measureStreams } from './measure/streams.ts';
import { measureTrades } from './measure/trades.ts';
import { type BenchOptions, MEASURES, type MeasureName } from './options.ts';
import { markdownReport } from './report/markdown.ts';
import { textReport } from './report/text.ts';
import { BenchContext } from './setup/bench-context.ts';

const MEASURE_FUNCTIONS: Record<MeasureName, (context: BenchContext) => Promise<Table[]>> = {
  decode: measureDecode,
  filling: measureFilling,
  append: measureAppend,
  start: measureStart,
  rest: measureRest,
  points: measurePoints,
  rpc: measureRpc,
  large: measureLarge,
  streams: measureStreams,
  replays: measureReplays,
  head: measureHead,
  sink: measureSink,
  growth: measureGrowth,
  trades: measureTrades,
  answers: measureAnswers,
};

interface MeasureResult {
  measure: MeasureName;
  seconds: number;
  tables: Table[];
}

/**
 * Measures and prints the tables; `command` is the command line as typed. `log` receives a description of each step.
 * When `stop` resolves, ends everything that was started and discards the results so far.
 */
export async function runBench(
  options: BenchOptions,
  command: string,
  stop: Promise<void>,
  log: (text: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  const loadBefore = loadAverage();
  const timesBefore = processorTimes();
  const context = await BenchContext.open(options, log);
  try {
    const results = await Promise.race([measureAll(context), stop]);
    if (results === undefined) return;
    const seconds = (performance.now() - startedAt) / 1000;
    const run: Run = {
      machine: describeMachine(),
      command,
      seconds,
      loadBefore,
      loadAfter: loadAverage(),
      stolenPercent: stolenPercent(timesBefore, processorTimes()),
    };
    report(options, run, results);
  } finally {
    await context.close();
  }
}

async function measureAll(context: BenchContext): Promise<MeasureResult[]> {
  const results: MeasureResult[] = [];
  for (const measure of MEASURES.filter((name) => context.options.only.includes(name))) {
    const startedAt = performance.now();
    const tables = await MEASURE_FUNCTIONS[measure](context);
    results.push({ measure, seconds: (performance.now() - startedAt) / 1000, tables });
  }
  return results;
}

function report(
  { json, markdown, ...options }: BenchOptions,
  run: Run,
  results: readonly MeasureResult[],
): void {
  const tables = results.flatMap((result) => result.tables);
  console.log(textReport(run, tables));
  if (markdown !== null) writeFileSync(markdown, markdownReport(run, tables));
  if (json !== null) {
    writeFileSync(
      json,
      `${JSON.stringify({ ...run, options, results: results.map(withSummaries) }, null, 1)}\n`,
    );
  }
}

/** Figures with the values derived from their samples, for readers of the file. */
function withSummaries(result: MeasureResult) {
  const summary = (figure: Figure) => ({
    ...figure,
    median: median(figure.samples),
    ratio: ratioOf(figure),
    verdict: verdictOf(figure),
  });
  return {
    ...result,
    tables: result.tables.map((table) => ({ ...table, figures: table.figures.map(summary) })),
  };
}
