/** Starts a process that runs queries, and ends it when a query takes too much. The driver cannot interrupt a query. */
import { accessSync, constants, realpathSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { pause } from '../../lib/async.ts';
import { messageOf } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import { programArguments } from '../../threads/entries.ts';
import { QueryLimitError, QueryRefusal, QueryStartError } from '../query-refusal.ts';
import type { QueryAnswer, QueryPlan } from '../session.ts';
import {
  DEFAULT_TIMEOUT_MS,
  FILES_EVERY,
  LOG_GRACE_MS,
  LOG_WAIT_MS,
  LONGEST_LOG_WAIT_MS,
  MAX_LOG_BYTES,
  MAX_MEMORY_BYTES,
  MAX_TEMPORARY_BYTES,
  START_MS,
  WATCH_MS,
} from './limits.ts';
import { type FromProcess, PROCESS_COMMAND, type QueriedIndex, type QueryRequest } from './protocol.ts';
import { type Command, QueryChild } from './query-child.ts';
import { ReadingQuery, readingQueries } from './reading-queries.ts';
import { logBytes, namelessFileBytes, residentBytes } from './usage.ts';

export interface RunOptions {
  timeoutMs?: number;
  /** Called before the query runs. */
  onPlan?(plan: QueryPlan): void;
  /** Ends the query. */
  signal?: AbortSignal;
}

/** Tests set lower ones. */
export interface ProcessLimits {
  memoryBytes: number;
  temporaryBytes: number;
  logBytes: number;
  /** Longest start of the process. */
  startMs: number;
}

const LIMITS: ProcessLimits = {
  memoryBytes: MAX_MEMORY_BYTES,
  temporaryBytes: MAX_TEMPORARY_BYTES,
  logBytes: MAX_LOG_BYTES,
  startMs: START_MS,
};

/** A query that runs. */
interface Running {
  /** Null until the process is ready for it. */
  startedAt: number | null;
  options: RunOptions;
  /** The size of the write-ahead log as it began. */
  logBytes: number;
  /** Shows the others that it reads; null at first: a short query holds nobody up. */
  reading: ReadingQuery | null;
  settle: PromiseWithResolvers<QueryAnswer>;
}

/**
 * Runs one query at a time. The process starts with the object, before the index need be known, and again with the
 * query after one that was ended.
 */
export class QueryProcess {
  private index: QueriedIndex | null = null;
  private readonly command: Command;
  private readonly limits: ProcessLimits;
  private child: QueryChild | null = null;
  private running: Running | null = null;
  private temporary: TemporaryFiles | null = null;
  private isClosed = false;

  /** Tests give limits and commands of their own. */
  constructor(
    limits: Partial<ProcessLimits> = {},
    command: Command = [process.execPath, ...programArguments(), PROCESS_COMMAND],
  ) {
    this.command = command;
    this.limits = { ...LIMITS, ...limits };
    this.child = this.start();
  }

  /** The index that queries read: its path, and the lists of `[trades]`. Call it once, before the first query. */
  open(path: string, tradeLists: ConfiguredTradeLists = {}): this {
    this.index = { path, tradeLists };
    this.child?.send(this.index);
    return this;
  }

  /**
   * Throws QueryRefusal for a query that is not run, QueryLimitError for one that took too much, QueryStartError
   * when there is no process that can read the index or no folder for its temporary files, FatalError when the process
   * fails.
   */
  async run(request: QueryRequest, options: RunOptions = {}): Promise<QueryAnswer> {
    if (this.isClosed || this.running !== null) throw new Error('the process is closed or runs a query');
    this.temporary ??= temporaryFiles(this.limits.temporaryBytes);
    const settle = Promise.withResolvers<QueryAnswer>();
    settle.promise.catch(() => undefined); // awaited below
    const running: Running = { startedAt: null, options, settle, logBytes: 0, reading: null };
    this.running = running;
    const onAbort = () => this.end(new QueryLimitError('ended on request'));
    options.signal?.addEventListener('abort', onAbort);
    let looks = 0;
    const watch = setInterval(
      guarded('watch of a query', () => this.look(looks++)),
      WATCH_MS,
    );
    try {
      await this.waitForLog(() => options.signal?.aborted === true || this.isClosed);
      if (options.signal?.aborted || this.isClosed) onAbort();
      else this.send(request, running);
      return await settle.promise;
    } finally {
      clearInterval(watch);
      options.signal?.removeEventListener('abort', onAbort);
      running.reading?.end();
      this.running = null;
    }
  }

  /** Ends the query that runs, with this error. */
  end(error: Error): void {
    this.child?.end();
    this.child = null;
    this.running?.settle.reject(error);
  }

  async close(): Promise<void> {
    const { child } = this;
    this.isClosed = true;
    child?.ref(); // the wait below
    this.end(new QueryLimitError('ended: atlas-node stops'));
    await child?.gone;
  }

  /**
   * Waits until a large write-ahead log has started over, which it cannot while queries read, of whatever process. If
   * none does, the log is large for another reason, and the query begins after a short while.
   */
  private async waitForLog(isGivenUp: () => boolean): Promise<void> {
    const startedAt = performance.now();
    let freeSince = startedAt;
    while (logBytes(this.path) > this.limits.logBytes && !isGivenUp()) {
      const now = performance.now();
      if (readingQueries(this.path).count > 0) freeSince = now;
      if (now - freeSince > LOG_WAIT_MS) return;
      if (now - startedAt > LONGEST_LOG_WAIT_MS)
        throw new QueryLimitError(
          'not begun: the write-ahead log of the index is large, and other queries hold it back; try again later',
        );
      await pause(WATCH_MS);
    }
  }

  private get path(): string {
    if (this.index === null) throw new Error('a query before open()');
    return this.index.path;
  }

  private send(request: QueryRequest, running: Running): void {
    this.child ??= this.start();
    const { child } = this;
    child.whenReady(() => {
      if (this.running !== running) return;
      running.startedAt = performance.now();
      running.logBytes = logBytes(this.path);
      child.send({ ...request, wantsPlan: running.options.onPlan !== undefined });
    });
  }

  private start(): QueryChild {
    const child: QueryChild = new QueryChild(this.command, this.limits.startMs, {
      onMessage: (message) => this.receive(message),
      onFailure: (error) => {
        if (this.child === child) this.end(error);
      },
    });
    if (this.index !== null) child.send(this.index);
    return child;
  }

  private receive(message: FromProcess): void {
    const { running } = this;
    if (running === null) return;
    if ('plan' in message) running.options.onPlan?.(message);
    if ('answer' in message) running.settle.resolve(message.answer);
    if ('refused' in message) running.settle.reject(new QueryRefusal(message.refused));
  }

  /** Ends the query when it has taken too much. */
  private look(looks: number): void {
    const { running, child, temporary } = this;
    if (running === null || running.startedAt === null || child?.pid === undefined) return;
    const elapsed = performance.now() - running.startedAt;
    running.reading ??= new ReadingQuery(this.path, Date.now() - Math.round(elapsed));
    const timeoutMs = running.options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    if (elapsed > timeoutMs)
      return this.end(new QueryLimitError(`ended after ${timeoutMs / 1000} s: ask for less`, true));
    if (residentBytes(child.pid) > this.limits.memoryBytes)
      return this.end(
        new QueryLimitError(
          `ended: it took more than ${mib(this.limits.memoryBytes)} MiB of memory; build smaller texts, or ` +
            'group and sort fewer rows',
        ),
      );
    if (looks % FILES_EVERY !== 0) return;
    if (temporary !== null && namelessFileBytes(child.pid, temporary.folder) > temporary.mostBytes)
      return this.end(
        new QueryLimitError(
          `ended: it took more than ${mib(temporary.mostBytes)} MiB of temporary files; sort or ` +
            'group fewer rows, or export the table',
        ),
      );
    running.reading.show();
    // A log that was large before this query may be so for another reason.
    const limit = Math.max(this.limits.logBytes, running.logBytes * 2);
    if (elapsed > LOG_GRACE_MS && logBytes(this.path) > limit && running.reading.isOldest())
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

interface TemporaryFiles {
  /** As the system names it. */
  folder: string;
  mostBytes: number;
}

/** Those of SQLite, which would take another folder in place of one that it cannot write to. */
function temporaryFiles(mostBytes: number): TemporaryFiles {
  try {
    const folder = realpathSync(tmpdir());
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    return { folder, mostBytes: Math.min(mostBytes, (bavail * bsize) / 4) };
  } catch (error) {
    throw new QueryStartError(
      `there is no folder for the temporary files of queries: ${messageOf(error)}; name another one with TMPDIR`,
    );
  }
}
