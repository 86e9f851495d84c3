/** Why connections are closed: the close code, and the reason for the client, at most 123 bytes. */
import { CloseCode } from './close-code.ts';

export type CloseFrame = readonly [code: CloseCode, reason: string];

/** A reorg that cannot be reported as removals invalidated what the client got. */
export const DEEP_REORG: CloseFrame = [
  CloseCode.tryAgainLater,
  'reorg deeper than the stream can take back; reconnect and reload',
];

/** The client does not read what it is sent. */
export const SLOW_CONSUMER: CloseFrame = [CloseCode.tryAgainLater, 'slow consumer'];

/** The node delivers logs more slowly than blocks arrive, or is unreachable for too long. */
export const LOGS_BEHIND: CloseFrame = [CloseCode.tryAgainLater, 'logs of the node cannot be caught up with'];

export function logsUnavailable(block: number): CloseFrame {
  return [CloseCode.internalError, `the node does not give the logs of block ${block}`];
}

/** The node ended a subscription that streams depend on. */
export function subscriptionEndedByNode(topic: string): CloseFrame {
  return [CloseCode.tryAgainLater, `the node ended ${topic}`];
}

/** The client keeps sending messages that are refused, or pings or pongs. */
export const FLOODING: CloseFrame = [
  CloseCode.policyViolation,
  'too many messages beyond the limits of this key',
];

/** The client sends so fast that nobody else is served. */
export const TOO_FAST: CloseFrame = [
  CloseCode.policyViolation,
  'messages come faster than they can be handled',
];

/** The key was revoked or replaced by rotation. */
export const KEY_INVALID: CloseFrame = [CloseCode.policyViolation, 'the API key is not valid any more'];
