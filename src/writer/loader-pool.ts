/** Loader threads behind one function that loads a range. */
import type { Worker } from 'node:worker_threads';
import { UpstreamError } from '../errors.ts';
import type { LoadRange } from '../sync/pipeline.ts';
import type { BlockBatch } from '../types.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { FromLoader, LoaderOptions, ToLoader } from './protocol.ts';
import { startThread } from './threads.ts';

interface PendingRange {
  resolve: (batch: BlockBatch) => void;
  reject: (error: Error) => void;
}

interface Loader {
  thread: Worker;
  pending: Map<number, PendingRange>;
  /** It gets no more work, drops what it has, and ends. */
  stopping: boolean;
  ended: Promise<void>;
}

/** Idle time after which a loader ends, milliseconds: each takes 20 MB, and blocks at the head need none. */
const IDLE_TIMEOUT_MS = 10_000;

/**
 * Ranges are queued at the loaders as soon as they are requested. A loader must never wait for the writer, which commits
 * for a second at a time: that would waste a core.
 */
export class LoaderPool {
  private readonly maxThreads: number;
  private readonly options: LoaderOptions;
  private readonly calls: CallRecorder;
  private readonly idleTimeoutMs: number;
  private readonly loaders = new Set<Loader>();
  private idleTimer: NodeJS.Timeout | undefined;
  private lastId = 0;

  /** Threads are started when they are needed, `maxThreads` at most. */
  constructor(
    maxThreads: number,
    options: LoaderOptions,
    calls: CallRecorder,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
  ) {
    this.maxThreads = maxThreads;
    this.options = options;
    this.calls = calls;
    this.idleTimeoutMs = idleTimeoutMs;
  }

  /** Number of threads that have not ended. */
  get threadCount(): number {
    return this.loaders.size;
  }

  /** Loads a range on the least busy loader. An abort rejects at once; a range already begun is finished and dropped. */
  readonly load: LoadRange = (from, to, signal) =>
    new Promise((resolve, reject) => {
      clearTimeout(this.idleTimer);
      const loader = this.pickLoader();
      const id = ++this.lastId;
      const onAbort = () => {
        loader.thread.postMessage({ cancel: id } satisfies ToLoader);
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was called off`));
      };
      // The signal far outlives the range: a listener left on it would keep every batch in memory.
      const removeListener = () => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      loader.pending.set(id, {
        resolve(batch) {
          removeListener();
          resolve(batch);
        },
        reject(error) {
          removeListener();
          reject(error);
        },
      });
      loader.thread.postMessage({ id, from, to } satisfies ToLoader);
    });

  async close(): Promise<void> {
    this.stopAll();
    await Promise.all([...this.loaders].map(({ ended }) => ended));
  }

  private pickLoader(): Loader {
    const running = [...this.loaders].filter(({ stopping }) => !stopping);
    const [least] = running.sort((a, b) => a.pending.size - b.pending.size);
    if (least === undefined) return this.start();
    return least.pending.size > 0 && running.length < this.maxThreads ? this.start() : least;
  }

  private start(): Loader {
    const thread = startThread('loader', this.options);
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    const loader: Loader = { thread, pending: new Map(), stopping: false, ended };
    thread.on('message', (message: FromLoader) => this.onMessage(loader, message));
    thread.on('error', (error) => {
      loader.stopping = true;
      for (const pending of loader.pending.values()) pending.reject(error);
    });
    thread.once('exit', () => this.loaders.delete(loader));
    this.loaders.add(loader);
    return loader;
  }

  private readonly stopAll = (): void => {
    clearTimeout(this.idleTimer);
    for (const loader of this.loaders) {
      loader.stopping = true;
      loader.thread.postMessage('stop' satisfies ToLoader);
    }
  };

  private startIdleTimer(): void {
    clearTimeout(this.idleTimer);
    if ([...this.loaders].some(({ pending }) => pending.size > 0)) return;
    this.idleTimer = setTimeout(this.stopAll, this.idleTimeoutMs);
    this.idleTimer.unref();
  }

  private onMessage(loader: Loader, message: FromLoader): void {
    const pending = loader.pending.get(message.id);
    loader.pending.delete(message.id);
    this.startIdleTimer();
    if ('calls' in message) this.calls.add(message.calls);
    if ('batch' in message) pending?.resolve(message.batch);
    else if ('error' in message) {
      const { reason, message: text } = message.error;
      pending?.reject(new UpstreamError(reason, text));
    } else if ('defect' in message) pending?.reject(new Error(`a loader thread failed: ${message.defect}`));
  }
}
