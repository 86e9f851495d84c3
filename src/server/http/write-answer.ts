/** Writes answers to sockets within the limits of uWebSockets.js. */
import { guarded } from '../../lib/guard.ts';
import type { EventLoopGuard } from '../overload.ts';
import type { HttpResponse } from '../uws.ts';
import { type Answer, STATUS_LINES } from './answer.ts';

const CACHE_CONTROL = {
  revalidate: 'private, max-age=0, must-revalidate',
  immutable: 'private, max-age=31536000, immutable',
  'no-store': 'no-store',
} as const;

/** State shared by all answers of a server. */
export interface ReplyContext {
  /** Pending answers: deferred ones, and those not yet written completely. */
  pending: number;
  /** Whether connections close after their answer. */
  closing: boolean;
  readonly eventLoopGuard: EventLoopGuard;
  /** Logs the error of a handler and returns the 500. */
  readonly failure: (error: unknown) => Answer;
}

/** Writes a whole answer. The socket must be corked. If it cannot be completed, closes the connection. */
export function writeAnswer(res: HttpResponse, answer: Answer, context: ReplyContext): void {
  try {
    writeParts(res, answer, context);
  } catch (error) {
    res.close();
    throw error;
  }
}

function writeParts(res: HttpResponse, answer: Answer, context: ReplyContext): void {
  writeHead(res, answer);
  const { body, contentLength } = answer;
  const close = answer.close === true || context.closing || context.eventLoopGuard.isTooLong();
  if (contentLength !== undefined && contentLength > 0) writeLength(res, contentLength);
  else if (close) res.end(body ?? undefined, true);
  else if (body === null) res.endWithoutBody();
  else writeBody(res, body, context);
}

/**
 * Sends all headers in one call, as the value of the first: each call into the library costs 0.15 µs, and an answer has
 * nine headers.
 */
export function writeHead(res: HttpResponse, { status, headers, cache }: Omit<Answer, 'body'>): void {
  if (status !== 200) res.writeStatus(STATUS_LINES[status]);
  res.writeHeader('Cache-Control', CACHE_CONTROL[cache] + headers);
}

/**
 * Announces a body that never follows (HEAD). The library considers such an answer unfinished: it cuts the connection
 * on the next request and otherwise keeps it open forever. So we close the connection in the next turn, once the head
 * has left.
 */
function writeLength(res: HttpResponse, bytes: number): void {
  let open = true;
  res.onAborted(() => {
    open = false;
  });
  res.writeHeader('Connection', 'close');
  res.tryEnd('', bytes);
  setImmediate(
    guarded('answer to HEAD', () => {
      if (open) res.close();
    }),
  );
}

/**
 * Writes no more than the system accepts. The library would buffer the rest without limit, even for a client that never
 * reads. It cuts a connection that sends a request before the previous answer is complete, and one that reads nothing
 * for ten seconds.
 */
function writeBody(res: HttpResponse, body: string | Buffer, context: ReplyContext): void {
  const bytes = Buffer.byteLength(body);
  if (res.tryEnd(body, bytes)[1]) return;
  context.pending++;
  const whole = Buffer.from(body); // the next short /rpc answer reuses this memory
  res.onAborted(() => {
    context.pending--;
  });
  res.onWritable((offset) => {
    const [room, done] = res.tryEnd(whole.subarray(offset), bytes);
    if (done) context.pending--;
    return room;
  });
}
