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
  /** Load averages over 1, 5 and 15 minutes: above zero others are using the machine too. */
  load: string;
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
    load: loadavg()
      .map((value) => value.toFixed(1))
      .join(', '),
  };
}
