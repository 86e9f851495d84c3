/** The health of each configured node. */

/**
 * `unchecked`: not queried yet. `healthy`: may be used. `recovering`: answers again; healthy after a quiet period.
 * `behind`: its head is well below that of another node. `failing`: gives no usable answer in time. `another_chain`,
 * `another_fork`: its blocks differ from those of the index, so it is rejected.
 */
export type NodeHealth =
  | 'unchecked'
  | 'healthy'
  | 'recovering'
  | 'behind'
  | 'failing'
  | 'another_chain'
  | 'another_fork';

export interface NodeStatus {
  /** Position in `node_http`, from 1. */
  node: number;
  /** Scheme, host and port; null where the reader may not see it. */
  address: string | null;
  /** Whether index, streams and `/rpc` use this node now. */
  current: boolean;
  state: NodeHealth;
  /** Why the node is not healthy; null if it is. */
  reason: string | null;
  /** Its newest block, null while unknown. */
  head: number | null;
  /** Response time of its last check, milliseconds; null while unknown. */
  latencyMs: number | null;
  /** Failed checks since the daemon started. */
  failures: number;
}
