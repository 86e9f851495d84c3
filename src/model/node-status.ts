/** The health of each configured node, and which one is in use. */

/**
 * `unchecked`: not asked yet. `healthy`: may be used. `recovering`: answers again, and counts as healthy after a quiet
 * time. `behind`: its head is well below that of another node. `failing`: gives no usable answer in time. `another_chain`
 * and `another_fork`: its blocks differ from those of the index, so it is refused.
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
  /** Place in `node_http`, from 1. */
  node: number;
  /** Scheme, host and port; null where the reader may not see it. */
  address: string | null;
  /** Whether index, streams and `/rpc` use it now. */
  current: boolean;
  state: NodeHealth;
  /** Why it is not healthy; null when it is. */
  reason: string | null;
  /** Its newest block, null while unknown. */
  head: number | null;
  /** Time of its last answer to a check, milliseconds; null while unknown. */
  latencyMs: number | null;
  /** Failed checks since the daemon started. */
  failures: number;
}
