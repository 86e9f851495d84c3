/** Filters that clients install and poll, kept here since some nodes (Monad) have none and others lose theirs. */
import { randomBytes } from 'node:crypto';
import { bytesToHex } from '../../lib/hex.ts';
import { isObject } from '../../lib/is-object.ts';
import type { Logger } from '../../log.ts';
import type { Answer, AnswerSink, Call, CallHandle, RequestFn } from '../call.ts';
import type { CallHandler } from '../call-dispatcher.ts';
import { deliver } from '../collect-answer.ts';
import { errorAnswer, RpcCode } from '../errors.ts';
import { longFilterError, sanitizeFilter } from '../logs/logs-query.ts';
import { isResult, resultPayload } from '../payload.ts';
import { BlockFilter } from './block-filter.ts';
import { ChainView } from './chain-view.ts';
import type { Filter } from './filter.ts';
import { LogFilter } from './log-filter.ts';

/** Most filters of one key. */
const MAX_FILTERS = 64;
/** A filter not polled for so long is removed, milliseconds; the same as geth. */
const IDLE_MS = 5 * 60_000;

export interface FilterRegistryDeps {
  /** Asks the node through merging and cache. */
  ask: RequestFn;
  /** Asks the node itself. */
  askUncached: RequestFn;
  /** Fetches logs of a range of any width on behalf of a key. */
  askLogsFor: (key: number) => RequestFn;
  /** The highest block known to be final, or -1. */
  finalized: () => number;
  log: Logger;
  /** Milliseconds that only go forward. */
  clock: () => number;
}

interface Installed {
  filter: Filter;
  usedAt: number;
  /** Resolves when the last poll ends: polls of one filter run one after another. */
  polled: Promise<unknown>;
}

export class FilterRegistry {
  private readonly deps: FilterRegistryDeps;
  private readonly view: ChainView;
  /** By key, then by id. */
  private readonly keys = new Map<number, Map<string, Installed>>();

  constructor(deps: FilterRegistryDeps) {
    this.deps = deps;
    this.view = new ChainView(deps.ask, deps.askUncached);
  }

  /** The methods that are answered here. */
  methods(): [string, CallHandler][] {
    const answering =
      (work: (args: readonly unknown[], key: number, signal: AbortSignal) => Promise<Answer>): CallHandler =>
      (call: Call, sink: AnswerSink, key: number): CallHandle =>
        deliver(sink, this.deps.log, (signal) => {
          this.evictIdle();
          return work(Array.isArray(call.args) ? call.args : [], key, signal);
        });
    return [
      ['eth_newFilter', answering(([logs], key, signal) => this.newLogFilter(logs, key, signal))],
      ['eth_newBlockFilter', answering((_, key) => this.newBlockFilter(key))],
      ['eth_getFilterChanges', answering(([id], key, signal) => this.pollFilter(id, key, signal))],
      ['eth_getFilterLogs', answering(([id], key, signal) => this.allLogs(id, key, signal))],
      ['eth_uninstallFilter', answering(async ([id], key) => this.uninstall(id, key))],
    ];
  }

  private async newBlockFilter(key: number): Promise<Answer> {
    await this.view.refresh();
    return this.install(new BlockFilter(this.view), key);
  }

  /** Asks the node for the logs of its head first, so that the node refuses a filter it does not understand. */
  private async newLogFilter(given: unknown, key: number, signal: AbortSignal): Promise<Answer> {
    if (!isObject(given) || 'blockHash' in given) {
      return errorAnswer({
        code: RpcCode.invalidParams,
        message: 'eth_newFilter takes a filter object without blockHash; for one block use eth_getLogs',
      });
    }
    const logs = sanitizeFilter(given);
    const tooLong = longFilterError(logs);
    if (tooLong !== null) return errorAnswer(tooLong);
    await this.view.refresh();
    const ask = this.deps.askLogsFor(key);
    // By its tag: the head of the view may be above that of a node which is behind.
    const head = { fromBlock: 'latest', toBlock: 'latest' };
    const trial = await ask('eth_getLogs', [{ ...logs, ...head }], signal);
    if (!isResult(trial.payload)) return trial;
    const { finalized } = this.deps;
    return this.install(new LogFilter(logs, { view: this.view, ask, finalized }), key);
  }

  private install(filter: Filter, key: number): Answer {
    const installed = this.keys.get(key) ?? new Map<string, Installed>();
    if (installed.size >= MAX_FILTERS) {
      return errorAnswer({
        code: RpcCode.limitExceeded,
        message: `filter limit reached: ${MAX_FILTERS} per key; end one with eth_uninstallFilter`,
      });
    }
    const id = bytesToHex(randomBytes(16));
    installed.set(id, { filter, usedAt: this.deps.clock(), polled: Promise.resolve() });
    this.keys.set(key, installed);
    return result(`"${id}"`);
  }

  private async pollFilter(id: unknown, key: number, signal: AbortSignal): Promise<Answer> {
    const installed = this.touch(id, key);
    if (installed === undefined) return UNKNOWN;
    const polling = installed.polled.then(() => installed.filter.poll(signal));
    const forget = () => undefined; // else the answer would be kept until the next poll
    installed.polled = polling.then(forget, forget);
    const changes = await polling;
    switch (changes.kind) {
      case 'list':
        return result(changes.json);
      case 'answer':
        return changes.answer;
      case 'lost':
        this.uninstall(id, key);
        return UNKNOWN;
    }
  }

  private async allLogs(id: unknown, key: number, signal: AbortSignal): Promise<Answer> {
    const logs = this.touch(id, key)?.filter.logs ?? null;
    return logs === null ? UNKNOWN : this.deps.askLogsFor(key)('eth_getLogs', [logs], signal);
  }

  private uninstall(id: unknown, key: number): Answer {
    const installed = this.keys.get(key);
    const known = typeof id === 'string' && (installed?.delete(id) ?? false);
    if (installed?.size === 0) this.keys.delete(key);
    return result(String(known));
  }

  private touch(id: unknown, key: number): Installed | undefined {
    const installed = typeof id === 'string' ? this.keys.get(key)?.get(id) : undefined;
    if (installed !== undefined) installed.usedAt = this.deps.clock();
    return installed;
  }

  private evictIdle(): void {
    const oldest = this.deps.clock() - IDLE_MS;
    for (const [key, installed] of this.keys) {
      for (const [id, { usedAt }] of installed) if (usedAt < oldest) installed.delete(id);
      if (installed.size === 0) this.keys.delete(key);
    }
  }
}

/** geth's wording, which clients recognise: they then install the filter again. */
const UNKNOWN = errorAnswer({ code: -32000, message: 'filter not found' });

function result(json: string): Answer {
  return { payload: resultPayload(json), status: 200 };
}
