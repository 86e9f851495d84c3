/** The machine of a benchmark run. */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { versionText } from '../../src/lib/version.ts';

interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  system: string;
  node: string;
  version: string;
  /** ISO 8601, UTC. */
  at: string;
}

/** One run of the benchmark. */
export interface Run {
  machine: Machine;
  /** As typed. */
  command: string;
  seconds: number;
  /**
   * Load averages over the minute before the run, which show how busy other programs keep the machine, and over its
   * last minute.
   */
  loadBefore: number;
  loadAfter: number;
  /**
   * Share of the demanded processor time that the host of a virtual machine gave to other guests; null if the system
   * does not report it.
   */
  stolenPercent: number | null;
}

export function loadAverage(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

/** How processor time was spent since boot. Linux only. */
const STAT = '/proc/stat';

/** Time of all processors in ticks: used by programs, and withheld by the host. */
interface ProcessorTimes {
  taken: number;
  stolen: number;
}

/** Null if the system does not report it. */
export function processorTimes(): ProcessorTimes | null {
  return existsSync(STAT) ? parseProcessorTimes(readFileSync(STAT, 'utf8')) : null;
}

/** The first line covers all processors; its fields are named in proc_stat(5). */
export function parseProcessorTimes(stat: string): ProcessorTimes {
  const fields = (stat.split('\n', 1)[0] ?? '').split(/\s+/).map(Number);
  const [, user = 0, nice = 0, system = 0, _idle, _ioWait, irq = 0, softIrq = 0, stolen = 0] = fields;
  return { taken: user + nice + system + irq + softIrq, stolen };
}

/** The stolen time between two readings, in percent with one decimal; null when unknown. */
export function stolenPercent(before: ProcessorTimes | null, after: ProcessorTimes | null): number | null {
  if (before === null || after === null) return null;
  const stolen = after.stolen - before.stolen;
  const wanted = after.taken - before.taken + stolen;
  return wanted === 0 ? 0 : Math.round((stolen / wanted) * 1000) / 10;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    version: versionText,
    at: new Date().toISOString(),
  };
}
