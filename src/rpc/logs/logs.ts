/**
 * `eth_getLogs` over ranges too wide for the node: split, collected in order, and all of one chain. Ranges that the node
 * accepts are passed on as they are.
 */

import type { ByteBudget } from '../../lib/byte-budget.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { Logger } from '../../log.ts';
import { readQuantity } from '../../upstream/field-readers.ts';
import { askBlock, askHeader, headerIn } from '../ask-header.ts';
import { type Answer, type AnswerSink, answerAtOnce, type Call, type CallHandle } from '../call.ts';
import { deliver } from '../collect-answer.ts';
import { errorAnswer, RpcCode } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { isResult, resultOf } from '../payload.ts';
import { collectLogs, type Range } from './collect.ts';
import {
  type BlockParam,
  type LogsQuery,
  longFilterError,
  readLogsQuery,
  sanitizeCall,
} from './logs-query.ts';
import { RangeLimit } from './range-limit.ts';
import { classifyRefusal } from './refusals.ts';

/** The settings of the `[rpc]` table that concern logs. */
export interface LogsSettings {
  logs_max_range: number;
  logs_node_range: number;
}

/** Attempts to collect the logs before giving up because of reorgs meanwhile. */
const MAX_TRIES = 3;

const BLOCK_NUMBER = 'eth_blockNumber';

type NodeAccess = Pick<Gateway, 'run' | 'ask' | 'askOnBehalfOf' | 'askUncached' | 'finalized'>;

export class LogsHandler {
  private readonly gateway: NodeAccess;
  private readonly budget: ByteBudget;
  private readonly log: Logger;
  private readonly maxRange: number;
  private readonly nodeRange: RangeLimit;

  constructor(gateway: NodeAccess, settings: LogsSettings, budget: ByteBudget, log: Logger) {
    this.gateway = gateway;
    this.budget = budget;
    this.log = log;
    this.maxRange = settings.logs_max_range;
    this.nodeRange = new RangeLimit(settings.logs_node_range, settings.logs_max_range);
  }

  /** Answers a call of a client. */
  run(asked: Call, sink: AnswerSink, client: number): CallHandle {
    const call = sanitizeCall(asked);
    if (call === null) return answerAtOnce(sink, NOT_ONE_FILTER);
    const query = readLogsQuery(call.args);
    if (query === null || query.from === query.to) return this.gateway.run(call, sink, client);
    const { from, to } = query;
    if (typeof from === 'number' && typeof to === 'number' && this.isNarrow(from, to)) {
      return this.forward(call, client, query, { from, to, last: to }, sink);
    }
    return deliver(sink, this.log, async (signal) => {
      const range = await this.resolve(query, signal);
      if ('payload' in range) {
        if (!isResult(range.payload)) return range;
        return (later) => this.gateway.run(call, later, client); // the node says what it makes of the tag
      }
      if (range.to - range.from >= this.maxRange) return tooWide(range.from, this.maxRange);
      const isAhead = typeof query.to === 'number' && query.to > range.to;
      if (isAhead || this.isNarrow(range.from, range.to)) {
        return (later) => this.forward(call, client, query, range, later);
      }
      return this.collect(query, range, client, signal);
    });
  }

  /** Whether the range goes to the node as it is: narrow enough, or inverted, which the node itself refuses. */
  private isNarrow(from: number, to: number): boolean {
    return to - from < this.nodeRange.width;
  }

  /** Passes the call to the node and splits the range only if the node refuses it. */
  private forward(call: Call, client: number, query: LogsQuery, range: Range, sink: AnswerSink): CallHandle {
    if (range.to <= range.from) return this.gateway.run(call, sink, client);
    let split: CallHandle | null = null;
    const splitting: AnswerSink = {
      canStream: sink.canStream,
      requiresValidJson: sink.requiresValidJson,
      send: (payload, status, mayRetain) => {
        const refusal = classifyRefusal({ payload, status });
        if (refusal === null) return sink.send(payload, status, mayRetain);
        if (refusal === 'wide') this.nodeRange.tooWide(range.to - range.from + 1);
        split = deliver(sink, this.log, (signal) => this.collect(query, range, client, signal));
      },
      begin: () => sink.begin(),
      write: (piece) => sink.write(piece),
      end: () => sink.end(),
      abort: () => sink.abort(),
    };
    const passed = this.gateway.run(call, splitting, client);
    return {
      cancel: () => (split ?? passed).cancel(),
      resume: () => (split ?? passed).resume(),
    };
  }

  /**
   * The ends of the range as heights, at most the head, since nodes differ about blocks above it; or what the node said
   * instead of the block of a tag: an error or null.
   */
  private async resolve(query: LogsQuery, signal: AbortSignal): Promise<Range | Answer> {
    const head = await this.headNumber(signal);
    if (typeof head !== 'number') return head;
    const from = await this.heightOf(query.from, head, signal);
    if (typeof from !== 'number') return from;
    const to = await this.heightOf(query.to, head, signal);
    if (typeof to !== 'number') return to;
    const end = Math.min(to, head);
    return { from, to: end, last: typeof query.to === 'number' ? end : query.to };
  }

  private async headNumber(signal: AbortSignal): Promise<number | Answer> {
    const answer = await this.gateway.ask(BLOCK_NUMBER, [], signal);
    const number = resultOf(answer.payload);
    return number === undefined ? answer : readQuantity(number, BLOCK_NUMBER, 'result');
  }

  private async heightOf(id: BlockParam, head: number, signal: AbortSignal): Promise<number | Answer> {
    if (typeof id === 'number') return id;
    if (id === 'earliest') return 0;
    if (id === 'latest' || id === 'pending') return head;
    const answer = await askBlock(this.gateway.ask, id, signal);
    return headerIn(answer)?.number ?? answer;
  }

  private async collect(
    query: LogsQuery,
    range: Range,
    client: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const tooLong = longFilterError(query.rest);
    if (tooLong !== null) return errorAnswer(tooLong);
    const { to } = range;
    const deps = {
      ask: this.gateway.askOnBehalfOf(client),
      nodeRange: this.nodeRange,
      budget: this.budget.forClient(client),
    };
    // Chunks that are asked for one after the other are of one chain if the last block stayed the same, and so
    // everything below it.
    const mayDiffer = to > this.gateway.finalized;
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const before = mayDiffer ? await this.hashAt(to, signal) : null;
      if (mayDiffer && before === null) continue;
      const answer = await collectLogs(deps, query, range, signal);
      if (!mayDiffer || !isResult(answer.payload)) return answer;
      if (before === (await this.hashAt(to, signal))) return answer;
    }
    return REORGANISED;
  }

  /** Null when the node does not have the block any more. Rejects with UpstreamError when it answers with an error. */
  private async hashAt(block: number, signal: AbortSignal): Promise<string | null> {
    return (await askHeader(this.gateway.askUncached, toQuantity(block), signal))?.hash ?? null;
  }
}

const REORGANISED = errorAnswer({
  code: RpcCode.internal,
  message: 'the chain was reorganised while its logs were collected; ask again',
});

const NOT_ONE_FILTER = errorAnswer({
  code: RpcCode.invalidParams,
  message: 'eth_getLogs takes an array of one filter',
});

function tooWide(from: number, maxRange: number): Answer {
  return errorAnswer({
    code: RpcCode.invalidParams,
    message: 'block range too large',
    data: { maxRange, fromBlock: toQuantity(from), toBlock: toQuantity(from + maxRange - 1) },
  });
}
