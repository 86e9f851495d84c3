/** On what a benchmark ran. */
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { versionText } from '../cli/version.ts';

export interface Machine {
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
  /** As it was typed. */
  command: string;
  seconds: number;
  /** Load average over the minute before the run, which tells how busy others keep the machine, and over its last. */
  loadBefore: number;
  loadAfter: number;
  /** Of the processor time that programs wanted meanwhile, what the host of a virtual machine gave to others. */
  stolenPercent: number;
}

export function loadAverage(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

/** Time of all processors since the machine started, in ticks: what programs took, and what the host kept from them. */
export interface ProcessorTimes {
  taken: number;
  stolen: number;
}

/** Reads the text of `/proc/stat`; see proc_stat(5). */
export function processorTimes(stat: string): ProcessorTimes {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = (
    stat.split('\n', 1)[0] ?? ''
  )
    .split(/\s+/)
    .map(Number);
  return { taken: user + nice + system + irq + softirq, stolen };
}

/** Between two looks: a tenth of a percent exactly, 0 when nothing ran. */
export function stolenPercent(before: ProcessorTimes, after: ProcessorTimes): number {
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
