/** The serving thread's handle on the key-sharing thread, and the messages between the two. */

import type { Access } from '../access/access.ts';
import type { KeyRow } from '../access/key.ts';
import { clusterCache } from '../access/keys-file.ts';
import type { MonthlyUsage } from '../access/usage-tables.ts';
import { FatalError, RequestError, type RequestErrorCode } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { settingName } from '../lib/setting-name.ts';
import type { ThreadLog } from '../log/logger.ts';
import { type ClusterStatus, INITIAL_CLUSTER_STATUS } from '../model/cluster-status.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';
import type { KeyChange } from './key-table.ts';

export interface ClusterOptions {
  url: string;
  keysPath: string;
  indexPath: string;
  /** Host and port, for display. */
  name: string;
  program: string;
  /** `[tiers.*]` as JSON. */
  tiers: string;
}

export type ToCluster =
  /** New totals in keys.db. */
  { kind: 'usage'; totals: MonthlyUsage[] } | { kind: 'change'; id: number; change: KeyChange };

/** A RequestError on its way between threads. */
interface RefusedChange {
  status: number;
  code: RequestErrorCode;
  message: string;
}

export type FromCluster =
  | { kind: 'status'; status: ClusterStatus }
  /** Keys and usage match PostgreSQL for the first time in this run. */
  | { kind: 'joined' }
  /** The daemon must not serve beside the others. */
  | { kind: 'refused'; message: string }
  /** Totals of the other daemons, and the highest version included. */
  | { kind: 'elsewhere'; totals: MonthlyUsage[]; seen: number }
  /** Requests of this daemon that PostgreSQL has and keys.db has lost. */
  | { kind: 'lost'; rows: MonthlyUsage[] }
  | { kind: 'changed'; id: number; row: KeyRow }
  | { kind: 'unchanged'; id: number; refused: RefusedChange };

/** Longest time to stop, milliseconds, while the last counts are sent. */
const STOP_MS = 4_000;

/** Delay before a failed thread is started again, milliseconds. */
const RESTART_MS = 5_000;

/** Longest wait for a change, milliseconds. */
const CHANGE_MS = 15_000;

/** Most queued changes. They are made one by one. */
const MAX_CHANGES = 16;

interface ClusterListeners {
  onStatus(status: ClusterStatus): void;
  log: ThreadLog;
}

interface PendingChange {
  resolve(row: KeyRow): void;
  reject(error: RequestError): void;
}

export class ClusterClient {
  /** Rejects with FatalError when this daemon must not serve beside the others. */
  readonly failed: Promise<never>;
  private readonly access: Pick<Access, 'keys' | 'usage'>;
  private readonly listeners: ClusterListeners;
  private readonly changes = new Map<number, PendingChange>();
  private lastChange = 0;
  private readonly thread: ThreadHandle<'cluster'>;
  private refuse: (error: FatalError) => void = () => undefined;
  private onFirstReport: (isJoined: boolean) => void = () => undefined;
  /** The last reported status. */
  status: ClusterStatus = INITIAL_CLUSTER_STATUS;

  constructor(options: ClusterOptions, access: Pick<Access, 'keys' | 'usage'>, listeners: ClusterListeners) {
    this.access = access;
    this.listeners = listeners;
    this.failed = new Promise((_, reject) => {
      this.refuse = reject;
    });
    this.failed.catch(() => undefined); // not unhandled: `ready` or the daemon rejects with it
    access.usage.onWritten = (totals) => this.thread.post({ kind: 'usage', totals });
    this.thread = new ThreadHandle('cluster', {
      data: () => options,
      restart: { firstMs: RESTART_MS, longestMs: RESTART_MS },
      onMessage: (message) => this.receive(message),
      onFailure: (error) => {
        this.setStatus({ ...this.status, state: 'connecting', reason: 'sharing keys failed: see the log' });
        listeners.log.error({ reason: error.message }, 'sharing keys failed; restarting');
      },
      onExit: () => {
        for (const id of this.changes.keys()) this.settle(id)?.reject(NO_ANSWER);
      },
      log: listeners.log,
    });
  }

  /**
   * Resolves when the keys match PostgreSQL or, with a cache, when PostgreSQL is unavailable. Rejects with FatalError
   * when there is neither, or when the daemon is refused, and with the reason of the signal when that aborts.
   */
  async ready(signal?: AbortSignal): Promise<void> {
    const first = Promise.withResolvers<boolean>();
    this.onFirstReport = first.resolve;
    const onAbort = () => first.reject(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const isJoined = await Promise.race([first.promise, this.failed]).finally(() =>
      signal?.removeEventListener('abort', onAbort),
    );
    if (isJoined) return;
    if (clusterCache(this.access.keys.db) !== null) return;
    throw new FatalError(
      `${settingName('access.postgres')}: ${this.status.reason ?? 'PostgreSQL cannot be used'}; this daemon ` +
        'has no cache of its keys yet, so it cannot start without it',
    );
  }

  /**
   * Makes a change in PostgreSQL and in keys.db. Rejects with RequestError when nothing was changed, or when the
   * outcome is unknown.
   */
  change(change: KeyChange): Promise<KeyRow> {
    if (this.changes.size >= MAX_CHANGES || !this.thread.isRunning)
      return Promise.reject(new RequestError(503, 'busy', 'keys cannot be changed now; try again'));
    const id = ++this.lastChange;
    return new Promise<KeyRow>((resolve, reject) => {
      const late = setTimeout(
        guarded('key change', () => this.settle(id)?.reject(NO_ANSWER)),
        CHANGE_MS,
      ).unref();
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          clearTimeout(late);
          settle(value);
        };
      this.changes.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.thread.post({ kind: 'change', id, change });
    });
  }

  /** Sends the last counts, if PostgreSQL answers, and ends the thread, within `limitMs`. */
  async stop(limitMs: number = STOP_MS): Promise<void> {
    if (this.thread.isRunning) this.access.usage.flush();
    await this.thread.stop(Math.min(limitMs, STOP_MS));
  }

  private receive(message: FromCluster): void {
    const { keys, usage } = this.access;
    switch (message.kind) {
      case 'status':
        return this.setStatus(message.status);
      case 'joined':
        keys.reloadIfChanged();
        return this.onFirstReport(true);
      case 'refused':
        this.thread.dismiss();
        return this.refuse(new FatalError(message.message));
      case 'elsewhere':
        return usage.setElsewhere(message.totals, message.seen);
      case 'lost':
        usage.addLost(message.rows);
        return usage.flush(); // so that a restarted thread does not report them as lost again
      case 'changed':
        keys.reloadIfChanged();
        return this.settle(message.id)?.resolve(message.row);
      case 'unchanged': {
        const { status, code, message: text } = message.refused;
        return this.settle(message.id)?.reject(new RequestError(status, code, text));
      }
    }
  }

  private setStatus(status: ClusterStatus): void {
    this.status = status;
    this.listeners.onStatus(status);
    if (status.reason !== null) this.onFirstReport(false);
  }

  private settle(id: number): PendingChange | undefined {
    const pending = this.changes.get(id);
    this.changes.delete(id);
    return pending;
  }
}

const NO_ANSWER = new RequestError(
  503,
  'postgres_unavailable',
  'PostgreSQL did not confirm the change: check the list of keys',
);
