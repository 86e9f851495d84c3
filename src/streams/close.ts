/** WebSocket close codes, from RFC 6455 section 7.4.1 and its IANA registry. */
export const CloseCode = {
  normal: 1000,
  goingAway: 1001,
  invalidText: 1007,
  policyViolation: 1008,
  messageTooBig: 1009,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;

export type CloseCode = (typeof CloseCode)[keyof typeof CloseCode];
export type CloseFrame = readonly [code: CloseCode, reason: string];

/** A reorg invalidated notifications that can no longer be reported as removed. */
export const DEEP_REORG: CloseFrame = [
  CloseCode.tryAgainLater,
  'reorg too deep to report removals; reconnect and reload',
];

/** A defect of this program. Its details go to the log, not to the client. */
export const INTERNAL_FAILURE: CloseFrame = [CloseCode.internalError, 'internal error'];

/** The client reads too slowly. */
export const SLOW_CONSUMER: CloseFrame = [CloseCode.tryAgainLater, 'slow consumer'];

/** The node delivers logs more slowly than blocks, or was unreachable for too long. */
export const LOGS_BEHIND: CloseFrame = [CloseCode.tryAgainLater, 'the node delivers logs too slowly'];

export function logsUnavailable(block: number): CloseFrame {
  return [CloseCode.internalError, `the node did not return the logs of block ${block}`];
}

export function subscriptionEndedByNode(topic: string): CloseFrame {
  return [CloseCode.tryAgainLater, `the node ended ${topic}`];
}

/** The client keeps sending refused messages, pings or pongs. */
export const FLOODING: CloseFrame = [
  CloseCode.policyViolation,
  'too many messages over the limits of this key',
];

/** The client sends fast enough to starve others. */
export const TOO_FAST: CloseFrame = [
  CloseCode.policyViolation,
  'messages arrive faster than they can be handled',
];

/** Replays count as requests, and the key has none left. */
export const QUOTA_USED_UP: CloseFrame = [
  CloseCode.policyViolation,
  'monthly quota of this key exceeded; the replay ends here',
];

/** The operator changed the key's permissions, so subscriptions may now be forbidden. */
export const KEY_CHANGED: CloseFrame = [
  CloseCode.policyViolation,
  'the operator changed what this API key may use; reconnect',
];

/** The operator closed this socket, whose key stays valid. */
export const CLOSED_BY_OPERATOR: CloseFrame = [CloseCode.policyViolation, 'the operator closed this socket'];

/** The key was revoked or rotated. */
export const KEY_INVALID: CloseFrame = [CloseCode.policyViolation, 'the API key is no longer valid'];
