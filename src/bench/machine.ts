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
}

export function loadAverage(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
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
