/** Starts a process that runs queries, and ends it when a query takes too much. The driver cannot interrupt a query. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../../lib/async.ts';
import { FatalError } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import { killOnParentExit, removeOnParentExit } from '../../lib/kill-on-parent-exit.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import { programArguments } from '../../threads/entries.ts';
import { QueryLimitError, QueryRefusal } from '../query-refusal.ts';
import type { QueryAnswer, TablePlan } from '../session.ts';
import {
  DEFAULT_TIMEOUT_MS,
  FILES_EVERY,
  LOG_GRACE_MS,
  LOG_WAIT_MS,
  MAX_LOG_BYTES,
  MAX_MEMORY_BYTES,
  MAX_TEMPORARY_BYTES,
  WATCH_MS,
} from './limits.ts';
import { type FromProcess, PROCESS_COMMAND, type QueryRequest } from './protocol.ts';
import { logBytes, openFileBytes, residentBytes } from './usage.ts';

export interface RunOptions {
  timeoutMs?: number;
  /** Called before the query runs. */
  onPlan?(plan: TablePlan[]): void;
  /** Ends the query. */
  signal?: AbortSignal;
}

/** Tests set lower ones. */
export interface ProcessLimits {
  memoryBytes: number;
  temporaryBytes: number;
  logBytes: number;
}

const LIMITS: ProcessLimits = {
  memoryBytes: MAX_MEMORY_BYTES,
  temporaryBytes: MAX_TEMPORARY_BYTES,
  logBytes: MAX_LOG_BYTES,
};

/** A query that runs. */
interface Running {
  startedAt: number;
  options: RunOptions;
  /** The size of the write-ahead log as it began. */
  logBytes: number;
  settle: PromiseWithResolvers<QueryAnswer>;
}

/** Runs one query at a time. The process starts with the object, and again after one was ended. */
export class QueryProcess {
  private readonly path: string;
  private readonly tradeLists: ConfiguredTradeLists;
  private readonly limits: ProcessLimits;
  private readonly folder = mkdtempSync(join(tmpdir(), 'atlas-sql-'));
  private child: ChildProcess | null = null;
  private running: Running | null = null;
  private isClosed = false;

  /** `path` of the index, and the lists of `[trades]`. */
  constructor(path: string, tradeLists: ConfiguredTradeLists = {}, limits: Partial<ProcessLimits> = {}) {
    this.path = path;
    this.tradeLists = tradeLists;
    const free = statfsSync(this.folder);
    const temporaryBytes = Math.min(LIMITS.temporaryBytes, (free.bavail * free.bsize) / 4);
    this.limits = { ...LIMITS, temporaryBytes, ...limits };
    removeOnParentExit(this.folder);
    this.start();
  }

  get isBusy(): boolean {
    return this.running !== null;
  }

  /** When the running query began, by `performance.now()`; null while there is none. */
  get busySince(): number | null {
    return this.running?.startedAt ?? null;
  }

  /**
   * Throws QueryRefusal for a query that is not run, QueryLimitError for one that took too much, FatalError when the
   * index cannot be read.
   */
  async run(request: QueryRequest, options: RunOptions = {}): Promise<QueryAnswer> {
    if (this.isClosed || this.running !== null) throw new Error('the process is closed or runs a query');
    const settle = Promise.withResolvers<QueryAnswer>();
    settle.promise.catch(() => undefined); // awaited below
    const running: Running = { startedAt: performance.now(), options, settle, logBytes: 0 };
    this.running = running;
    const onAbort = () => this.end(new QueryLimitError('ended on request'));
    options.signal?.addEventListener('abort', onAbort);
    let looks = 0;
    const watch = setInterval(
      guarded('watch of a query', () => this.look(looks++)),
      WATCH_MS,
    );
    try {
      await this.waitForLog();
      Object.assign(running, { startedAt: performance.now(), logBytes: logBytes(this.path) });
      if (options.signal?.aborted || this.isClosed) onAbort();
      else this.send(request);
      return await settle.promise;
    } finally {
      clearInterval(watch);
      options.signal?.removeEventListener('abort', onAbort);
      this.running = null;
    }
  }

  /** Ends the query that runs, with this error. */
  end(error: Error): void {
    const { child, running } = this;
    this.child = null;
    child?.kill('SIGKILL');
    running?.settle.reject(error);
  }

  async close(): Promise<void> {
    const { child } = this;
    this.isClosed = true;
    child?.ref(); // the wait below
    this.end(new QueryLimitError('ended: atlas-node stops'));
    if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private send(request: QueryRequest): void {
    const child = this.child ?? this.start();
    child.send(request, (error) => {
      if (error !== null) this.fail(child, '');
    });
  }

  /** Waits until a large write-ahead log has started over, which it cannot while queries follow each other. */
  private async waitForLog(): Promise<void> {
    const until = performance.now() + LOG_WAIT_MS;
    while (logBytes(this.path) > this.limits.logBytes && performance.now() < until) await pause(WATCH_MS);
  }

  private start(): ChildProcess {
    const child = spawn(
      process.execPath,
      [...programArguments(), PROCESS_COMMAND, this.path, JSON.stringify(this.tradeLists)],
      {
        // In a process group of its own: Ctrl-C at a terminal ends a query by the one that watches it.
        detached: true,
        env: { ...process.env, SQLITE_TMPDIR: this.folder, TMPDIR: this.folder },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    );
    killOnParentExit(child);
    this.child = child;
    let lastLines = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastLines = (lastLines + text).slice(-2_000);
    });
    const receive = (message: FromProcess) => this.receive(message);
    child.on('message', guarded('message of a query process', receive));
    child.on('error', () => this.fail(child, lastLines));
    child.on('exit', () => this.fail(child, lastLines));
    child.unref();
    child.channel?.unref();
    return child;
  }

  private receive(message: FromProcess): void {
    const { running } = this;
    if (running === null) return;
    if ('plan' in message) running.options.onPlan?.(message.plan);
    if ('answer' in message) running.settle.resolve(message.answer);
    if ('refused' in message) running.settle.reject(new QueryRefusal(message.refused));
    if ('failed' in message) running.settle.reject(new FatalError(message.failed));
  }

  /** The process ended by itself. */
  private fail(child: ChildProcess, lines: string): void {
    if (this.child !== child) return;
    this.child = null;
    const isOutOfMemory = /heap|memory|allocation/i.test(lines) || child.signalCode === 'SIGKILL';
    this.running?.settle.reject(
      isOutOfMemory
        ? new QueryLimitError('ended: the query needed more memory than there is')
        : new FatalError(
            `the process of the query ended: ${lines.trim().split('\n').at(-1) || child.signalCode}`,
          ),
    );
  }

  /** Ends the query when it has taken too much. */
  private look(looks: number): void {
    const { running, child } = this;
    if (running === null || child?.pid === undefined) return;
    const elapsed = performance.now() - running.startedAt;
    const timeoutMs = running.options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    if (elapsed > timeoutMs)
      return this.end(
        new QueryLimitError(`ended after ${timeoutMs / 1000} s: ask for less, or raise --timeout`),
      );
    if (residentBytes(child.pid) > this.limits.memoryBytes)
      return this.end(
        new QueryLimitError(
          `ended: it took more than ${mib(this.limits.memoryBytes)} MiB of memory; build smaller texts, or group and sort fewer rows`,
        ),
      );
    if (looks % FILES_EVERY !== 0) return;
    if (openFileBytes(child.pid, this.folder) > this.limits.temporaryBytes)
      return this.end(
        new QueryLimitError(
          `ended: it took more than ${mib(this.limits.temporaryBytes)} MiB of temporary files; sort or group fewer rows, or export the table`,
        ),
      );
    const limit = Math.max(this.limits.logBytes, running.logBytes * 2);
    if (elapsed > LOG_GRACE_MS && logBytes(this.path) > limit)
      this.end(
        new QueryLimitError(
          `ended: the daemon wrote ${mib(limit)} MiB while the query held them back; try again with a shorter one`,
        ),
      );
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
