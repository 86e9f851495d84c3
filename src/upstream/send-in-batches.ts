/** Answering many calls when the node limits the calls of a batch or the bytes of an answer. */
import { UpstreamError } from '../errors.ts';
import type { BatchLimit } from './batch-limit.ts';
import { isTooLarge } from './node-errors.ts';
import type { RpcCall, RpcReply } from './reply.ts';

/** The two kinds of request. Both reject when the exchange as a whole failed and dividing would not help. */
export interface BatchTransport {
  single(call: RpcCall): Promise<RpcReply>;
  /** Replies to two or more calls, or the error with which the node refused the batch but might accept a smaller one. */
  batch(calls: readonly RpcCall[]): Promise<RpcReply[] | UpstreamError>;
}

/** Replies in the order of the calls, which are sent in batches of the size that `limit` has learnt. */
export async function sendInBatches(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  transport: BatchTransport,
): Promise<RpcReply[]> {
  const size = limit.size;
  const parts: Promise<RpcReply[]>[] = [];
  for (let from = 0; from < calls.length; from += size) {
    parts.push(sendPart(calls.slice(from, from + size), limit, transport));
  }
  // Waits for all, so that a failed batch leaves no requests running.
  const outcomes = await Promise.allSettled(parts);
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Whether the reply says that the result did not fit; in a smaller batch it may. */
export function isOverLimit(reply: RpcReply): reply is { error: UpstreamError } {
  return 'error' in reply && isTooLarge(reply.error);
}

async function sendPart(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  transport: BatchTransport,
): Promise<RpcReply[]> {
  const [first] = calls;
  if (first === undefined) return [];
  if (calls.length === 1) {
    const reply = await transport.single(first);
    limit.accepted(1);
    return [reply];
  }
  const replies = await transport.batch(calls);
  if (replies instanceof UpstreamError || replies.every(isOverLimit)) {
    limit.refused(calls.length);
    return sendHalves(calls, limit, transport);
  }
  limit.accepted(calls.length);
  return answerRest(calls, replies, limit, transport);
}

/** Sends the first half alone, so that a node that refuses everything gets a few requests, not one per call. */
async function sendHalves(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  transport: BatchTransport,
): Promise<RpcReply[]> {
  const half = calls.length >> 1;
  const replies = await sendPart(calls.slice(0, half), limit, transport);
  return replies.concat(await sendInBatches(calls.slice(half), limit, transport));
}

/** geth answers a batch up to its size limit and the rest with "too large"; sends those again. */
async function answerRest(
  calls: readonly RpcCall[],
  replies: RpcReply[],
  limit: BatchLimit,
  transport: BatchTransport,
): Promise<RpcReply[]> {
  const unanswered = replies.flatMap((reply, index) => (isOverLimit(reply) ? [index] : []));
  if (unanswered.length === 0) return replies;
  const rest = await sendInBatches(
    unanswered.map((index) => calls[index]!),
    limit,
    transport,
  );
  for (const [at, index] of unanswered.entries()) replies[index] = rest[at]!;
  return replies;
}
