/** The processes in which a daemon runs queries, with a queue before them. */
import { backoffMs } from '../../lib/async.ts';
import { BusyError, RequestError } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import { QueryLimitError, QueryRefusal, QueryStartError } from '../query-refusal.ts';
import type { QueryAnswer } from '../session.ts';
import type { QueryRequest } from './protocol.ts';
import { QueryProcess, type RunOptions } from './query-process.ts';
import { queryReads } from './reading-queries.ts';

const PROCESSES = 2;
/** Queries that wait for a process. */
const MAX_WAITING = 8;
/** When a refused client should ask again, seconds. */
const RETRY_AFTER = 2;
/** An idle process ends after this time: it keeps some 80 MB. */
const IDLE_MS = 60_000;
/** No process is started for this long after one that failed to start, and for twice as long after each further one. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** How a query ended. `stopped`: its client left. `limit`: it took too much. `failed`: the process or the index. */
type QueryOutcome = 'answered' | 'refused' | 'busy' | 'stopped' | 'timeout' | 'limit' | 'failed';

export class QueryPool {
  /** Queries that ended, by how they did. */
  readonly ended: Record<QueryOutcome, number> = {
    answered: 0,
    refused: 0,
    busy: 0,
    stopped: 0,
    timeout: 0,
    limit: 0,
    failed: 0,
  };
  private readonly path: string;
  private readonly startProcess: () => QueryProcess;
  private readonly idle: { process: QueryProcess; timer: NodeJS.Timeout }[] = [];
  private readonly waiting = new Set<(reason: Error | null) => void>();
  private running = 0;
  private isClosed = false;
  private readonly all = new Set<QueryProcess>();
  /** Starts in a row that failed, the last error, and until when no other is tried. */
  private failures = 0;
  private lastFailure = '';
  private pausedUntil = 0;

  /** `path` of the index, and the lists of `[trades]`. Starts processes as they are needed. */
  constructor(
    path: string,
    tradeLists: ConfiguredTradeLists,
    startProcess = () => new QueryProcess().open(path, tradeLists),
  ) {
    this.path = path;
    this.startProcess = startProcess;
  }

  state() {
    const { running, waiting } = this;
    const { count: reading, oldestMs, logBytes, logLimitBytes } = queryReads(this.path);
    return { running, waiting: waiting.size, reading, oldestMs, logBytes, logLimitBytes };
  }

  /** Throws what QueryProcess throws, and BusyError when too many queries wait. */
  async run(request: QueryRequest, options: RunOptions = {}): Promise<QueryAnswer> {
    try {
      const answer = await this.runInTurn(request, options);
      this.ended.answered++;
      return answer;
    } catch (error) {
      this.ended[options.signal?.aborted ? 'stopped' : outcomeOf(error)]++;
      throw error;
    }
  }

  private async runInTurn(request: QueryRequest, options: RunOptions): Promise<QueryAnswer> {
    await this.takeTurn(options.signal);
    try {
      const answer = await this.runInProcess(request, options);
      this.failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof QueryStartError) this.noteFailure(error);
      throw error;
    } finally {
      this.giveTurn();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer } of this.idle) clearTimeout(timer);
    for (const settle of this.waiting) settle(stopped());
    await Promise.all([...this.all].map((process) => process.close()));
  }

  /** A query that waits no longer gives its place to others. */
  private async takeTurn(signal: AbortSignal | undefined): Promise<void> {
    if (this.isClosed) throw stopped();
    if (this.running < PROCESSES) {
      this.running++;
      return;
    }
    if (this.waiting.size >= MAX_WAITING) {
      const message = `${PROCESSES} queries run and ${MAX_WAITING} wait: try again in a few seconds`;
      throw new BusyError(message, RETRY_AFTER);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settle = (reason: Error | null) => {
      this.waiting.delete(settle); // at once, so that no turn is given to a query that has left
      if (reason === null) resolve();
      else reject(reason);
    };
    const onAbort = () => settle(new QueryLimitError('ended on request, before it began'));
    this.waiting.add(settle);
    signal?.addEventListener('abort', onAbort);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** To the query that waits longest. */
  private giveTurn(): void {
    const [next] = this.waiting;
    if (next === undefined) this.running--;
    else next(null);
  }

  private async runInProcess(request: QueryRequest, options: RunOptions): Promise<QueryAnswer> {
    if (this.isClosed) throw stopped();
    const pauseMs = this.pausedUntil - performance.now();
    if (this.failures > 0 && pauseMs > 0)
      throw new RequestError(
        503,
        'query_ended',
        `${this.lastFailure}; the next query in ${Math.ceil(pauseMs / 1000)} s tries again`,
      );
    const process = this.takeProcess();
    try {
      return await process.run(request, options);
    } finally {
      this.keep(process);
    }
  }

  private takeProcess(): QueryProcess {
    const idle = this.idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.timer);
      return idle.process;
    }
    const process = this.startProcess();
    this.all.add(process);
    return process;
  }

  private keep(process: QueryProcess): void {
    if (this.isClosed) return;
    const timer = setTimeout(() => this.retire(process), IDLE_MS).unref();
    this.idle.push({ process, timer });
  }

  private retire(process: QueryProcess): void {
    this.idle.splice(0, this.idle.length, ...this.idle.filter((idle) => idle.process !== process));
    this.all.delete(process);
    guarded('end of a query process', () => process.close())();
  }

  private noteFailure({ message }: Error): void {
    this.failures++;
    this.lastFailure = message;
    this.pausedUntil = performance.now() + backoffMs(this.failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  }
}

function outcomeOf(error: unknown): QueryOutcome {
  if (error instanceof QueryRefusal) return 'refused';
  if (error instanceof BusyError) return 'busy';
  if (error instanceof QueryLimitError) return error.isTimeout ? 'timeout' : 'limit';
  return 'failed';
}

function stopped(): Error {
  return new RequestError(503, 'query_ended', 'atlas-node stops');
}
