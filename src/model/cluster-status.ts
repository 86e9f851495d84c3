/** What a daemon reports about the keys that it shares with others in PostgreSQL. */

/**
 * `connecting`: no session with PostgreSQL, the keys known here stay valid and counts are kept; `joined`: keys and usage
 * are those of all daemons.
 */
type ClusterState = 'connecting' | 'joined';

export interface ClusterStatus {
  state: ClusterState;
  /** What is wrong, without names of hosts and users; null when nothing is. */
  reason: string | null;
  /** Daemons that use the keys now, this one included; null while unknown. */
  daemons: number | null;
  /** Requests counted here that PostgreSQL does not have yet. */
  unsentRequests: number;
  /** Unix milliseconds at which keys and usage were last the same as in PostgreSQL; null before the first time. */
  lastSyncAt: number | null;
  /** Attempts that failed since the daemon started. */
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
