/**
 * Classifies a node's errors by their text. Nodes reuse codes for different things (-32603 is "too large", "overloaded"
 * and "broken"; -32003 is "too large" on geth and "no funds" on Monad) and change them between versions. Codes matter
 * only where the text is inconclusive: -32601 and -32602, which JSON-RPC defines, and 3, -32005 and 429 (the
 * HTTP status), which are conventions.
 */
import type { UpstreamError } from '../lib/errors.ts';

/**
 * Statuses of a proxy whose node did not answer, also those that Cloudflare and other networks add. A retry may
 * succeed.
 */
export const GATEWAY_STATUSES: ReadonlySet<number> = new Set([
  502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530,
]);

/** Those that come only after the proxy has waited for the node. */
export const GATEWAY_TIMEOUTS: ReadonlySet<number> = new Set([504, 522, 524]);

/** 4xx statuses about the node or the path to it. All others concern the single request. */
export const REFUSAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 407, 408, 429]);

/** The node did not answer, perhaps because it is restarting. This says nothing about its blocks. */
export function isUnreachable({ reason, httpStatus = 0 }: UpstreamError): boolean {
  return reason === 'connection' || reason === 'timeout' || GATEWAY_STATUSES.has(httpStatus);
}

const TOO_LARGE_TEXT = /exceeds size limit|size limit exceeded|(response|answer) (is |was )?too (large|big)/i;

/**
 * The answer exceeds the node's response limit, as worded by Monad, geth and reth (jsonrpsee), or a proxy's HTTP 413. A
 * failed contract's message never means this.
 */
export function isTooLarge(error: UpstreamError): boolean {
  if (error.reason === 'too-large') return true;
  return TOO_LARGE_TEXT.test(error.message) && !isExecutionFailure(error);
}

/** How geth, anvil, Monad, Nethermind and hosted nodes report a method that they do not offer. */
const UNKNOWN_METHOD_TEXT =
  /method .*(not|n't) |unsupported method|not available on|found but (the containing module is )?disabled/i;
/** Missing data, whatever the code: Monad answers -32602 for a block that it lacks. The method exists. */
const MISSING_DATA_TEXT =
  /\b(block|header|state|transaction|receipt|trace|call ?frame)s?\b.*\b(not found|unavailable|pruned|missing)/i;

/** The node lacks the block, transaction or state of a call. */
export function isMissingData({ message }: UpstreamError): boolean {
  return MISSING_DATA_TEXT.test(message);
}

/** Monad decodes call frames stored at execution, and stores them only with `--trace-calls`. */
export function isNotRecorded({ message }: UpstreamError): boolean {
  return /\b(traces|call ?frames) (were |are )?not (found|recorded|stored|available)/i.test(message);
}

/** HTTP statuses with which providers report a method that they do not offer. */
const UNKNOWN_METHOD_STATUSES: ReadonlySet<number> = new Set([403, 404, 405]);

/** The node does not offer this method. */
export function isUnknownMethod(error: UpstreamError): boolean {
  if (isMissingData(error)) return false;
  if (error.code === -32601) return true;
  if (UNKNOWN_METHOD_STATUSES.has(error.httpStatus ?? 0)) return true;
  return (error.reason === 'rpc' || error.code !== undefined) && UNKNOWN_METHOD_TEXT.test(error.message);
}

/** A failed contract, as worded by geth, reth, anvil, Monad, Nethermind and OpenEthereum. */
const EXECUTION_FAILURE_TEXT =
  /revert|opcode|out of ?gas|invalid jump|stack (under|over)flow|evm error|vm execution error/i;

/** The contract failed, not the node. Code 3 means a revert unless the message says that the node is busy. */
export function isExecutionFailure({ code, message }: UpstreamError): boolean {
  return EXECUTION_FAILURE_TEXT.test(message) || (code === 3 && !isBusyText(message));
}

/** Rate limits as worded by providers. Alchemy and QuickNode apply them to single calls of a batch. */
const RATE_LIMIT_TEXT =
  /rate limit|too many requests?\b|concurrent requests|(request|rps) limit|per second|request rate|quota|throttl/i;

/** Other limits with code -32005: jsonrpsee's batches, Infura's and Alchemy's logs, Besu's range and gas. */
const OTHER_LIMIT_TEXT =
  /\b(batched|more than|range|blocks|results?|logs|response|size|gas|subscriptions?)\b/i;

const BUSY_TEXT = /overload|timed? ?out|try again|limit reached/i;

/** How Hedera's relay and strict parsers refuse a member of the tracer's options. */
const REFUSED_TIMEOUT_TEXTS = [
  /\b(invalid|un\w+|extra) (\w+ )?(argument|field|key|option|param\w*|propert\w*)[^.;]{0,30}\btimeout\b/i,
  /\btimeout\b['"`]?:? (is |was )?(not (allowed|expected|permitted|supported)|un(expected|supported))\b/i,
];

/** The node refuses the `timeout` of a tracer's options, which is no timeout of its own. */
export function isRefusedTimeout({ reason, message }: UpstreamError): boolean {
  return reason === 'rpc' && REFUSED_TIMEOUT_TEXTS.some((text) => text.test(message));
}

/** The error of a call says that the node limits the rate. Code -32005 alone does not: it also means other limits. */
export function saysRateLimit(error: UpstreamError): boolean {
  if (error.reason !== 'rpc' || isExecutionFailure(error)) return false;
  return error.code === 429 || RATE_LIMIT_TEXT.test(error.message);
}

/** The node limits the rate: the same request will succeed at a lower rate. */
export function isRateLimited(error: UpstreamError): boolean {
  if (error.httpStatus === 429 || saysRateLimit(error)) return true;
  if (error.reason !== 'rpc' || isExecutionFailure(error)) return false;
  return error.code === -32005 && !OTHER_LIMIT_TEXT.test(error.message) && !isMissingData(error);
}

/** The node is busy: the same request may succeed later, and any other request would fail now. */
export function isBusy(error: UpstreamError): boolean {
  return isRateLimited(error) || BUSY_TEXT.test(error.message);
}

/** Faults of the way to the node, and conditions that pass, as nodes and proxies word them in an error of a call. */
const PASSING_TEXTS = [
  /\b(deadline|cancell?ed|abort(ed)?|busy|temporar(y|ily)|retry|syncing|initiali[sz]ing|shutting down)\b/i,
  /\b(not ready|out of memory|upstream|backend|bad gateway|service unavailable|broken pipe|EOF|hang ?up)\b/i,
  /ECONN|connect(ion)? (was )?(refused|reset|closed|lost|error|failed)/i,
];

/** Words of messages that say no more than that a call failed. */
const VAGUE_WORDS = new Set(
  (
    'a an and any at by call code could crashed during error errors exception execute execution fail failed failure ' +
    'fault for general generic handler handling in internal invalid is json jsonrpc message method nil node ' +
    'not null of ' +
    'occurred ok on panic please problem processing request response result rpc server something the to trace traced ' +
    'tracer tracing unable undefined unexpected unhandled unknown went while with wrong'
  ).split(' '),
);

/**
 * Whether the error says what is wrong with the one block or transaction, so that the node may give it for ever. Not a
 * failure of the connection or of the whole node, nor a text without a reason such as "internal error".
 */
export function isReason(error: UpstreamError): boolean {
  if (error.reason === 'too-large') return true;
  if (error.reason !== 'rpc' || isBusy(error)) return false;
  if (PASSING_TEXTS.some((form) => form.test(error.message))) return false;
  const words =
    wordsOf(error.message)
      .toLowerCase()
      .match(/\p{L}{2,}/gu) ?? [];
  return words.some((word) => !VAGUE_WORDS.has(word));
}

/** Most characters of a reason that is stored or compared. */
const MAX_WORDS = 200;

/** The text of an error without its method, hashes, addresses and numbers: the same for each block it concerns. */
export function wordsOf(message: string): string {
  return message
    .replace(/; if this stays, .*$/, '')
    .replace(/^(block \d+: )?[a-z0-9]+_[A-Za-z]+: /, '')
    .replace(/ \(-?\d+\)$/, '')
    .replace(/\b0x[0-9a-f]*\b|\b[0-9a-f]*\d[0-9a-f]*\b/gi, '…')
    .replace(/\d+/g, '…')
    .slice(0, MAX_WORDS)
    .trim();
}

/** Whether two texts of `wordsOf` differ in no more than what was taken out: geth says `(path )` for the root. */
export function haveSameWords(a: string, b: string): boolean {
  return a.replace(/[\s…]+/g, '') === b.replace(/[\s…]+/g, '');
}

function isBusyText(message: string): boolean {
  return RATE_LIMIT_TEXT.test(message) || BUSY_TEXT.test(message);
}
