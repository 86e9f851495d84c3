/** The benchmark: `npm run bench`. See `--help`. */
import { describeError } from '../../src/cli/errors.ts';
import { waitForStopSignal } from '../../src/cli/signals.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { readBenchOptions } from './options.ts';
import { ensureDaemonFlags } from './process/program.ts';

ensureDaemonFlags('scripts/bench/bench.ts');
const options = readBenchOptions();
const startedAt = performance.now();
try {
  if (process.platform !== 'linux') throw new FatalError('the benchmark runs on Linux only');
  const { runBench } = await import('./run-bench.ts');
  const args = process.argv.slice(2);
  const command = args.length === 0 ? 'npm run bench' : `npm run bench -- ${args.join(' ')}`;
  await runBench(options, command, waitForStopSignal(), logProgress);
} catch (error) {
  const { lines, exitCode } = describeError(error);
  for (const line of lines) console.error(`bench: ${line}`);
  process.exitCode = exitCode;
}

function logProgress(text: string): void {
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(`[${seconds.toFixed(0).padStart(4)} s] ${text}\n`);
}
