/**
 * `eth_getLogs` over ranges too wide for the node: split, collected in order, and consistent with one chain. Ranges
 * that the node accepts are forwarded unchanged.
 */
import { pause } from '../../lib/async.ts';
import type { ByteBudget } from '../../lib/byte-budget.ts';
import type { ByteSource } from '../../lib/byte-stream.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { Logger } from '../../log/logger.ts';
import { isFinal } from '../../model/finality.ts';
import { type BlockHeader, readBlockHeader } from '../../node/methods.ts';
import { readQuantity } from '../../node/reply.ts';
import { type Call, type CallConsumer, type CallResult, type RequestFn, sendResult } from '../call.ts';
import { deliver, whole } from '../collect-answer.ts';
import { errorResult, RpcCode } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { LargeAnswer } from '../large-answer.ts';
import { rateLimitIn, UNTIMED } from '../rate-limit.ts';
import { isResult, resultOf } from '../response-tail.ts';
import { type CollectDeps, collectLogs, type Range } from './collect.ts';
import {
  type BlockParam,
  type LogsQuery,
  lastBlockOf,
  longFilterError,
  normalizeCall,
  readLogsQuery,
} from './logs-query.ts';
import { RangeLimit } from './node-range.ts';
import { RangeDescent } from './range-descent.ts';

/** The settings of the `[rpc]` table that concern logs. */
export interface LogsSettings {
  logs_max_range: number;
  logs_node_range: number;
}

/** Attempts to collect the logs before giving up because of reorgs. */
const MAX_TRIES = 3;
/** Attempts to get a part from a node that has the part's last block. */
const MAX_PART_TRIES = 4;

const BLOCK_NUMBER = 'eth_blockNumber';

type NodeAccess = Pick<
  Gateway,
  'run' | 'request' | 'requestFor' | 'requestUncached' | 'requestAnchored' | 'finalized' | 'node'
>;

/** The hash of the known block at a height, undefined without one. */
export type HashAt = (number: number) => string | undefined;

/** What is known of one node's ranges. */
interface NodeRanges {
  limit: RangeLimit;
  descent: RangeDescent;
}

export class LogsHandler {
  private readonly gateway: NodeAccess;
  private readonly budget: ByteBudget;
  private readonly log: Logger;
  private readonly maxRange: number;
  private readonly configuredRange: number;
  /** By the node's position in the configuration; undefined for the only one. */
  private readonly rangesByNode = new Map<number | undefined, NodeRanges>();
  private readonly requestHash: RequestFn;

  constructor(gateway: NodeAccess, settings: LogsSettings, budget: ByteBudget, log: Logger) {
    this.gateway = gateway;
    this.budget = budget;
    this.log = log;
    this.maxRange = settings.logs_max_range;
    this.requestHash = patient(gateway.requestUncached);
    this.configuredRange = settings.logs_node_range;
  }

  /** The ranges of the node in use. */
  private get ranges(): NodeRanges {
    const { gateway, rangesByNode } = this;
    const { node, requestUncached: request } = gateway;
    let ranges = rangesByNode.get(node);
    if (ranges === undefined) {
      const nodeRange = new RangeLimit(this.configuredRange, this.maxRange);
      const isInUse = () => gateway.node === node;
      ranges = { limit: nodeRange, descent: new RangeDescent({ request, nodeRange, isInUse }) };
      rangesByNode.set(node, ranges);
    }
    return ranges;
  }

  /** Answers a call of a client. */
  run(asked: Call, consumer: CallConsumer, client: number): ByteSource {
    const call = normalizeCall(asked);
    if ('error' in call) return sendResult(consumer, errorResult(call.error));
    const query = readLogsQuery(call.args);
    if (query === null || query.from === query.to) return this.gateway.run(call, consumer, client);
    const { from, to } = query;
    if (typeof from === 'number' && typeof to === 'number' && this.isNarrow(from, to)) {
      return this.forward(call, client, query, { from, to, last: to }, consumer);
    }
    return deliver(consumer, this.log, async (signal) => {
      const range = await this.resolve(query, signal);
      if ('tail' in range) {
        if (!isResult(range.tail)) return range;
        return (later) => this.gateway.run(call, later, client); // the node decides about the tag
      }
      if (range.to - range.from >= this.maxRange) return tooWide(range.from, this.maxRange);
      const isAhead = typeof query.to === 'number' && query.to > range.to;
      if (isAhead || this.isNarrow(range.from, range.to)) {
        return (later) => this.forward(call, client, query, range, later);
      }
      return this.collect(query, range, client, signal);
    });
  }

  /**
   * Resolves with the logs of blocks of the chain that `hashAt` describes, or with the first error. Rejects with the
   * signal's reason, or with UpstreamError, `inconsistent` when the answering nodes lack these blocks.
   */
  async logsOfChain(
    query: LogsQuery & { from: number; to: number },
    hashAt: HashAt,
    client: number,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const { from, to } = query;
    if (to - from >= this.maxRange) return tooWide(from, this.maxRange);
    const deps = this.collectDeps(client, hashAt);
    return whole(await collectLogs(deps, query, { from, to, last: to }, signal));
  }

  /** Whether to forward the range unchanged: narrow enough, or inverted, which the node itself refuses. */
  private isNarrow(from: number, to: number): boolean {
    return to - from < this.ranges.limit.width;
  }

  /** Forwards the call to the node and splits the range only if the node refuses it. */
  private forward(
    call: Call,
    client: number,
    query: LogsQuery,
    range: Range,
    consumer: CallConsumer,
  ): ByteSource {
    if (range.to <= range.from) return this.gateway.run(call, consumer, client);
    let split: ByteSource | null = null;
    const splitting: CallConsumer = {
      canStream: consumer.canStream,
      requiresValidJson: consumer.requiresValidJson,
      send: (tail, status, mayRetain, retryAfter, httpStatus) => {
        const width = range.to - range.from + 1;
        if (tail instanceof LargeAnswer) return consumer.send(tail, status, mayRetain, retryAfter);
        const { limit, descent } = this.ranges;
        const refusal = descent.known({ tail, status });
        if (refusal === 'wide') limit.tooWide(width);
        if (refusal === null && !descent.mayLearn({ tail, status, httpStatus }, width)) {
          return consumer.send(tail, status, mayRetain, retryAfter);
        }
        const answer = { tail: mayRetain ? tail : Buffer.from(tail), status, httpStatus };
        split = deliver(consumer, this.log, async (signal) => {
          const reason = refusal ?? (await descent.classify(answer, query, range.from, range.to));
          return reason === null ? answer : this.collect(query, range, client, signal);
        });
      },
      begin: () => consumer.begin(),
      write: (piece) => consumer.write(piece),
      end: (last) => consumer.end(last),
      abort: () => consumer.abort(),
    };
    const passed = this.gateway.run(call, splitting, client);
    return {
      cancel: () => (split ?? passed).cancel(),
      resume: () => (split ?? passed).resume(),
    };
  }

  /**
   * The bounds of the range as heights, capped at the head because nodes disagree about blocks above it; or, when the
   * node has no block for a tag, its answer: an error or null.
   */
  private async resolve(query: LogsQuery, signal: AbortSignal): Promise<Range | CallResult> {
    const head = await this.headNumber(signal);
    if (typeof head !== 'number') return head;
    const from = await this.heightOf(query.from, head, signal);
    if (typeof from !== 'number') return from;
    const to = await this.heightOf(query.to, head, signal);
    if (typeof to !== 'number') return to;
    const end = Math.min(to, head);
    return { from, to: end, last: typeof query.to === 'number' ? end : query.to };
  }

  private async headNumber(signal: AbortSignal): Promise<number | CallResult> {
    const answer = await this.gateway.request(BLOCK_NUMBER, [], signal);
    const number = resultOf(answer.tail);
    return number === undefined ? answer : readQuantity(number, BLOCK_NUMBER, 'result');
  }

  private async heightOf(id: BlockParam, head: number, signal: AbortSignal): Promise<number | CallResult> {
    if (typeof id === 'number') return id;
    if (id === 'earliest') return 0;
    if (id === 'latest' || id === 'pending') return head;
    const answer = await fetchBlockThrough(this.gateway.request, id, signal);
    return headerIn(answer)?.number ?? answer;
  }

  private async collect(
    query: LogsQuery,
    range: Range,
    client: number,
    signal: AbortSignal,
  ): Promise<CallResult | LargeAnswer> {
    const tooLong = longFilterError(query.rest);
    if (tooLong !== null) return errorResult(tooLong);
    const { to } = range;
    const deps = this.collectDeps(client, () => undefined);
    // Chunks requested one after another are of one chain if the last block stayed the same, and with it everything
    // below.
    const mayDiffer = !isFinal(to, this.gateway.finalized);
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const before = mayDiffer ? await this.hashAt(to, signal) : null;
      if (mayDiffer && before === null) continue;
      const answer = await collectLogs(deps, query, range, signal);
      if (!mayDiffer) return answer;
      if (!(answer instanceof LargeAnswer)) {
        if (!isResult(answer.tail) || before === (await this.hashAt(to, signal))) return answer;
      } else if (await this.isStillAt(answer, to, before, signal)) return answer;
    }
    return REORGANISED;
  }

  /** Whether the block still has that hash. If not, or if the request fails, discards the answer. */
  private async isStillAt(
    answer: LargeAnswer,
    block: number,
    hash: string | null,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isStill = false;
    try {
      isStill = hash === (await this.hashAt(block, signal));
      return isStill;
    } finally {
      if (!isStill) answer.discard();
    }
  }

  private collectDeps(client: number, hashAt: HashAt): CollectDeps {
    const { limit: nodeRange, descent } = this.ranges;
    const request = patient(this.requestPart(client, hashAt));
    return { request, nodeRange, descent, budget: this.budget.forClient(client) };
  }

  /**
   * Requests a part from a node that has its last block: a lagging node would cut the part at its head. A part that
   * ends with a tag ends wherever the answering node says. A node without batches is assumed to be the only one.
   */
  private requestPart(client: number, hashAt: HashAt): RequestFn {
    const request = this.gateway.requestAnchored(client);
    return async (method, params, signal) => {
      const to = lastBlockOf(params);
      if (to === null) return this.gateway.requestFor(client)(method, params, signal);
      const block = toQuantity(to);
      const expected = hashAt(to);
      // Anchor before and after the logs if they must be of the expected branch.
      const after = expected === undefined ? [] : [block];
      for (let attempt = 1; ; attempt++) {
        const anchors = { before: [block], after, newSocket: attempt > 1 };
        const { answer, isFinal, headers } = await request(method, params, anchors, signal);
        if (answer.retryAfter !== undefined) return answer;
        const has =
          headers === null
            ? expected === undefined || (await this.hashAt(to, signal)) === expected
            : headers.every((header) => header?.number === to && header.hash === (expected ?? header.hash));
        if (isFinal || has) return answer;
        if (attempt < MAX_PART_TRIES) continue;
        // A client gets an error about missing blocks as it is; a filter waits until the node has the blocks.
        if (expected === undefined && !isResult(answer.tail)) return answer;
        throw new UpstreamError(
          'inconsistent',
          `${method}: the node does not have block ${to} of this chain now`,
        );
      }
    };
  }

  /**
   * Null when the node no longer has the block, or, lagging behind others, does not have it yet. Rejects with
   * UpstreamError when the node answers with an error.
   */
  private async hashAt(block: number, signal?: AbortSignal): Promise<string | null> {
    for (let attempt = 1; attempt <= MAX_PART_TRIES; attempt++) {
      const header = await fetchHeaderThrough(this.requestHash, toQuantity(block), signal);
      if (header !== null) return header.hash;
    }
    return null;
  }
}

/** Waits of a part of a range for a node that limits its calls: their number, and the longest, milliseconds. */
const MAX_WAITS = 2;
const LONGEST_WAIT_MS = 2_000;

/** Repeats a request that the node refuses for a while, by its status or only in words. */
function patient(request: RequestFn): RequestFn {
  return async (method, params, signal) => {
    for (let waits = 0; ; waits++) {
      const answer = await request(method, params, signal);
      const { tail, retryAfter = rateLimitIn(tail) === null ? undefined : UNTIMED.retryAfter } = answer;
      if (retryAfter === undefined || waits === MAX_WAITS) return answer;
      await pause(Math.min(LONGEST_WAIT_MS, retryAfter * 1000), signal);
      signal?.throwIfAborted();
    }
  };
}

const REORGANISED = errorResult({
  code: RpcCode.internal,
  message: 'the chain was reorganised while its logs were collected; retry',
});

function tooWide(from: number, maxRange: number): CallResult {
  return errorResult({
    code: RpcCode.invalidParams,
    message: 'block range too large',
    data: { maxRange, fromBlock: toQuantity(from), toBlock: toQuantity(from + maxRange - 1) },
  });
}

const METHOD = 'eth_getBlockByNumber';

/** Requests the block of a tag or quantity. */
function fetchBlockThrough(request: RequestFn, id: string, signal?: AbortSignal): Promise<CallResult> {
  return request(METHOD, [id, false], signal);
}

/** The header in an answer of `fetchBlockThrough`; null for null or an error. Throws UpstreamError `malformed`. */
export function headerIn({ tail }: CallResult): BlockHeader | null {
  const block = resultOf(tail) ?? null;
  return block === null ? null : readBlockHeader(block, METHOD);
}

/** The header of a block, null when the node lacks the block. Rejects with UpstreamError when the node refuses. */
async function fetchHeaderThrough(
  request: RequestFn,
  id: string,
  signal?: AbortSignal,
): Promise<BlockHeader | null> {
  const answer = await fetchBlockThrough(request, id, signal);
  const { status, retryAfter } = answer;
  if (retryAfter !== undefined) {
    throw new UpstreamError('http', `${METHOD}: HTTP ${status}`, undefined, {
      httpStatus: status,
      retryAfter,
    });
  }
  if (!isResult(answer.tail)) {
    throw new UpstreamError('connection', `${METHOD}: the node refuses block ${id}`);
  }
  return headerIn(answer);
}
