/**
 * The serving thread's handle on the delivery thread, which runs while there are active hooks, and the messages between
 * the two.
 */

import type { Worker } from 'node:worker_threads';
import { backoffMs } from '../lib/async.ts';
import { guarded } from '../lib/guard.ts';
import type { LogFields, Logger } from '../log/logger.ts';
import type { NodeAddress, SelectedNode } from '../node/choice/selected-node.ts';
import { startThread } from '../threads/start-thread.ts';
import type { HookStore } from './hook-store.ts';

export interface HooksThreadOptions {
  indexPath: string;
  hooksPath: string;
  labelsPath: string;
  nativeSymbol: string;
  metadataWaitMs: number;
  maxReorg: number;
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

export type ToHooks = { kind: 'changed' } | { kind: 'node'; at: number } | { kind: 'stop' };

export type FromHooks =
  | { kind: 'report'; report: HooksReport }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: LogFields; msg: string };

/** How often to check for hook changes by other processes, milliseconds. */
const CHECK_MS = 500;
/** Delays before a failed thread is restarted, milliseconds. */
const RESTART_MIN_MS = 1_000;
const RESTART_MAX_MS = 60_000;
/** Longest wait for the thread to end by itself, milliseconds. */
const STOP_MS = 3_000;

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
  private thread: Worker | null = null;
  private readonly unfollow: () => void;
  private failures = 0;
  private startAt = 0;
  private isClosing = false;

  constructor(options: HooksClientOptions) {
    this.options = options;
    this.timer = setInterval(
      guarded('check of the hooks', () => this.check()),
      CHECK_MS,
    ).unref();
    this.check();
    this.unfollow = options.node.onSelect((at) => {
      this.thread?.postMessage({ kind: 'node', at } satisfies ToHooks);
    });
  }

  /** Call when the index or a hook has changed. */
  changed(): void {
    this.thread?.postMessage({ kind: 'changed' } satisfies ToHooks);
  }

  /** Starts the thread once there is an active hook. */
  check(): void {
    if (this.thread !== null || this.isClosing || performance.now() < this.startAt) return;
    if (this.options.store.hasActive()) this.start();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    this.unfollow();
    const { thread } = this;
    if (thread === null) return;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage({ kind: 'stop' } satisfies ToHooks);
    const timer = setTimeout(() => void thread.terminate(), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  private start(): void {
    const { thread: options, node, limits, onReport, log } = this.options;
    const workerData: HooksThreadOptions = {
      ...options,
      node: { addresses: node.addresses, inUse: node.at, ...limits },
    };
    const thread = startThread('hooks', workerData);
    this.thread = thread;
    const onMessage = guarded('message of the hooks', (message: FromHooks) => {
      if (message.kind === 'log') return log[message.level](message.fields, message.msg);
      this.failures = 0;
      onReport(message.report);
    });
    thread.on('message', onMessage);
    thread.on('error', (err) => log.error({ err }, 'the webhook thread failed; restarting'));
    thread.on('exit', () => {
      this.thread = null;
      this.startAt = performance.now() + backoffMs(++this.failures, RESTART_MIN_MS, RESTART_MAX_MS);
    });
  }
}
