/** The checks of a block's answers, and which of them to put up with. */

/**
 * What an answer contradicts: the numbers of logs within a receipt, between receipts, and after a failed transaction;
 * the block and transaction of a log; a bloom; a root frame, or its status. `unreadable`: a part of a transaction makes
 * no sense. `receipt`: the node does not give the receipt of a transaction.
 */
export type BlockCheck =
  | 'receipt'
  | 'log_order'
  | 'log_index'
  | 'failed_index'
  | 'log_place'
  | 'bloom'
  | 'root_frame'
  | 'status'
  | 'unreadable';

/** Contradictions to put up with. */
export interface Tolerance {
  /** Checks that the chain does not pass, because its nodes number or sum up logs in another way. */
  off?: readonly BlockCheck[];
  /** Digests of answers that are stored as they are. */
  accepted?: readonly string[];
  /** Blocks that are recorded as log gaps. */
  gaps?: readonly { first: number; last: number }[];
}
