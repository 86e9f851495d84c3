/** Why connections are ended: the close code, and what the client is told, in at most 123 bytes. */
import { CloseCode } from './close-code.ts';

export type Closing = readonly [code: CloseCode, reason: string];

/** The client was told what no longer holds. */
export const DEEP_REORG: Closing = [
  CloseCode.tryAgainLater,
  'reorg deeper than the stream can take back; reconnect and reload',
];

/** The client does not take what it is sent. */
export const SLOW_CONSUMER: Closing = [CloseCode.tryAgainLater, 'slow consumer'];

/** The node gives logs slower than blocks come, or is away for too long. */
export const LOGS_BEHIND: Closing = [CloseCode.tryAgainLater, 'logs of the node cannot be caught up with'];

export function logsMissing(block: number): Closing {
  return [CloseCode.internalError, `the node does not give the logs of block ${block}`];
}

/** The node takes back a subscription that streams live on. */
export function endedByNode(topic: string): Closing {
  return [CloseCode.tryAgainLater, `the node ended ${topic}`];
}

/** The client goes on sending what is refused, or pings. */
export const FLOODING: Closing = [CloseCode.policy, 'too many messages beyond the limits of this key'];

/** The key was revoked, or rotated away. */
export const KEY_INVALID: Closing = [CloseCode.policy, 'the API key is not valid any more'];
