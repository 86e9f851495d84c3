/** Fetches the logs of a wide range in chunks and joins them in order. */

import { abortWith } from '../../lib/async.ts';
import type { ClientBudget } from '../../lib/byte-budget.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { CallResult, RequestFn } from '../call.ts';
import { errorResult, NO_ROOM, RpcCode } from '../errors.ts';
import { LargeAnswer, MIN_LARGE_BYTES } from '../large-answer.ts';
import { errorOf, isResult } from '../response-tail.ts';
import { type BlockParam, chunkParams, type LogsQuery } from './logs-query.ts';
import type { RangeLimit } from './node-range.ts';
import type { RangeDescent } from './range-descent.ts';

/** Concurrent chunks per call. */
const CONCURRENCY = 8;
/** Most bytes of logs per call: somewhat more than nodes send. */
const MAX_BYTES = 32 * 2 ** 20;

export interface Range {
  from: number;
  to: number;
  /** The last block as sent to the node: `to`, or a tag or height that currently resolves to it. */
  last: BlockParam;
}

export interface CollectDeps {
  request: RequestFn;
  nodeRange: RangeLimit;
  descent: Pick<RangeDescent, 'classify'>;
  budget: ClientBudget;
}

interface Chunk {
  from: number;
  to: number;
  /** Lists of logs, separated by commas, without brackets; null until fetched. */
  logs: readonly Buffer[] | null;
}

/** The texts around and between the lists of logs. */
const BEGIN = Buffer.from('"result":[');
const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/**
 * Resolves with all logs of the range, or with the first error. Rejects with the signal's reason, or with UpstreamError
 * `malformed`.
 */
export async function collectLogs(
  deps: CollectDeps,
  query: LogsQuery,
  range: Range,
  signal: AbortSignal,
): Promise<CallResult | LargeAnswer> {
  return new Collection(deps, query, range, signal).run();
}

class Collection {
  private readonly deps: CollectDeps;
  private readonly query: LogsQuery;
  private readonly range: Range;
  private readonly stop = new AbortController();
  private readonly unlink: () => void;
  /** Ordered by block. */
  private readonly chunks: Chunk[] = [];
  private next: number;
  /** Lists whose memory is reserved, and their bytes. */
  private readonly held: Buffer[] = [];
  private bytes = 0;
  private failure: CallResult | null = null;

  constructor(deps: CollectDeps, query: LogsQuery, range: Range, signal: AbortSignal) {
    this.deps = deps;
    this.query = query;
    this.range = range;
    this.unlink = abortWith(this.stop, signal);
    this.next = range.from;
  }

  async run(): Promise<CallResult | LargeAnswer> {
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, () => this.work()));
      return this.failure ?? this.wrapped();
    } catch (error) {
      if (this.failure === null) throw error;
      return this.failure; // the other errors come from aborting the chunks
    } finally {
      this.unlink();
      this.stop.abort();
      for (const list of this.held) this.deps.budget.letGo(list);
    }
  }

  private async work(): Promise<void> {
    while (this.next <= this.range.to && this.failure === null) {
      const width = this.deps.nodeRange.nextWidth();
      const chunk: Chunk = {
        from: this.next,
        to: Math.min(this.range.to, this.next + width - 1),
        logs: null,
      };
      this.next = chunk.to + 1;
      this.chunks.push(chunk);
      const logs = await this.fetchChunk(chunk.from, chunk.to);
      if (!Array.isArray(logs)) return this.fail(logs);
      this.stop.signal.throwIfAborted(); // run() has released its memory by then
      const lists = logs.filter((list) => list.length > 0);
      for (const list of lists) {
        if (this.bytes + list.length > MAX_BYTES) return this.fail(tooLarge(this.chunks));
        if (!this.deps.budget.hold(list)) return this.fail(errorResult(NO_ROOM));
        this.held.push(list);
        this.bytes += list.length;
      }
      chunk.logs = lists;
    }
  }

  private wrapped(): CallResult | LargeAnswer {
    const lists = this.chunks.flatMap((chunk) => chunk.logs ?? []);
    const pieces = [BEGIN, ...lists.flatMap((list, i) => (i === 0 ? [list] : [COMMA, list])), END];
    if (this.bytes < MIN_LARGE_BYTES) return { tail: Buffer.concat(pieces), status: 200 };
    return LargeAnswer.of(pieces, this.deps.budget) ?? errorResult(NO_ROOM);
  }

  /** The logs of a chunk, halved as long as the node refuses it, or the remaining error. */
  private async fetchChunk(from: number, to: number): Promise<Buffer[] | CallResult> {
    const { request, nodeRange } = this.deps;
    const last = to === this.range.to ? this.range.last : to;
    const answer = await request('eth_getLogs', chunkParams(this.query, from, last), this.stop.signal).catch(
      (error) => {
        nodeRange.inconclusive();
        throw error;
      },
    );
    if (isResult(answer.tail)) {
      nodeRange.accepted(to - from + 1);
      return [logsIn(answer.tail)];
    }
    const refusal = await this.deps.descent.classify(answer, this.query, from, to);
    if (refusal === 'wide') nodeRange.tooWide(to - from + 1);
    else nodeRange.inconclusive();
    if (refusal === null) return answer;
    if (from === to) return namingBlock(answer.tail, from);
    const middle = from + ((to - from) >> 1);
    const first = await this.fetchChunk(from, middle);
    if (!Array.isArray(first)) return first;
    const second = await this.fetchChunk(middle + 1, to);
    return Array.isArray(second) ? [...first, ...second] : second;
  }

  private fail(answer: CallResult): void {
    this.failure ??= answer;
    this.stop.abort();
  }
}

/** The text between the brackets of a list of logs. Throws UpstreamError `malformed` when it is not a list. */
function logsIn(tail: Buffer): Buffer {
  if (!/^"result"\s*:\s*\[/.test(tail.toString('latin1', 0, 32))) {
    throw new UpstreamError('malformed', 'eth_getLogs: the result is not a list');
  }
  return tail.subarray(tail.indexOf('[') + 1, tail.lastIndexOf(']'));
}

/** The node's refusal of one block, with the block number, because the client asked for a range. */
function namingBlock(refusal: Buffer, block: number): CallResult {
  const error = errorOf(refusal);
  return errorResult({ ...error, message: `${error.message} (block ${block} alone)` });
}

/** The error names the part of the range that would fit. */
function tooLarge(chunks: readonly Chunk[]): CallResult {
  const missing = chunks.findIndex((chunk) => chunk.logs === null);
  const [first] = chunks;
  const last = chunks[missing - 1];
  const works =
    first === undefined || last === undefined
      ? {}
      : { fromBlock: toQuantity(first.from), toBlock: toQuantity(last.to) };
  return errorResult({
    code: RpcCode.invalidParams,
    message: `the logs of this range take more than ${MAX_BYTES} bytes; request fewer blocks or narrow the filter`,
    data: { maxBytes: MAX_BYTES, ...works },
  });
}
