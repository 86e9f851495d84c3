/** The logs of a wide range, fetched in chunks and joined in order. */
import { UpstreamError } from '../../errors.ts';
import { abortWith } from '../../lib/abort-with.ts';
import type { ClientBudget } from '../../lib/byte-budget.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { Answer, RequestFn } from '../call.ts';
import { errorAnswer, RpcCode } from '../errors.ts';
import { errorOf, isResult } from '../payload.ts';
import { type BlockParam, chunkParams, type LogsQuery } from './logs-query.ts';
import type { RangeLimit } from './range-limit.ts';
import { classifyRefusal } from './refusals.ts';

/** Chunks of one call that are fetched at the same time. */
const CONCURRENCY = 8;
/** Most bytes of the logs of one call: somewhat more than nodes send. */
const MAX_BYTES = 32 * 2 ** 20;

export interface Range {
  from: number;
  to: number;
  /** The last block as it is sent to the node: `to`, or a tag or height that now stands for it. */
  last: BlockParam;
}

export interface CollectDeps {
  ask: RequestFn;
  nodeRange: RangeLimit;
  budget: ClientBudget;
}

interface Chunk {
  from: number;
  to: number;
  /** The logs, separated by commas; null until fetched. */
  logs: Buffer | null;
}

/**
 * Resolves with all logs of the range, or with the first error. Rejects with the signal's reason, or with UpstreamError
 * `malformed`.
 */
export async function collectLogs(
  deps: CollectDeps,
  query: LogsQuery,
  range: Range,
  signal: AbortSignal,
): Promise<Answer> {
  return new Collection(deps, query, range, signal).run();
}

class Collection {
  private readonly deps: CollectDeps;
  private readonly query: LogsQuery;
  private readonly range: Range;
  private readonly stop = new AbortController();
  private readonly unlink: () => void;
  /** In the order of their blocks. */
  private readonly chunks: Chunk[] = [];
  private next: number;
  private bytes = 0;
  private failure: Answer | null = null;

  constructor(deps: CollectDeps, query: LogsQuery, range: Range, signal: AbortSignal) {
    this.deps = deps;
    this.query = query;
    this.range = range;
    this.unlink = abortWith(this.stop, signal);
    this.next = range.from;
  }

  async run(): Promise<Answer> {
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, () => this.work()));
      return this.failure ?? { payload: wrapped(this.chunks), status: 200 };
    } catch (error) {
      if (this.failure === null) throw error;
      return this.failure; // errors of the chunks that it aborted do not matter
    } finally {
      this.unlink();
      this.stop.abort();
      this.deps.budget.release(this.bytes);
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
      this.stop.signal.throwIfAborted(); // it ended meanwhile: what is reserved now would never be released
      const joined = joinLogs(logs);
      if (this.bytes + joined.length > MAX_BYTES || !this.deps.budget.reserve(joined.length)) {
        return this.fail(tooLarge(this.chunks));
      }
      this.bytes += joined.length;
      chunk.logs = joined;
    }
  }

  /** The logs of a chunk, which is halved as long as the node refuses it, or the error that remains. */
  private async fetchChunk(from: number, to: number): Promise<Buffer[] | Answer> {
    const { ask, nodeRange } = this.deps;
    const last = to === this.range.to ? this.range.last : to;
    const answer = await ask('eth_getLogs', chunkParams(this.query, from, last), this.stop.signal).catch(
      (error) => {
        nodeRange.inconclusive();
        throw error;
      },
    );
    if (isResult(answer.payload)) {
      nodeRange.accepted(to - from + 1);
      return [logsIn(answer.payload)];
    }
    const refusal = classifyRefusal(answer);
    if (refusal === 'wide') nodeRange.tooWide(to - from + 1);
    else nodeRange.inconclusive();
    if (refusal === null) return answer;
    if (from === to) return namingBlock(answer.payload, from);
    const middle = from + ((to - from) >> 1);
    const first = await this.fetchChunk(from, middle);
    if (!Array.isArray(first)) return first;
    const second = await this.fetchChunk(middle + 1, to);
    return Array.isArray(second) ? [...first, ...second] : second;
  }

  private fail(answer: Answer): void {
    this.failure ??= answer;
    this.stop.abort();
  }
}

/** The text between the brackets of a list of logs. Throws UpstreamError `malformed` when it is not a list. */
function logsIn(payload: Buffer): Buffer {
  if (!/^"result"\s*:\s*\[/.test(payload.toString('latin1', 0, 32))) {
    throw new UpstreamError('malformed', 'eth_getLogs: the result is no list');
  }
  return payload.subarray(payload.indexOf('[') + 1, payload.lastIndexOf(']'));
}

function joinLogs(lists: readonly Buffer[]): Buffer {
  const filled = lists.filter((list) => list.length > 0);
  const comma = Buffer.from(',');
  return Buffer.concat(filled.flatMap((list, i) => (i === 0 ? [list] : [comma, list])));
}

function wrapped(chunks: readonly Chunk[]): Buffer {
  const logs = joinLogs(chunks.map((chunk) => chunk.logs ?? Buffer.alloc(0)));
  return Buffer.concat([Buffer.from('"result":['), logs, Buffer.from(']}')]);
}

/** The node's refusal of one block, which was part of a range: the client cannot tell which block it is. */
function namingBlock(refusal: Buffer, block: number): Answer {
  const error = errorOf(refusal);
  return errorAnswer({ ...error, message: `${error.message} (block ${block} alone)` });
}

/** Names the part of the range that was not too large. */
function tooLarge(chunks: readonly Chunk[]): Answer {
  const missing = chunks.findIndex((chunk) => chunk.logs === null);
  const [first] = chunks;
  const last = chunks[missing - 1];
  const works =
    first === undefined || last === undefined
      ? {}
      : { fromBlock: toQuantity(first.from), toBlock: toQuantity(last.to) };
  return errorAnswer({
    code: RpcCode.invalidParams,
    message: `the logs of this range take more than ${MAX_BYTES} bytes; ask for fewer blocks or narrow the filter`,
    data: { maxBytes: MAX_BYTES, ...works },
  });
}
