/**
 * `eth_getLogs` over ranges too wide for the node: split, collected in order, and all of one chain. Ranges that the node
 * accepts are passed on as they are.
 */

import type { ByteBudget } from '../../lib/byte-budget.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { Logger } from '../../log.ts';
import { readQuantity } from '../../upstream/shape.ts';
import { type Answer, type Call, type Pending, SETTLED, type Taker } from '../call.ts';
import { RpcCode } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { deliver } from '../gathering.ts';
import { blockHeaderOf, errorOf, isResult, resultOf, tailOf } from '../tail.ts';
import { collectLogs, type Range } from './collect.ts';
import { type BlockId, type LogsFilter, plainCall, readLogsFilter } from './filter.ts';
import { NodeRange } from './node-range.ts';
import { refusalOf } from './refusals.ts';

/** The settings of the `[rpc]` table that concern logs. */
export interface LogsSettings {
  logs_max_range: number;
  logs_node_range: number;
}

/** Attempts to collect the logs before giving up because of reorgs meanwhile. */
const MAX_TRIES = 3;

const BLOCK = 'eth_getBlockByNumber';
const BLOCK_NUMBER = 'eth_blockNumber';

export class Logs {
  private readonly gateway: Pick<Gateway, 'run' | 'ask' | 'askFor' | 'askNode' | 'finalized'>;
  private readonly budget: ByteBudget;
  private readonly log: Logger;
  private readonly maxRange: number;
  private readonly nodeRange: NodeRange;

  constructor(
    gateway: Pick<Gateway, 'run' | 'ask' | 'askFor' | 'askNode' | 'finalized'>,
    settings: LogsSettings,
    budget: ByteBudget,
    log: Logger,
  ) {
    this.gateway = gateway;
    this.budget = budget;
    this.log = log;
    this.maxRange = settings.logs_max_range;
    this.nodeRange = new NodeRange(settings.logs_node_range, settings.logs_max_range);
  }

  /** Answers a call of a client. */
  run(asked: Call, taker: Taker, client: number): Pending {
    const call = plainCall(asked);
    if (call === null) {
      taker.take(NOT_ONE_FILTER, 200, true);
      return SETTLED;
    }
    const filter = readLogsFilter(call.args);
    if (filter === null || filter.from === filter.to) return this.gateway.run(call, taker, client);
    const { from, to } = filter;
    if (typeof from === 'number' && typeof to === 'number' && this.isNarrow(from, to)) {
      return this.passOn(call, client, filter, { from, to, last: to }, taker);
    }
    return deliver(taker, this.log, async (signal) => {
      const range = await this.resolve(filter, signal);
      if ('tail' in range) return range;
      if (range.to - range.from >= this.maxRange) return tooWide(range.from, this.maxRange);
      const isAhead = typeof filter.to === 'number' && filter.to > range.to;
      if (isAhead || this.isNarrow(range.from, range.to)) {
        return (later) => this.passOn(call, client, filter, range, later);
      }
      return this.collect(filter, range, client, signal);
    });
  }

  /** Whether the range goes to the node as it is: narrow enough, or inverted, which the node itself refuses. */
  private isNarrow(from: number, to: number): boolean {
    return to - from < this.nodeRange.width;
  }

  /** Passes the call to the node and splits the range only if the node refuses it. */
  private passOn(call: Call, client: number, filter: LogsFilter, range: Range, taker: Taker): Pending {
    if (range.to <= range.from) return this.gateway.run(call, taker, client);
    let split: Pending | null = null;
    const splitting: Taker = {
      streams: taker.streams,
      strict: taker.strict,
      take: (tail, status, kept) => {
        const refusal = status === 200 && !isResult(tail) ? refusalOf(errorOf(tail)) : null;
        if (refusal === null) return taker.take(tail, status, kept);
        if (refusal === 'wide') this.nodeRange.tooWide(range.to - range.from + 1);
        split = deliver(taker, this.log, (signal) => this.collect(filter, range, client, signal));
      },
      begin: () => taker.begin(),
      more: (piece) => taker.more(piece),
      end: () => taker.end(),
      cut: () => taker.cut(),
    };
    const passed = this.gateway.run(call, splitting, client);
    return {
      abandon: () => (split ?? passed).abandon(),
      resume: () => (split ?? passed).resume(),
    };
  }

  /** The ends of the range as heights, at most the head, since nodes differ about blocks above it; or the node's error. */
  private async resolve(filter: LogsFilter, signal: AbortSignal): Promise<Range | Answer> {
    const head = await this.headNumber(signal);
    if (typeof head !== 'number') return head;
    const from = await this.heightOf(filter.from, head, signal);
    if (typeof from !== 'number') return from;
    const to = await this.heightOf(filter.to, head, signal);
    if (typeof to !== 'number') return to;
    const end = Math.min(to, head);
    return { from, to: end, last: typeof filter.to === 'number' ? end : filter.to };
  }

  private async headNumber(signal: AbortSignal): Promise<number | Answer> {
    const answer = await this.gateway.ask(BLOCK_NUMBER, [], signal);
    const number = resultOf(answer.tail);
    return number === undefined ? answer : readQuantity(number, BLOCK_NUMBER, 'result');
  }

  private async heightOf(id: BlockId, head: number, signal: AbortSignal): Promise<number | Answer> {
    if (typeof id === 'number') return id;
    if (id === 'earliest') return 0;
    if (id === 'latest' || id === 'pending') return head;
    const answer = await this.gateway.ask(BLOCK, [id, false], signal);
    return blockHeaderOf(answer.tail, BLOCK)?.number ?? answer;
  }

  private async collect(
    filter: LogsFilter,
    range: Range,
    client: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { from, to } = range;
    const deps = {
      ask: this.gateway.askFor(client),
      nodeRange: this.nodeRange,
      budget: this.budget.of(client),
    };
    // Parts that are asked for one after the other are of one chain if the last block stayed the same, and so
    // everything below it. One part alone is: the node sees to that.
    const mayDiffer = to - Math.max(from, this.gateway.finalized) > this.nodeRange.width;
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const before = mayDiffer ? await this.hashAt(to, signal) : null;
      const answer = await collectLogs(deps, filter, range, signal);
      if (!mayDiffer || !isResult(answer.tail)) return answer;
      if (before === (await this.hashAt(to, signal))) return answer;
    }
    return REORGANISED;
  }

  private async hashAt(block: number, signal: AbortSignal): Promise<string | null> {
    const { tail } = await this.gateway.askNode(BLOCK, [toQuantity(block), false], signal);
    return blockHeaderOf(tail, BLOCK)?.hash ?? null;
  }
}

const REORGANISED: Answer = {
  tail: tailOf({
    code: RpcCode.internal,
    message: 'the chain was reorganised while its logs were collected; ask again',
  }),
  status: 200,
};

const NOT_ONE_FILTER = tailOf({
  code: RpcCode.invalidParams,
  message: 'eth_getLogs takes an array of one filter',
});

function tooWide(from: number, maxRange: number): Answer {
  const error = {
    code: RpcCode.invalidParams,
    message: 'block range too large',
    data: { maxRange, fromBlock: toQuantity(from), toBlock: toQuantity(from + maxRange - 1) },
  };
  return { tail: tailOf(error), status: 200 };
}
