/** Answering a batch: some calls at a time, the answers in the order of the calls. */
import type { ClientBudget } from '../lib/byte-budget.ts';
import type { Answer } from './call.ts';
import { errorAnswer, RpcCode } from './errors.ts';
import type { IncomingCall, InvalidCall } from './request.ts';
import type { RpcAnswer } from './sink.ts';

/** Calls of one batch that are answered at the same time, so that one client's batch does not take every socket. */
export const BATCH_CONCURRENCY = 16;

/** Bytes of a batch's answers after which the remaining calls get an error: somewhat more than nodes allow. */
const MAX_BATCH_BYTES = 32 * 2 ** 20;

/**
 * Transactions are sent one after the other, since that of a later nonce may be refused before those of earlier ones.
 * When the node fails to answer one, the others are not sent.
 */
const SENDING = /^eth_sendRaw/i;

/** Answers all calls with `answer`, BATCH_CONCURRENCY at a time. Rejects only when `answer` does. */
export async function answerBatch(
  calls: readonly (IncomingCall | InvalidCall)[],
  budget: ClientBudget,
  answer: (call: IncomingCall | InvalidCall) => Promise<Answer>,
): Promise<RpcAnswer> {
  const answers = new Array<Answer>(calls.length);
  let next = 0;
  let bytes = 0;
  let isOver = false;
  let lastSent: Promise<Answer | null> = Promise.resolve(null);
  const inTurn = (call: IncomingCall | InvalidCall): Promise<Answer> => {
    if ('error' in call || !SENDING.test(call.method)) return answer(call);
    const answered = lastSent.then((last) => (last === null || last.status === 200 ? answer(call) : last));
    lastSent = answered;
    return answered;
  };
  const work = async () => {
    while (next < calls.length && !isOver) {
      const at = next++;
      const one = bytes > MAX_BATCH_BYTES ? TOO_LARGE : await inTurn(calls[at]!);
      if (isOver) return; // it failed meanwhile: what is reserved now would never be released
      const fits = budget.reserve(one.payload.length);
      if (fits) bytes += one.payload.length;
      answers[at] = fits ? one : TOO_LARGE;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, calls.length) }, work));
    return joined(calls, answers);
  } finally {
    isOver = true;
    budget.release(bytes);
  }
}

const TOO_LARGE = errorAnswer({
  code: RpcCode.internal,
  message: 'batch response too large; send fewer calls at once',
});

/** The HTTP status reports a failure only when the node answered none of the calls. */
function joined(calls: readonly (IncomingCall | InvalidCall)[], answers: readonly Answer[]): RpcAnswer {
  const pieces: Buffer[] = [];
  for (const [i, { payload }] of answers.entries()) {
    const id = calls[i]?.id ?? null;
    if (id === null) continue;
    pieces.push(
      Buffer.from(`${pieces.length === 0 ? '[' : ','}{"jsonrpc":"2.0","id":${id},`, 'latin1'),
      payload,
    );
  }
  if (pieces.length === 0) return { status: 204, body: null };
  pieces.push(Buffer.from(']'));
  const status = answers.some((answer) => answer.status === 200) ? 200 : answers[0]!.status;
  return { status, body: Buffer.concat(pieces) };
}
