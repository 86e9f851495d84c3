/** A daemon's status of the keys that it shares with others in PostgreSQL. */

/**
 * `connecting`: no session with PostgreSQL; the known keys stay valid and counts are kept. `joined`: keys and usage
 * cover all daemons.
 */
type ClusterState = 'connecting' | 'joined';

export interface ClusterStatus {
  state: ClusterState;
  /** What is wrong, without host and user names; null when nothing is. */
  reason: string | null;
  /** Number of daemons that currently use the keys, including this one; null while unknown. */
  daemons: number | null;
  /** Requests counted here but not yet sent to PostgreSQL. */
  unsentRequests: number;
  /** Unix milliseconds of the last full sync with PostgreSQL; null before the first. */
  lastSyncAt: number | null;
  /** Failed attempts since the daemon started. */
  errors: number;
}

export const INITIAL_CLUSTER_STATUS: ClusterStatus = {
  state: 'connecting',
  reason: null,
  daemons: null,
  unsentRequests: 0,
  lastSyncAt: null,
  errors: 0,
};
