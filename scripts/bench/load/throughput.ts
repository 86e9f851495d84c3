/** How many requests per second a server answers, and the cost of each. */
import { join } from 'node:path';
import { FatalError, messageOf } from '../../../src/lib/errors.ts';
import { cpuSeconds } from '../process/resource-usage.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { hasWrk, runWrk, type WrkResult } from './wrk.ts';

export interface Target {
  /** For messages. */
  name: string;
  /** Process of the server. */
  pid: number;
  port: number;
  /** Whole requests as sent over the wire, in rotation. */
  requests: readonly string[];
}

export interface Throughput {
  requestsPerSecond: number;
  /** Processor time of the server. */
  microsecondsPerRequest: number;
  p50Ms: number;
  p99Ms: number;
}

const CONNECTIONS = 64;
const SECONDS = 3;
const QUICK_SECONDS = 1;

/** The load generator used on this machine. */
export async function loadGeneratorName(): Promise<string> {
  return (await hasWrk()) ? 'wrk' : 'own load generator, since wrk is not installed';
}

/** Loads a server with keep-alive connections from other cores. A short first run warms it up. */
export async function measureThroughput(
  context: BenchContext,
  target: Target,
  connections: number = CONNECTIONS,
): Promise<Throughput> {
  const seconds = context.options.quick ? QUICK_SECONDS : SECONDS;
  await namingTarget(target, load(context, target, connections, 1));
  const before = cpuSeconds(target.pid);
  const result = await namingTarget(target, load(context, target, connections, seconds));
  const used = cpuSeconds(target.pid) - before;
  const { requestsPerSecond, p50Ms, p99Ms } = result;
  return { requestsPerSecond, microsecondsPerRequest: (used / result.requests) * 1e6, p50Ms, p99Ms };
}

async function namingTarget<T>({ name }: Target, result: Promise<T>): Promise<T> {
  return result.catch((cause: unknown) => {
    throw new FatalError(`${name}: ${messageOf(cause)}`, { cause });
  });
}

async function load(
  context: BenchContext,
  { port, requests }: Target,
  connections: number,
  seconds: number,
): Promise<WrkResult> {
  const cores = context.cores.load;
  if (await hasWrk()) {
    const scriptPath = join(context.folder, 'wrk.lua');
    return runWrk({ port, connections, seconds, requests, cores, scriptPath });
  }
  return context.withWorker('http-load', cores, async (worker) => {
    const texts = requests.map((text) => ({ group: 'all', text }));
    const { requestsPerSecond, groups } = await worker.call('run', {
      port,
      connections,
      seconds,
      requests: texts,
    });
    const { count = 0, failures = 0, p50Ms = Number.NaN, p99Ms = Number.NaN } = groups['all'] ?? {};
    if (failures > 0 || count === 0) throw new Error(`${failures} of ${count} requests failed under load`);
    return { requests: count, requestsPerSecond, p50Ms, p99Ms };
  });
}

/**
 * Measures several sides alternately, as often as the run repeats, so that disturbances of the machine affect all
 * alike. Returns the results of each side, in the order of the sides.
 */
export async function measureAlternately<R>(
  repeat: number,
  sides: readonly (() => Promise<R>)[],
): Promise<R[][]> {
  const results = sides.map((): R[] => []);
  for (let i = 0; i < repeat; i++) {
    for (const [side, measure] of sides.entries()) results[side]?.push(await measure());
  }
  return results;
}
