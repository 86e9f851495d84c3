/** An open WebSocket as the operator sees it. */

/** One open WebSocket, as the streams know it. */
export interface LiveSocket {
  endpoint: '/ws' | '/ws/signals';
  keyId: number;
  /** Unix milliseconds. */
  openedAt: number;
  /** Topic of each subscription, such as `newHeads` or `wallet_transfers`. */
  topics: readonly string[];
  /** Bytes that the client has not read yet. */
  backlogBytes: number;
}
