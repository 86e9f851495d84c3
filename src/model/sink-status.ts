/** What the PostgreSQL sink reports about itself. */

/**
 * `connecting`: no session with PostgreSQL; `filling`: far behind the index; `following`: at its head; `waiting`: nothing
 * can be written until `reason` is resolved.
 */
type SinkState = 'connecting' | 'filling' | 'following' | 'waiting';

export interface SinkStatus {
  state: SinkState;
  /** Why nothing is written, without names of hosts and users; null when it goes on. */
  reason: string | null;
  schema: string;
  finality: 'latest' | 'finalized';
  /** Last block committed to PostgreSQL, null while there is none or it is unknown. */
  block: number | null;
  /** Blocks of the index that PostgreSQL lacks; with `finalized` only final ones count. Null while unknown. */
  lagBlocks: number | null;
  /** Chain time between the newest block in PostgreSQL and the newest one it could have, seconds; null while unknown. */
  lagSeconds: number | null;
  /** Over the last ten seconds. */
  transfersPerSecond: number;
  /** The figures below cover this run of the daemon. */
  transfers: number;
  /** Unix milliseconds of the last commit, null before the first. */
  lastCommitAt: number | null;
  rollbacks: number;
  /** Attempts that failed, for whatever reason. */
  errors: number;
}

export function initialSinkStatus(schema: string, finality: SinkStatus['finality']): SinkStatus {
  return {
    state: 'connecting',
    reason: null,
    schema,
    finality,
    block: null,
    lagBlocks: null,
    lagSeconds: null,
    transfersPerSecond: 0,
    transfers: 0,
    lastCommitAt: null,
    rollbacks: 0,
    errors: 0,
  };
}
