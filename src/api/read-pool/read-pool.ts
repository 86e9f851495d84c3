/** A pool of read threads that answer requests too expensive for the event loop, and the messages to and from them. */

import { availableParallelism } from 'node:os';
import type { AddedSignature } from '../../abi/signatures.ts';
import { ReorgedError, RequestError, type RequestErrorCode } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import { monotonicNow } from '../../lib/time.ts';
import type { ThreadLog } from '../../log/logger.ts';
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import type { Head } from '../../query/snapshot.ts';
import { ThreadHandle } from '../../threads/thread-handle.ts';
import type { NodeAnswer } from '../node-reads.ts';

/** Fixed for the lifetime of a read thread. */
export interface ReaderOptions {
  indexPath: string;
  /** Symbol of the chain's native coin. */
  nativeSymbol: string;
  /** `index.max_reorg`. */
  maxReorg: number;
  labelsPath?: string;
  /** The lists of `[trades]`. */
  tradeLists?: ConfiguredTradeLists;
  /** Functions, events and errors besides those of standards. */
  added?: readonly AddedSignature[];
}

export interface ReadRequest {
  /** Path of the endpoint. */
  path: string;
  /** As sent by the client. The read thread validates it again. */
  input: unknown;
  /** Largest `depth` the caller may pass to funding_chain. */
  chainDepth: number;
  /** The node's earlier answer, for endpoints that ask the node. */
  nodeAnswer?: NodeAnswer | undefined;
  /** Time by `monotonicNow` at which the caller gives up. */
  deadline: number;
}

/** An answer as text. */
export interface ApiResult {
  /** The head of the commit it was read from. */
  head: Head;
  body: string;
  /** CSV only, which has no field for it: the start of the next page, null on the last page. */
  nextCursor?: string | null;
  /** Why rows are missing at the end of a named query's answer. */
  cut?: 'rows' | 'bytes';
  /** The wallets in it of which it is unknown whether they are contracts. */
  unexamined?: readonly number[];
}

export type FromReader =
  | ApiResult
  | { reorged: { message: string; from: number; param: string } }
  | { requestError: { status: number; code: RequestErrorCode; message: string; param: string | undefined } }
  /** Any other error: a failed read, with SQLite's code, or a bug. */
  | { failure: { code: string; message: string; stack: string } };

export function startReader(
  options: ReaderOptions,
  log: ThreadLog,
  onMessage: (message: FromReader) => void,
): ReadThread {
  return new ThreadHandle('reader', { data: () => options, restart: 'never', onMessage, log });
}

/** The part of a thread's handle used here. */
export type ReadThread = Pick<ThreadHandle<'reader'>, 'post' | 'stop' | 'ended'>;

/** Starts a thread whose answers go to the listener. */
export type StartReadThread = (onMessage: (message: FromReader) => void) => ReadThread;

/**
 * Most threads. Each starts on demand when all others are busy and takes about 45 MB. On two cores a second thread
 * would only compete with the indexer and the event loop.
 */
const MAX_THREADS = availableParallelism() > 2 ? 2 : 1;
/** Maximum number of requests waiting for a thread. */
const MAX_QUEUED = 128;
/** Time limit of a request including its wait, milliseconds. */
const TIME_LIMIT_MS = 10_000;
/** Maximum number of results cached while the head stays the same. */
const MAX_CACHED = 32;

interface Job {
  request: ReadRequest;
  resolve: (result: ApiResult) => void;
  reject: (error: Error) => void;
}

interface Reader {
  thread: ReadThread;
  job: Job | null;
}

export class ReadPool {
  private readonly startThread: StartReadThread;
  private readonly readers = new Set<Reader>();
  private readonly queue: Job[] = [];
  /** Results at one head, finished or pending, by request. */
  private readonly cache = new Map<string, Promise<ApiResult>>();
  private cachedHashPrefix = '';
  private cachedRevision = 0;
  private isClosed = false;

  constructor(startThread: StartReadThread) {
    this.startThread = startThread;
  }

  /**
   * Answers from the commit of `head` or a later one. Rejects with the endpoint's RequestError, with `timeout` after
   * the time limit, or with `busy` when the queue is full or the pool is closed.
   */
  run(
    path: string,
    input: unknown,
    chainDepth: number,
    head: Head,
    nodeAnswer?: NodeAnswer,
  ): Promise<ApiResult> {
    if (head.hashPrefix !== this.cachedHashPrefix || head.revision !== this.cachedRevision) {
      this.cache.clear();
      this.cachedHashPrefix = head.hashPrefix;
      this.cachedRevision = head.revision;
    }
    const cacheKey = JSON.stringify([path, input, chainDepth, nodeAnswer]);
    const cached = this.cache.get(cacheKey);
    if (cached !== undefined) return cached;
    const deadline = monotonicNow() + TIME_LIMIT_MS;
    const result = this.enqueue({ path, input, chainDepth, nodeAnswer, deadline });
    this.cacheResult(cacheKey, result);
    return result;
  }

  /** Stops each thread after its current request, at the latest after `limitMs`. Refuses queued and later requests. */
  async close(limitMs?: number): Promise<void> {
    this.isClosed = true;
    for (const job of this.queue.splice(0)) job.reject(shuttingDown());
    await Promise.all([...this.readers].map(({ thread }) => thread.stop(limitMs)));
  }

  private cacheResult(cacheKey: string, result: Promise<ApiResult>): void {
    const [oldest] = this.cache.keys();
    if (this.cache.size >= MAX_CACHED && oldest !== undefined) this.cache.delete(oldest);
    this.cache.set(cacheKey, result);
    result.catch(() => {
      if (this.cache.get(cacheKey) === result) this.cache.delete(cacheKey);
    });
  }

  private enqueue(request: ReadRequest): Promise<ApiResult> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) throw shuttingDown(); // nothing would stop a thread started now
      if (this.queue.length >= MAX_QUEUED) {
        throw new RequestError(503, 'busy', 'too many large queries are running; try again later');
      }
      this.queue.push({ request, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.queue.length > 0) {
      const reader = this.freeReader();
      if (reader === null) return;
      const job = this.queue.shift()!;
      reader.job = job;
      reader.thread.post(job.request);
    }
  }

  private freeReader(): Reader | null {
    for (const reader of this.readers) if (reader.job === null) return reader;
    return this.readers.size < MAX_THREADS ? this.addReader() : null;
  }

  private addReader(): Reader {
    const thread = this.startThread((message) => this.finishJob(reader, (job) => settleJob(job, message)));
    const reader: Reader = { thread, job: null };
    this.readers.add(reader);
    const release = guarded('end of a reader', (error: Error) => {
      this.readers.delete(reader);
      this.finishJob(reader, (job) => job.reject(error));
    });
    thread.ended.then(() => release(shuttingDown()), release);
    return reader;
  }

  private finishJob(reader: Reader, settle: (job: Job) => void): void {
    const { job } = reader;
    reader.job = null;
    if (job !== null) settle(job);
    this.dispatch();
  }
}

function shuttingDown(): RequestError {
  return new RequestError(503, 'busy', 'shutting down');
}

/** Rebuilds a read thread's error, with its stack and SQLite's code if it has one. */
function threadError({ code, message, stack }: { code: string; message: string; stack: string }): Error {
  return Object.assign(new Error(message), { code, stack: `a read thread failed: ${stack}` });
}

function settleJob({ resolve, reject }: Job, message: FromReader): void {
  if ('body' in message) resolve(message);
  else if ('reorged' in message) {
    const { message: text, from, param } = message.reorged;
    reject(new ReorgedError(text, from, param));
  } else if ('requestError' in message) {
    const { status, code, message: text, param } = message.requestError;
    reject(new RequestError(status, code, text, param));
  } else reject(threadError(message.failure));
}
