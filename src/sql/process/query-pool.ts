/** The processes in which a daemon runs queries, with a queue before them. */
import { RequestError } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import type { QueryAnswer } from '../session.ts';
import { MAX_LOG_BYTES } from './limits.ts';
import type { QueryRequest } from './protocol.ts';
import { QueryProcess, type RunOptions } from './query-process.ts';
import { logBytes } from './usage.ts';

const PROCESSES = 2;
/** Queries that wait for a process. */
const MAX_WAITING = 8;
/** An idle process ends after this time: it keeps some 80 MB. */
const IDLE_MS = 60_000;

export class QueryPool {
  private readonly path: string;
  private readonly tradeLists: ConfiguredTradeLists;
  private readonly idle: { process: QueryProcess; timer: NodeJS.Timeout }[] = [];
  private readonly waiting: ((process: QueryProcess | null) => void)[] = [];
  private running = 0;
  private isClosed = false;
  private readonly all = new Set<QueryProcess>();

  /** `path` of the index, and the lists of `[trades]`. Starts processes as they are needed. */
  constructor(path: string, tradeLists: ConfiguredTradeLists) {
    this.path = path;
    this.tradeLists = tradeLists;
  }

  state() {
    const { running, waiting } = this;
    return { running, waiting: waiting.length, logBytes: logBytes(this.path), logLimitBytes: MAX_LOG_BYTES };
  }

  /** Throws what QueryProcess throws, and RequestError 429 when too many queries wait. */
  async run(request: QueryRequest, options: RunOptions = {}): Promise<QueryAnswer> {
    const process = await this.take();
    try {
      return await process.run(request, options);
    } finally {
      this.give(process);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer } of this.idle) clearTimeout(timer);
    for (const resolve of this.waiting.splice(0)) resolve(null);
    await Promise.all([...this.all].map((process) => process.close()));
  }

  private async take(): Promise<QueryProcess> {
    if (this.isClosed) throw new RequestError(503, 'query_ended', 'atlas-node stops');
    if (this.running < PROCESSES) {
      this.running++;
      return this.idleOrNew();
    }
    if (this.waiting.length >= MAX_WAITING) {
      const message = `${PROCESSES} queries run and ${MAX_WAITING} wait: try again in a few seconds`;
      throw new RequestError(429, 'query_ended', message);
    }
    const process = await new Promise<QueryProcess | null>((resolve) => this.waiting.push(resolve));
    if (process === null) throw new RequestError(503, 'query_ended', 'atlas-node stops');
    return process;
  }

  private idleOrNew(): QueryProcess {
    const idle = this.idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.timer);
      return idle.process;
    }
    const process = new QueryProcess(this.path, this.tradeLists);
    this.all.add(process);
    return process;
  }

  private give(process: QueryProcess): void {
    const next = this.waiting.shift();
    if (next !== undefined) return next(process);
    this.running--;
    if (this.isClosed) return;
    const timer = setTimeout(() => this.retire(process), IDLE_MS).unref();
    this.idle.push({ process, timer });
  }

  private retire(process: QueryProcess): void {
    this.idle.splice(0, this.idle.length, ...this.idle.filter((idle) => idle.process !== process));
    this.all.delete(process);
    guarded('end of a query process', () => process.close())();
  }
}
