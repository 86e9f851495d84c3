/**
 * The serving thread's handle on the delivery thread, which runs while there are active hooks, and the messages between
 * the two.
 */

import { guarded } from '../lib/guard.ts';
import type { Logger } from '../log/logger.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { NodeAddress, SelectedNode } from '../node/choice/selected-node.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';
import type { HookStore } from './hook-store.ts';

export interface HooksThreadOptions {
  indexPath: string;
  hooksPath: string;
  labelsPath: string;
  nativeSymbol: string;
  metadataWaitMs: number;
  maxReorg: number;
  tradeLists: ConfiguredTradeLists;
  allowPrivate: boolean;
  /** `inUse`: position of the node used first. */
  node: { addresses: readonly NodeAddress[]; inUse: number; timeoutMs: number; maxBatch: number };
}

/** Since the last report, except for `lag`. */
export interface HooksReport {
  /** Deliveries by outcome. */
  outcomes: Record<'accepted' | 'failed' | 'gone', number>;
  /** Events accepted. */
  events: number;
  /** Blocks by which the slowest active hook lags the index. */
  lag: number;
}

export type ToHooks = { kind: 'changed' } | { kind: 'node'; at: number };

/** How often to check for hook changes by other processes, milliseconds. */
const CHECK_MS = 500;
/** Delays before a failed thread is started again, milliseconds. */
const RESTART_MS = { firstMs: 1_000, longestMs: 60_000 };

interface HooksClientOptions {
  store: HookStore;
  thread: Omit<HooksThreadOptions, 'node'>;
  node: SelectedNode;
  limits: Pick<HooksThreadOptions['node'], 'timeoutMs' | 'maxBatch'>;
  onReport(report: HooksReport): void;
  log: Logger;
}

export class HooksClient {
  private readonly options: HooksClientOptions;
  private readonly timer: NodeJS.Timeout;
  private thread: ThreadHandle<'hooks'> | null = null;
  private readonly unfollow: () => void;
  private isStopped = false;

  constructor(options: HooksClientOptions) {
    this.options = options;
    this.timer = setInterval(
      guarded('check of the hooks', () => this.check()),
      CHECK_MS,
    ).unref();
    this.check();
    this.unfollow = options.node.onSelect((at) => this.thread?.post({ kind: 'node', at }));
  }

  /** Call when the index or a hook has changed. */
  changed(): void {
    this.thread?.post({ kind: 'changed' });
  }

  /** Starts the thread once there is an active hook. */
  check(): void {
    if (this.thread === null && !this.isStopped && this.options.store.hasActive()) this.thread = this.start();
  }

  /** Resolves when the thread has ended, at the latest after `limitMs`. The next start repeats what was in flight. */
  async stop(limitMs?: number): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    this.unfollow();
    await this.thread?.stop(limitMs);
  }

  private start(): ThreadHandle<'hooks'> {
    const { thread: options, node, limits, onReport, log } = this.options;
    return new ThreadHandle('hooks', {
      data: () => ({ ...options, node: { addresses: node.addresses, inUse: node.at, ...limits } }),
      restart: RESTART_MS,
      onMessage: onReport,
      onFailure: (err) => log.error({ err }, 'the webhook thread failed; restarting'),
      log,
    });
  }
}
