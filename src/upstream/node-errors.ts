/**
 * What a node means by an error. Nodes reuse codes for different things (-32603 is "too large", "overloaded"
 * and "broken"; -32003 is "too large" on geth and "no funds" on Monad), so the text has to be read as well.
 */
import type { UpstreamError } from '../errors.ts';

/** HTTP statuses of a proxy whose node did not answer: a retry may succeed. */
export const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** 4xx statuses that are about the node or the way to it; all other 4xx are about the single request. */
export const REFUSAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 407, 408, 429]);

/** The node did not answer at all, perhaps because it restarts: that says nothing about its blocks. */
export function isUnreachable({ reason, httpStatus = 0 }: UpstreamError): boolean {
  return reason === 'connection' || reason === 'timeout' || GATEWAY_STATUSES.has(httpStatus);
}

const TOO_LARGE_TEXT = /exceeds size limit|size limit exceeded|(response|answer) (is |was )?too (large|big)/i;

/**
 * The answer would not fit the node's response limit: Monad, geth, reth (jsonrpsee), a proxy's HTTP 413. The words of a
 * contract that fails say nothing of that, whatever they are.
 */
export function isTooLarge(error: UpstreamError): boolean {
  if (error.reason === 'too-large') return true;
  return TOO_LARGE_TEXT.test(error.message) && !isExecutionFailure(error);
}

/** How geth, anvil, Monad, Nethermind and hosted nodes describe a method that they do not offer. */
const UNKNOWN_METHOD_TEXT =
  /method .*(not|n't) |unsupported method|not available on|found but (the containing module is )?disabled/i;
/** The HTTP statuses of providers that do not offer a method. */
const UNKNOWN_METHOD_STATUSES: ReadonlySet<number> = new Set([403, 404, 405]);

/** The node does not offer the method, though it offers others. */
export function isUnknownMethod(error: UpstreamError): boolean {
  if (error.code === -32601) return true;
  if (error.reason === 'http') return UNKNOWN_METHOD_STATUSES.has(error.httpStatus ?? 0);
  return error.code !== undefined && UNKNOWN_METHOD_TEXT.test(error.message);
}

/** Whether the contract failed, not the node: code 3, or the wording of geth, reth, anvil or Monad. */
export function isExecutionFailure({ code, message }: UpstreamError): boolean {
  return (
    code === 3 || /revert|opcode|out of ?gas|invalid jump|stack (under|over)flow|evm error/i.test(message)
  );
}

/** Limits of calls in a time, as providers word them. Alchemy and QuickNode refuse single calls of a batch so. */
const RATE_LIMIT_TEXT =
  /rate limit|too many requests|concurrent requests|(request|rps) limit|per second|request rate/i;

/** The node accepts no more calls for now: the same request will succeed when fewer are sent. */
export function isRateLimited(error: UpstreamError): boolean {
  if (error.httpStatus === 429) return true;
  if (error.reason !== 'rpc' || isExecutionFailure(error)) return false;
  // jsonrpsee uses -32005 for "Batched requests are not supported", Infura also for too many logs.
  const limited = error.code === -32005 && !/batched|more than/i.test(error.message);
  return limited || RATE_LIMIT_TEXT.test(error.message);
}

/** The node is up but busy: the same request may succeed later, and a different one is no better. */
export function isBusy(error: UpstreamError): boolean {
  return isRateLimited(error) || /overload|timed? ?out|try again/i.test(error.message);
}
