/**
 * Filters that clients install and poll. They live here because some nodes (Monad) have none and others lose theirs.
 */
import type { ByteSource } from '../../lib/byte-stream.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { newQuantityId, readQuantityId } from '../../lib/quantity-id.ts';
import { isObject } from '../../lib/text.ts';
import type { Logger } from '../../log/logger.ts';
import type { Call, CallConsumer, CallResult, RequestFn } from '../call.ts';
import type { ByteSourcer } from '../call-dispatcher.ts';
import { deliver } from '../collect-answer.ts';
import { errorResult, RpcCode } from '../errors.ts';
import { longFilterError, normalizeFilter } from '../logs/logs-query.ts';
import { isResult, resultTail } from '../response-tail.ts';
import {
  BlockFilter,
  type Filter,
  PendingFilter,
  type PendingSource,
  PendingView,
  type TrackedChain,
} from './filter.ts';
import { LogFilter, type LogFilterDeps } from './log-filter.ts';

/** Most filters per key. */
const MAX_FILTERS = 64;
/** A filter not polled for this long is removed, milliseconds. Same as geth. */
const IDLE_MS = 5 * 60_000;

interface FilterRegistryDeps {
  chain: TrackedChain;
  /** Fetches logs of a range of any width on behalf of a key. */
  requestLogsFor: (key: number) => RequestFn;
  /** Fetches the logs of blocks of a known chain on behalf of a key; see LogFilterDeps. */
  fetchLogsFor: (key: number) => LogFilterDeps['fetch'];
  /** Announces pending transactions; null if disabled. */
  pending: PendingSource | null;
  /** The highest block known to be final, or -1. */
  finalized: () => number;
  log: Logger;
  /** Monotonic milliseconds. */
  clock: () => number;
}

interface Installed {
  filter: Filter;
  usedAt: number;
  /** Resolves when the last poll ends. Polls of one filter run one after another. */
  polled: Promise<unknown>;
}

export class FilterRegistry {
  private readonly deps: FilterRegistryDeps;
  private readonly pending: PendingView | null;
  /** Filters by key, then by id. */
  private readonly keys = new Map<number, Map<string, Installed>>();

  constructor(deps: FilterRegistryDeps) {
    this.deps = deps;
    this.pending = deps.pending && new PendingView(deps.pending, deps.clock);
  }

  /** The filter methods and their handlers. */
  methods(): [string, ByteSourcer][] {
    const answering =
      (
        work: (args: readonly unknown[], key: number, signal: AbortSignal) => Promise<CallResult>,
      ): ByteSourcer =>
      (call: Call, consumer: CallConsumer, key: number): ByteSource =>
        deliver(consumer, this.deps.log, (signal) => {
          this.evictIdle();
          return work(Array.isArray(call.args) ? call.args : [], key, signal);
        });
    return [
      ['eth_newFilter', answering(([logs], key, signal) => this.newLogFilter(logs, key, signal))],
      ['eth_newBlockFilter', answering((_, key) => this.newBlockFilter(key))],
      ['eth_newPendingTransactionFilter', answering((_, key) => this.newPendingFilter(key))],
      ['eth_getFilterChanges', answering(([id], key, signal) => this.pollFilter(id, key, signal))],
      ['eth_getFilterLogs', answering(([id], key, signal) => this.allLogs(id, key, signal))],
      ['eth_uninstallFilter', answering(async ([id], key) => this.uninstall(id, key))],
    ];
  }

  private async newBlockFilter(key: number): Promise<CallResult> {
    await this.deps.chain.refresh();
    return this.install(new BlockFilter(this.deps.chain), key);
  }

  private async newPendingFilter(key: number): Promise<CallResult> {
    if (this.pending === null) return PENDING_OFF;
    try {
      return this.install(new PendingFilter(this.pending, await this.pending.begin()), key);
    } catch (error) {
      if (error instanceof UpstreamError && error.reason === 'rpc') return PENDING_NOT_OFFERED;
      throw error;
    }
  }

  /** Requests the logs of the head first, so that the node refuses a filter that it does not understand. */
  private async newLogFilter(given: unknown, key: number, signal: AbortSignal): Promise<CallResult> {
    const { blockHash = null, ...ranged } = isObject(given) ? given : {};
    if (!isObject(given) || blockHash !== null) {
      return errorResult({
        code: RpcCode.invalidParams,
        message: 'eth_newFilter takes a filter object without blockHash; for one block use eth_getLogs',
      });
    }
    const normalized = normalizeFilter(ranged);
    if ('error' in normalized) return errorResult(normalized.error);
    const logs = normalized.filter;
    const tooLong = longFilterError(logs);
    if (tooLong !== null) return errorResult(tooLong);
    await this.deps.chain.refresh();
    // By tag, because the tracked head may be above that of a lagging node.
    const head = { fromBlock: 'latest', toBlock: 'latest' };
    const trial = await this.deps.requestLogsFor(key)('eth_getLogs', [{ ...logs, ...head }], signal);
    if (!isResult(trial.tail)) return trial;
    const { chain, finalized, fetchLogsFor } = this.deps;
    return this.install(new LogFilter(logs, { chain, fetch: fetchLogsFor(key), finalized }), key);
  }

  private install(filter: Filter, key: number): CallResult {
    const installed = this.keys.get(key) ?? new Map<string, Installed>();
    if (installed.size >= MAX_FILTERS) {
      return errorResult({
        code: RpcCode.limitExceeded,
        message: `filter limit reached: ${MAX_FILTERS} per key; end one with eth_uninstallFilter`,
      });
    }
    const id = newQuantityId();
    installed.set(id, { filter, usedAt: this.deps.clock(), polled: Promise.resolve() });
    this.keys.set(key, installed);
    return result(`"${id}"`);
  }

  private async pollFilter(id: unknown, key: number, signal: AbortSignal): Promise<CallResult> {
    const installed = this.touch(id, key);
    if (installed === undefined) return UNKNOWN;
    const polling = installed.polled.then(() => installed.filter.poll(signal));
    const forget = () => undefined; // without the answer, which would stay in memory until the next poll
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

  private async allLogs(id: unknown, key: number, signal: AbortSignal): Promise<CallResult> {
    const logs = this.touch(id, key)?.filter.logs ?? null;
    return logs === null ? UNKNOWN : this.deps.requestLogsFor(key)('eth_getLogs', [logs], signal);
  }

  private uninstall(spelled: unknown, key: number): CallResult {
    const installed = this.keys.get(key);
    const id = readQuantityId(spelled);
    const known = id !== null && (installed?.delete(id) ?? false);
    if (installed?.size === 0) this.keys.delete(key);
    return result(String(known));
  }

  private touch(spelled: unknown, key: number): Installed | undefined {
    const id = readQuantityId(spelled);
    const installed = id === null ? undefined : this.keys.get(key)?.get(id);
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

const PENDING_OFF = errorResult({
  code: RpcCode.methodNotFound,
  message: 'eth_newPendingTransactionFilter is switched off here (stream.pending)',
});

const PENDING_NOT_OFFERED = errorResult({
  code: RpcCode.methodNotFound,
  message:
    'eth_newPendingTransactionFilter is not available: the node does not announce pending transactions',
});

/** geth's wording, which clients recognise and react to by reinstalling the filter. */
const UNKNOWN = errorResult({ code: -32000, message: 'filter not found' });

function result(json: string): CallResult {
  return { tail: resultTail(json), status: 200 };
}
