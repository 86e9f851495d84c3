/** `atlas-node bench`: the benchmark on this machine, and its worker processes. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type BenchOptions,
  MEASURES,
  type MeasureName,
  QUICK_TRANSFERS,
  REPEAT,
  TRANSFERS,
} from '../bench/options.ts';
import { FatalError } from '../errors.ts';
import { waitForStopSignal } from './signals.ts';

const EXAMPLES = `
Examples:
  $ atlas-node bench --quick               all of it, no figures to rely on
  $ atlas-node bench --json bench.json     the standard run
  $ atlas-node bench --only filling --transfers 10000000`;

/** As commander gives them. */
interface Flags {
  transfers?: number;
  quick?: boolean;
  repeat?: number;
  only?: MeasureName[];
  json?: string;
  markdown?: string;
}

export function addBench(program: Command): void {
  program
    .command('bench')
    .description('measure speed and size on this machine, on a generated chain in a temporary folder')
    .option('--transfers <n>', `transfers to fill the index with (default: ${TRANSFERS})`, parseCount)
    .option('--quick', `${QUICK_TRANSFERS} transfers, short loads, no repetitions`)
    .option('--repeat <n>', `repetitions, of which the median counts (default: ${REPEAT})`, parseCount)
    .option('--only <names>', `only some of ${MEASURES.join(', ')}, separated by commas`, parseMeasureNames)
    .option('--json <file>', 'write all figures to a file')
    .option('--markdown <file>', 'write the tables to a file')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      if (process.platform !== 'linux') throw new FatalError('the benchmark runs on Linux only');
      const { runBench } = await import('../bench/bench.ts');
      await runBench(benchOptions(flags), commandLine(), waitForStopSignal(), logProgress);
    });
  program
    .command('bench-part', { hidden: true })
    .argument('<name>')
    .action(async (name: string) => {
      const { runWorker } = await import('../bench/workers/workers.ts');
      runWorker(name);
    });
}

function benchOptions({ quick = false, ...flags }: Flags): BenchOptions {
  return {
    quick,
    transfers: flags.transfers ?? (quick ? QUICK_TRANSFERS : TRANSFERS),
    repeat: flags.repeat ?? (quick ? 1 : REPEAT),
    only: flags.only ?? MEASURES,
    json: flags.json === undefined ? null : resolve(flags.json),
    markdown: flags.markdown === undefined ? null : resolve(flags.markdown),
  };
}

/** A positive whole number. */
function parseCount(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be a positive whole number.');
  return Number(text);
}

function parseMeasureNames(text: string): MeasureName[] {
  return text.split(',').map((word) => {
    const name = MEASURES.find((measure) => measure === word.trim());
    if (name === undefined) throw new InvalidArgumentError(`It must be a list of ${MEASURES.join(', ')}.`);
    return name;
  });
}

function commandLine(): string {
  return ['atlas-node', ...process.argv.slice(2)].join(' ');
}

const startedAt = performance.now();

function logProgress(text: string): void {
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(`[${seconds.toFixed(0).padStart(4)} s] ${text}\n`);
}
