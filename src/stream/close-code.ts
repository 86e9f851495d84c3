/** Close codes of WebSockets, from RFC 6455 (section 7.4.1) and its registry. */
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
