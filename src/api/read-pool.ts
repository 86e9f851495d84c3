/** The read threads behind one function that answers a request. */
import { availableParallelism } from 'node:os';
import { RequestError } from '../errors.ts';
import { monotonicNow } from '../lib/time.ts';
import type { Head } from '../query/snapshot.ts';
import type { ApiResult, FromReader, ReadRequest, ToReader } from './reader-protocol.ts';

/** The part of a worker thread that is used here. */
export interface ReadThread {
  postMessage(message: ToReader): void;
  on(event: 'message', listener: (message: FromReader) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/**
 * Most threads; each is started when a request finds all others busy. One takes some 45 MB, and on a machine with two
 * cores a second one would only take time from the writer or the event loop.
 */
const MAX_THREADS = availableParallelism() > 2 ? 2 : 1;
/** Most requests that may wait for a thread. */
const MAX_QUEUED = 128;
/** How long a request may take, waiting included, milliseconds. */
const TIME_LIMIT_MS = 10_000;
/** Most results cached for clients that ask for the same while the head stays. */
const MAX_CACHED = 32;

interface Job {
  request: ReadRequest;
  resolve: (result: ApiResult) => void;
  reject: (error: Error) => void;
}

interface Reader {
  thread: ReadThread;
  job: Job | null;
  exited: Promise<void>;
}

export class ReadPool {
  private readonly startThread: () => ReadThread;
  private readonly readers = new Set<Reader>();
  private readonly queue: Job[] = [];
  /** Results of one head, finished or pending, by request. */
  private readonly cache = new Map<string, Promise<ApiResult>>();
  private cachedHashPrefix = '';
  private cachedRevision = 0;
  private isClosed = false;

  /** `startThread` starts a read thread. */
  constructor(startThread: () => ReadThread) {
    this.startThread = startThread;
  }

  /**
   * Answers from the commit of `head` or a later one. Rejects with RequestError: the endpoint's own, `timeout` after
   * the time limit, `busy` when too many wait and after `close`.
   */
  run(path: string, input: unknown, chainDepth: number, head: Head): Promise<ApiResult> {
    if (head.hashPrefix !== this.cachedHashPrefix || head.revision !== this.cachedRevision) {
      this.cache.clear();
      this.cachedHashPrefix = head.hashPrefix;
      this.cachedRevision = head.revision;
    }
    const cacheKey = JSON.stringify([path, input, chainDepth]);
    const cached = this.cache.get(cacheKey);
    if (cached !== undefined) return cached;
    const result = this.enqueue({ path, input, chainDepth, deadline: monotonicNow() + TIME_LIMIT_MS });
    this.cacheResult(cacheKey, result);
    return result;
  }

  /** Ends the threads, each after its current request; waiting and later requests are refused. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of this.queue.splice(0)) job.reject(shuttingDown());
    for (const { thread } of this.readers) thread.postMessage('stop');
    await Promise.all([...this.readers].map(({ exited }) => exited));
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
      if (this.isClosed) throw shuttingDown(); // nothing would end a thread that is started now
      if (this.queue.length >= MAX_QUEUED) {
        throw new RequestError(503, 'busy', 'too many large questions at the same time; try again later');
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
      reader.thread.postMessage(job.request);
    }
  }

  private freeReader(): Reader | null {
    for (const reader of this.readers) if (reader.job === null) return reader;
    return this.readers.size < MAX_THREADS ? this.addReader() : null;
  }

  private addReader(): Reader {
    const thread = this.startThread();
    const exited = new Promise<void>((resolve) => thread.on('exit', resolve));
    const reader: Reader = { thread, job: null, exited };
    this.readers.add(reader);
    thread.on('message', (message) => this.finishJob(reader, (job) => settleJob(job, message)));
    const fail = (error: Error) => {
      this.readers.delete(reader);
      this.finishJob(reader, (job) => job.reject(error));
    };
    thread.on('error', fail);
    thread.on('exit', () => fail(new Error('a read thread ended by itself')));
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

function settleJob({ resolve, reject }: Job, message: FromReader): void {
  if ('body' in message) resolve(message);
  else if ('requestError' in message) {
    const { status, code, message: text, param } = message.requestError;
    reject(new RequestError(status, code, text, param));
  } else reject(new Error(`a read thread failed: ${message.defect}`));
}
