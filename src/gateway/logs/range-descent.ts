/**
 * Refusals of a range in words that are not known: a few calls find out whether a narrower range works. Providers word
 * their limits in countless ways, so nothing but the outcome counts.
 */
import { UpstreamError } from '../../lib/errors.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { isExecutionFailure, isRateLimited, wordsOf } from '../../node/node-errors.ts';
import type { CallResult, RequestFn } from '../call.ts';
import { RpcCode } from '../errors.ts';
import { errorOf, isResult } from '../response-tail.ts';
import { chunkParams, type LogsQuery } from './logs-query.ts';
import { classifyRefusal, type RangeLimit } from './node-range.ts';

/** Left halves to try below a refused range. */
const MAX_STEPS = 10;
/** Most calls, and the time in which they are counted, milliseconds. */
const MAX_CALLS = MAX_STEPS + 1;
const WINDOW_MS = 60_000;
/** Most wordings to remember. */
const MAX_WORDINGS = 64;

interface RangeDescentOptions {
  request: RequestFn;
  nodeRange: RangeLimit;
  /** Whether the node whose ranges these are is in use. */
  isInUse: () => boolean;
  /** Monotonic milliseconds. Default: performance.now(). */
  clock?: () => number;
}

/** The refusals of one node. */
export class RangeDescent {
  private readonly options: RangeDescentOptions;
  private readonly clock: () => number;
  /** By the words of the refusal: Infinity if narrower ranges work, else when to find out again. */
  private readonly wordings = new LruMap<string, number>(MAX_WORDINGS);
  private readonly calls: number[] = [];
  private current: Promise<void> | null = null;

  constructor(options: RangeDescentOptions) {
    this.options = options;
    this.clock = options.clock ?? (() => performance.now());
  }

  /** Like `classifyRefusal`, with the wordings learned so far. */
  known(answer: CallResult): ReturnType<typeof classifyRefusal> {
    const refusal = classifyRefusal(answer);
    if (refusal !== null || answer.status !== 200 || isResult(answer.tail)) return refusal;
    return this.wordings.get(wordsOf(errorOf(answer.tail).message)) === Number.POSITIVE_INFINITY
      ? 'wide'
      : null;
  }

  /** Whether `classify` may learn more about an answer to a range of this many blocks than `known` tells. */
  mayLearn(answer: CallResult, width: number): boolean {
    if (width < 2 || answer.status !== 200 || isResult(answer.tail)) return false;
    if (answer.httpStatus === undefined || answer.httpStatus >= 500) return false;
    const { code, message } = errorOf(answer.tail);
    if (code === RpcCode.limitExceeded || code === RpcCode.methodNotFound) return false;
    const error = new UpstreamError('rpc', message, code);
    if (isRateLimited(error) || isExecutionFailure(error)) return false;
    const now = this.clock();
    while (this.calls[0] !== undefined && this.calls[0] <= now - WINDOW_MS) this.calls.shift();
    return (this.wordings.get(wordsOf(message)) ?? 0) <= now && this.calls.length < MAX_CALLS;
  }

  /** Like `known`, after asking the node about narrower ranges. One answer at a time is followed up. */
  async classify(
    answer: CallResult,
    query: LogsQuery,
    from: number,
    to: number,
  ): Promise<ReturnType<typeof classifyRefusal>> {
    while (this.current !== null) await this.current;
    const refusal = this.known(answer);
    if (refusal !== null || !this.mayLearn(answer, to - from + 1)) return refusal;
    this.current = this.descend(answer, query, from, to).finally(() => {
      this.current = null;
    });
    await this.current;
    return this.known(answer);
  }

  /** The first block alone, then the left halves from the widest on. */
  private async descend(answer: CallResult, query: LogsQuery, from: number, to: number): Promise<void> {
    const words = wordsOf(errorOf(answer.tail).message);
    this.wordings.set(words, this.clock() + WINDOW_MS);
    if ((await this.ask(query, from, 1)) !== 'works') return;
    let refused = to - from + 1;
    for (let step = 0; step < MAX_STEPS && refused > 3; step++) {
      const outcome = await this.ask(query, from, refused >> 1);
      if (outcome === 'unknown') return;
      if (outcome === 'works') break;
      refused >>= 1;
    }
    this.options.nodeRange.tooWide(refused);
    this.wordings.set(words, Number.POSITIVE_INFINITY);
  }

  private async ask(query: LogsQuery, from: number, width: number): Promise<'works' | 'refused' | 'unknown'> {
    const { request, isInUse } = this.options;
    if (this.calls.length >= MAX_CALLS || !isInUse()) return 'unknown';
    this.calls.push(this.clock());
    const {
      tail,
      status,
      httpStatus = 500,
    } = await request('eth_getLogs', chunkParams(query, from, from + width - 1));
    if (status !== 200 || httpStatus >= 500 || !isInUse()) return 'unknown';
    return isResult(tail) ? 'works' : 'refused';
  }
}
