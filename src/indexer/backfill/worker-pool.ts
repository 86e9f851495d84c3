/** A pool of backfill workers: threads that fetch and decode ranges of blocks. */
import { IncompleteBlockError } from '../../decode/block-checks.ts';
import type { Tolerance } from '../../decode/tolerance.ts';
import { UpstreamError } from '../../lib/errors.ts';
import type { ThreadLog } from '../../log/logger.ts';
import type { BlockBatch } from '../../model/block-batch.ts';
import { ThreadHandle } from '../../threads/thread-handle.ts';
import type { CallRecorder } from '../node-client.ts';
import type { BackfillWorkerOptions, FromBackfillWorker } from '../protocol.ts';
import { MissingReceipts } from '../require-transactions.ts';

interface PendingRange {
  resolve: (batches: BlockBatch[]) => void;
  reject: (error: Error) => void;
}

interface BackfillWorker {
  thread: ThreadHandle<'backfill-worker'>;
  pending: Map<number, PendingRange>;
  /** The worker gets no more work, drops its ranges, and exits. */
  stopping: boolean;
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
  private readonly log: ThreadLog;
  private readonly idleTimeoutMs: number;
  private readonly workers = new Set<BackfillWorker>();
  private idleTimer: NodeJS.Timeout | undefined;
  private lastId = 0;

  /** Starts threads on demand, at most `maxThreads`. */
  constructor(
    maxThreads: number,
    options: BackfillWorkerOptions,
    calls: CallRecorder,
    log: ThreadLog,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
  ) {
    this.maxThreads = maxThreads;
    this.options = options;
    this.calls = calls;
    this.log = log;
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
  readonly load = (
    from: number,
    to: number,
    signal: AbortSignal,
    tolerance: Tolerance = {},
  ): Promise<BlockBatch[]> =>
    new Promise((resolve, reject) => {
      clearTimeout(this.idleTimer);
      const worker = this.pickWorker();
      const id = ++this.lastId;
      const onAbort = () => {
        worker.thread.post({ cancel: id });
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was cancelled`));
      };
      // The signal outlives the range, so a leaked listener would keep every batch in memory.
      const removeListener = () => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      worker.pending.set(id, {
        resolve(batches) {
          removeListener();
          resolve(batches);
        },
        reject(error) {
          removeListener();
          reject(error);
        },
      });
      worker.thread.post({ id, from, to, tolerance });
    });

  /** Resolves when all workers have ended. */
  async close(): Promise<void> {
    clearTimeout(this.idleTimer);
    await Promise.all([...this.workers].map((worker) => this.stop(worker)));
  }

  private pickWorker(): BackfillWorker {
    const running = [...this.workers].filter(({ stopping }) => !stopping);
    const [least] = running.sort((a, b) => a.pending.size - b.pending.size);
    if (least === undefined) return this.start();
    return least.pending.size > 0 && running.length < this.maxThreads ? this.start() : least;
  }

  private start(): BackfillWorker {
    const thread = new ThreadHandle('backfill-worker', {
      data: () => this.options,
      restart: 'never',
      onMessage: (message) => this.onMessage(worker, message),
      log: this.log,
    });
    const worker: BackfillWorker = { thread, pending: new Map(), stopping: false };
    const release = (error: Error): void => {
      this.workers.delete(worker);
      for (const pending of worker.pending.values()) pending.reject(error);
    };
    thread.ended.then(() => release(new Error('the backfill worker was stopped')), release);
    this.workers.add(worker);
    return worker;
  }

  /** At once: a worker has nothing to keep, and on a busy machine its low priority would make the stop wait. */
  private stop(worker: BackfillWorker): Promise<void> {
    worker.stopping = true;
    return worker.thread.stop(0);
  }

  private startIdleTimer(): void {
    clearTimeout(this.idleTimer);
    if ([...this.workers].some(({ pending }) => pending.size > 0)) return;
    this.idleTimer = setTimeout(() => void this.close(), this.idleTimeoutMs);
    this.idleTimer.unref();
  }

  private onMessage(worker: BackfillWorker, message: FromBackfillWorker): void {
    const pending = worker.pending.get(message.id);
    worker.pending.delete(message.id);
    this.startIdleTimer();
    if ('calls' in message) this.calls.add(message.calls);
    if ('batches' in message) pending?.resolve(message.batches);
    else if ('error' in message) pending?.reject(errorOf(message.error));
    else if ('defect' in message) pending?.reject(new Error(`a backfill worker failed: ${message.defect}`));
  }
}

function errorOf({
  reason,
  message,
  incomplete,
  missing,
}: Extract<FromBackfillWorker, { error: unknown }>['error']): UpstreamError {
  if (incomplete !== null) return new IncompleteBlockError(incomplete);
  return missing === null ? new UpstreamError(reason, message) : new MissingReceipts(missing);
}
