/** The status of the PostgreSQL sink. */

/**
 * `connecting`: no session with PostgreSQL. `filling`: far behind the index, or filling in trades. `following`: at its
 * head. `waiting`: no writes until `reason` is resolved.
 */
type SinkState = 'connecting' | 'filling' | 'following' | 'waiting';

export interface SinkStatus {
  state: SinkState;
  /** Why nothing is written, without host and user names; null when writes succeed. */
  reason: string | null;
  schema: string;
  finality: 'latest' | 'finalized';
  /** Last block committed to PostgreSQL; null while there is none or it is unknown. */
  block: number | null;
  /** Last block whose trades are in PostgreSQL; below `block` while the table is filled in. */
  tradesBlock: number | null;
  /** Indexed blocks that PostgreSQL lacks; with `finalized`, only final blocks count. Null while unknown. */
  lagBlocks: number | null;
  /**
   * Chain time between the newest block in PostgreSQL and the newest block it could have, seconds; null while unknown.
   */
  lagSeconds: number | null;
  /** Over the last ten seconds. */
  transfersPerSecond: number;
  /** The counts below cover this run of the daemon. */
  transfers: number;
  /** Unix milliseconds of the last commit, null before the first. */
  lastCommitAt: number | null;
  rollbacks: number;
  /** Failed attempts, for any reason. */
  errors: number;
}

export function initialSinkStatus(schema: string, finality: SinkStatus['finality']): SinkStatus {
  return {
    state: 'connecting',
    reason: null,
    schema,
    finality,
    block: null,
    tradesBlock: null,
    lagBlocks: null,
    lagSeconds: null,
    transfersPerSecond: 0,
    transfers: 0,
    lastCommitAt: null,
    rollbacks: 0,
    errors: 0,
  };
}
