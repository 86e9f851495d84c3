/** A pool of backfill workers: threads that fetch and decode ranges of blocks. */
import type { Worker } from 'node:worker_threads';
import { UpstreamError } from '../../lib/errors.ts';
import type { BlockBatch } from '../../model/block-batch.ts';
import { startThread } from '../../threads/start-thread.ts';
import type { CallRecorder } from '../node-client.ts';
import type { BackfillWorkerOptions, FromBackfillWorker, ToBackfillWorker } from '../protocol.ts';
import type { LoadRange } from './pipeline.ts';

interface PendingRange {
  resolve: (batch: BlockBatch) => void;
  reject: (error: Error) => void;
}

interface BackfillWorker {
  thread: Worker;
  pending: Map<number, PendingRange>;
  /** The worker gets no more work, drops its ranges, and exits. */
  stopping: boolean;
  ended: Promise<void>;
}

/** Idle time before a worker exits, milliseconds. Each takes 20 MB, and following the head needs none. */
const IDLE_TIMEOUT_MS = 10_000;

/**
 * Hands ranges to the workers as soon as they are requested. A commit blocks the indexer thread for up to a second;
 * workers that waited for that thread would waste a core.
 */
export class BackfillWorkerPool {
  private readonly maxThreads: number;
  private readonly options: BackfillWorkerOptions;
  private readonly calls: CallRecorder;
  private readonly idleTimeoutMs: number;
  private readonly workers = new Set<BackfillWorker>();
  private idleTimer: NodeJS.Timeout | undefined;
  private lastId = 0;

  /** Starts threads on demand, at most `maxThreads`. */
  constructor(
    maxThreads: number,
    options: BackfillWorkerOptions,
    calls: CallRecorder,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
  ) {
    this.maxThreads = maxThreads;
    this.options = options;
    this.calls = calls;
    this.idleTimeoutMs = idleTimeoutMs;
  }

  /** Number of running threads. */
  get threadCount(): number {
    return this.workers.size;
  }

  /**
   * Loads a range on the least busy worker. An abort rejects at once; the worker finishes and drops a range in
   * progress.
   */
  readonly load: LoadRange = (from, to, signal) =>
    new Promise((resolve, reject) => {
      clearTimeout(this.idleTimer);
      const worker = this.pickWorker();
      const id = ++this.lastId;
      const onAbort = () => {
        worker.thread.postMessage({ cancel: id } satisfies ToBackfillWorker);
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was cancelled`));
      };
      // The signal outlives the range, so a leaked listener would keep every batch in memory.
      const removeListener = () => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      worker.pending.set(id, {
        resolve(batch) {
          removeListener();
          resolve(batch);
        },
        reject(error) {
          removeListener();
          reject(error);
        },
      });
      worker.thread.postMessage({ id, from, to } satisfies ToBackfillWorker);
    });

  async close(): Promise<void> {
    this.stopAll();
    await Promise.all([...this.workers].map(({ ended }) => ended));
  }

  private pickWorker(): BackfillWorker {
    const running = [...this.workers].filter(({ stopping }) => !stopping);
    const [least] = running.sort((a, b) => a.pending.size - b.pending.size);
    if (least === undefined) return this.start();
    return least.pending.size > 0 && running.length < this.maxThreads ? this.start() : least;
  }

  private start(): BackfillWorker {
    const thread = startThread('backfill-worker', this.options);
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    const worker: BackfillWorker = { thread, pending: new Map(), stopping: false, ended };
    thread.on('message', (message: FromBackfillWorker) => this.onMessage(worker, message));
    thread.on('error', (error) => {
      worker.stopping = true;
      for (const pending of worker.pending.values()) pending.reject(error);
    });
    thread.once('exit', () => this.workers.delete(worker));
    this.workers.add(worker);
    return worker;
  }

  private readonly stopAll = (): void => {
    clearTimeout(this.idleTimer);
    for (const worker of this.workers) {
      worker.stopping = true;
      worker.thread.postMessage('stop' satisfies ToBackfillWorker);
    }
  };

  private startIdleTimer(): void {
    clearTimeout(this.idleTimer);
    if ([...this.workers].some(({ pending }) => pending.size > 0)) return;
    this.idleTimer = setTimeout(this.stopAll, this.idleTimeoutMs);
    this.idleTimer.unref();
  }

  private onMessage(worker: BackfillWorker, message: FromBackfillWorker): void {
    const pending = worker.pending.get(message.id);
    worker.pending.delete(message.id);
    this.startIdleTimer();
    if ('calls' in message) this.calls.add(message.calls);
    if ('batch' in message) pending?.resolve(message.batch);
    else if ('error' in message) {
      const { reason, message: text } = message.error;
      pending?.reject(new UpstreamError(reason, text));
    } else if ('defect' in message) pending?.reject(new Error(`a backfill worker failed: ${message.defect}`));
  }
}
