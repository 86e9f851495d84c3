/** Messages between the serving thread and the key-sharing thread. */
import type { KeyRow } from '../access/key.ts';
import type { MonthlyUsage } from '../access/usage-tables.ts';
import type { RequestErrorCode } from '../lib/errors.ts';
import type { ClusterStatus } from '../model/cluster-status.ts';
import type { KeyChange } from './key-table.ts';

export interface ClusterOptions {
  url: string;
  keysPath: string;
  indexPath: string;
  /** Host and port, for display. */
  name: string;
  program: string;
  /** `[tiers.*]` as JSON. */
  tiers: string;
}

export type ToCluster =
  /** New totals in keys.db. */
  | { kind: 'usage'; totals: MonthlyUsage[] }
  | { kind: 'change'; id: number; change: KeyChange }
  | { kind: 'stop' };

/** A RequestError on its way between threads. */
interface RefusedChange {
  status: number;
  code: RequestErrorCode;
  message: string;
}

export type FromCluster =
  | { kind: 'status'; status: ClusterStatus }
  /** Keys and usage match PostgreSQL for the first time in this run. */
  | { kind: 'joined' }
  /** The daemon must not serve beside the others. */
  | { kind: 'refused'; message: string }
  /** Totals of the other daemons, and the highest version included. */
  | { kind: 'elsewhere'; totals: MonthlyUsage[]; seen: number }
  /** Requests of this daemon that PostgreSQL has and keys.db has lost. */
  | { kind: 'lost'; rows: MonthlyUsage[] }
  | { kind: 'changed'; id: number; row: KeyRow }
  | { kind: 'unchanged'; id: number; refused: RefusedChange }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; msg: string; fields: Record<string, unknown> };
