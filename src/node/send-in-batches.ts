/** Sends many calls to a node that limits the calls per batch or the bytes per answer. */
import { UpstreamError } from '../lib/errors.ts';
import { isTooLarge } from './node-errors.ts';
import type { RpcCall, RpcReply } from './reply.ts';

/** Full batches that must succeed before a larger one is tried: one wasted exchange in 256 costs nothing. */
const FULL_BATCHES_BEFORE_GROWTH = 256;

/**
 * How many calls a batch may contain. Nodes do not publish their limit, so a refusal reduces ours. It grows back
 * slowly, because a limit on answer bytes depends on how full the blocks are.
 */
export class BatchLimit {
  private readonly configured: number;
  private current: number;
  private fullBatches = 0;

  constructor(configured: number) {
    this.configured = configured;
    this.current = configured;
  }

  get size(): number {
    return this.current;
  }

  refused(calls: number): void {
    this.current = Math.max(1, Math.min(this.current, calls >> 1));
    this.fullBatches = 0;
  }

  /** The node refused a single call as well, so the size was not the reason. */
  restore(size: number): void {
    this.current = Math.max(this.current, size);
  }

  accepted(calls: number): void {
    if (calls < this.current || this.current === this.configured) return;
    this.fullBatches += 1;
    if (this.fullBatches < FULL_BATCHES_BEFORE_GROWTH) return;
    this.current = Math.min(this.configured, this.current * 2);
    this.fullBatches = 0;
  }
}

/** Sends one request. Both methods reject when the whole exchange failed and splitting would not help. */
interface BatchSender {
  single(call: RpcCall): Promise<RpcReply>;
  /** Replies to two or more calls, or the error of a node that refused the batch but might accept a smaller one. */
  batch(calls: readonly RpcCall[]): Promise<RpcReply[] | UpstreamError>;
}

/** Sends calls in batches of the current `limit`. Replies come in the order of the calls. */
export async function sendInBatches(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  sender: BatchSender,
): Promise<RpcReply[]> {
  const size = limit.size;
  const parts: Promise<RpcReply[]>[] = [];
  for (let from = 0; from < calls.length; from += size) {
    parts.push(sendPart(calls.slice(from, from + size), limit, sender));
  }
  // Wait for all, so that a failed batch leaves no requests running.
  const outcomes = await Promise.allSettled(parts);
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Whether the result exceeded the limit. In a smaller batch it may fit. */
export function isOverLimit(reply: RpcReply): reply is { error: UpstreamError } {
  return 'error' in reply && isTooLarge(reply.error);
}

async function sendPart(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  sender: BatchSender,
): Promise<RpcReply[]> {
  const [first] = calls;
  if (first === undefined) return [];
  if (calls.length === 1) {
    const reply = await sender.single(first);
    limit.accepted(1);
    return [reply];
  }
  const replies = await sender.batch(calls);
  if (replies instanceof UpstreamError || replies.every(isOverLimit)) {
    const before = limit.size;
    limit.refused(calls.length);
    try {
      return await sendHalves(calls, limit, sender);
    } catch (error) {
      limit.restore(before);
      throw error;
    }
  }
  limit.accepted(calls.length);
  return answerRest(calls, replies, limit, sender);
}

/**
 * Sends the first half before the second, so that a node that refuses everything gets few requests, not one per call.
 */
async function sendHalves(
  calls: readonly RpcCall[],
  limit: BatchLimit,
  sender: BatchSender,
): Promise<RpcReply[]> {
  const half = calls.length >> 1;
  const replies = await sendPart(calls.slice(0, half), limit, sender);
  return replies.concat(await sendInBatches(calls.slice(half), limit, sender));
}

/** geth answers a batch up to its size limit, and the rest with "too large". Sends that rest again. */
async function answerRest(
  calls: readonly RpcCall[],
  replies: RpcReply[],
  limit: BatchLimit,
  sender: BatchSender,
): Promise<RpcReply[]> {
  const unanswered = replies.flatMap((reply, index) => (isOverLimit(reply) ? [index] : []));
  if (unanswered.length === 0) return replies;
  const rest = await sendInBatches(
    unanswered.map((index) => calls[index]!),
    limit,
    sender,
  );
  for (const [at, index] of unanswered.entries()) replies[index] = rest[at]!;
  return replies;
}
