/** Answers a batch, a limited number of calls at a time, in the order of the calls. */
import type { ClientBudget } from '../lib/byte-budget.ts';
import type { CallResult, CallStatus, RpcAnswer } from './call.ts';
import { errorResult, NO_ROOM, RpcCode } from './errors.ts';
import { LargeAnswer, MIN_LARGE_BYTES } from './large-answer.ts';
import { errorForAll, type IncomingCall, type InvalidCall } from './request.ts';

/** Concurrent calls per batch, so that one client's batch does not take every socket. */
export const BATCH_CONCURRENCY = 16;

/**
 * Once the answers of a batch exceed this many bytes, the remaining calls get an error. Somewhat more than nodes allow.
 */
const MAX_BATCH_BYTES = 32 * 2 ** 20;

/**
 * Transactions are sent one after another, because the node may refuse a nonce that arrives before the previous one.
 * When the node fails to answer one, the rest are not sent.
 */
const SENDING = /^eth_sendRaw/i;

/** Answers all calls with `answer`, BATCH_CONCURRENCY at a time. Rejects only if `answer` does. */
export async function answerBatch(
  calls: readonly (IncomingCall | InvalidCall)[],
  budget: ClientBudget,
  answer: (call: IncomingCall | InvalidCall) => Promise<CallResult | LargeAnswer>,
): Promise<RpcAnswer> {
  const answers = new Array<CallResult | LargeAnswer>(calls.length);
  /** Response tails whose memory is reserved. */
  const held: Buffer[] = [];
  let next = 0;
  let bytes = 0;
  let isOver = false;
  let lastSent: Promise<CallResult | LargeAnswer | null> = Promise.resolve(null);
  const inTurn = (call: IncomingCall | InvalidCall): Promise<CallResult | LargeAnswer> => {
    if ('error' in call || !SENDING.test(call.method)) return answer(call);
    const answered = lastSent.then((last) => (last === null || isSuccess(last) ? answer(call) : last));
    lastSent = answered;
    return answered;
  };
  const keep = (one: CallResult | LargeAnswer): CallResult | LargeAnswer => {
    if (one instanceof LargeAnswer) {
      bytes += one.left;
      return one;
    }
    if (!budget.hold(one.tail)) return FULL;
    held.push(one.tail);
    bytes += one.tail.length;
    return one;
  };
  const work = async () => {
    while (next < calls.length && !isOver) {
      const at = next++;
      const one = bytes > MAX_BATCH_BYTES ? TOO_LARGE : await inTurn(calls[at]!);
      if (!isOver) answers[at] = keep(one);
      else if (one instanceof LargeAnswer) one.discard(); // the batch has failed meanwhile
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, calls.length) }, work));
    return joined(calls, answers, budget);
  } finally {
    isOver = true;
    for (const tail of held) budget.letGo(tail);
    for (const one of answers) if (one instanceof LargeAnswer) one.discard();
  }
}

const TOO_LARGE = errorResult({
  code: RpcCode.internal,
  message: 'batch response too large; send fewer calls at once',
});

const FULL = errorResult(NO_ROOM);

/**
 * Joins the answers and takes ownership of large ones. The HTTP status reports a failure only when the node answered
 * none of the calls.
 */
function joined(
  calls: readonly (IncomingCall | InvalidCall)[],
  answers: readonly (CallResult | LargeAnswer)[],
  budget: ClientBudget,
): RpcAnswer {
  const pieces: (Buffer | LargeAnswer)[] = [];
  let bytes = 0;
  for (const [i, one] of answers.entries()) {
    const id = calls[i]?.id ?? null;
    if (id === null) continue;
    const start = Buffer.from(`${pieces.length === 0 ? '[' : ','}{"jsonrpc":"2.0","id":${id},`, 'latin1');
    const tail = one instanceof LargeAnswer ? one : one.tail;
    pieces.push(start, tail);
    bytes += start.length + (tail instanceof LargeAnswer ? tail.left : tail.length);
  }
  if (pieces.length === 0) return { status: 204, body: null };
  pieces.push(Buffer.from(']'));
  const status = answers.some(isSuccess) ? 200 : batchStatusOf(answers[0]!);
  if (bytes < MIN_LARGE_BYTES) return { status, body: Buffer.concat(pieces.filter(Buffer.isBuffer)) };
  const body = new LargeAnswer(budget);
  for (const piece of pieces) {
    if (piece instanceof LargeAnswer) body.append(piece);
    else if (!body.add(piece)) {
      body.discard();
      return {
        status: 200,
        body: Buffer.from(errorForAll({ kind: 'batch', calls: [...calls] }, NO_ROOM), 'latin1'),
      };
    }
  }
  return { status, body };
}

function statusOf(answer: CallResult | LargeAnswer): CallStatus {
  return answer instanceof LargeAnswer ? 200 : answer.status;
}

/** A node that limits its calls answers each of them, so the batch succeeds. */
function batchStatusOf(answer: CallResult | LargeAnswer): CallStatus {
  return answer instanceof LargeAnswer || answer.retryAfter !== undefined ? 200 : answer.status;
}

function isSuccess(answer: CallResult | LargeAnswer): boolean {
  return statusOf(answer) === 200;
}
