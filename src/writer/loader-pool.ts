/** Loader threads behind one function that loads a range. */
import type { Worker } from 'node:worker_threads';
import { UpstreamError } from '../errors.ts';
import type { LoadRange } from '../sync/pipeline.ts';
import type { BlockBatch } from '../types.ts';
import type { CallRecorder } from './calls.ts';
import type { FromLoader, LoaderOptions, ToLoader } from './protocol.ts';
import { startThread } from './threads.ts';

interface Waiting {
  resolve: (batch: BlockBatch) => void;
  reject: (error: Error) => void;
}

interface Loader {
  thread: Worker;
  underWay: Map<number, Waiting>;
  /** It gets no more work and ends after its current one. */
  stopping: boolean;
  ended: Promise<void>;
}

/** Idle time after which a loader ends, milliseconds: each takes 20 MB, and blocks at the head need none. */
const IDLE_MS = 10_000;

/**
 * Ranges are queued at the loaders as soon as they are requested. A loader must never wait for the writer, which commits
 * for a second at a time: that would waste a core.
 */
export class LoaderPool {
  private readonly count: number;
  private readonly options: LoaderOptions;
  private readonly calls: CallRecorder;
  private readonly idleMs: number;
  private readonly loaders = new Set<Loader>();
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;

  /** Threads are started when they are needed, `count` at most. */
  constructor(count: number, options: LoaderOptions, calls: CallRecorder, idleMs = IDLE_MS) {
    this.count = count;
    this.options = options;
    this.calls = calls;
    this.idleMs = idleMs;
  }

  /** Number of threads that have not ended. */
  get threads(): number {
    return this.loaders.size;
  }

  /** Loads a range on the least busy loader. An abort rejects at once; a range already begun is finished and dropped. */
  readonly load: LoadRange = (from, to, signal) =>
    new Promise((resolve, reject) => {
      clearTimeout(this.idle);
      const loader = this.leastBusy();
      const id = ++this.lastId;
      const onAbort = () => {
        loader.thread.postMessage({ drop: id } satisfies ToLoader);
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was called off`));
      };
      // The signal far outlives the range: a listener left on it would keep every batch in memory.
      const settled = () => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      loader.underWay.set(id, {
        resolve(batch) {
          settled();
          resolve(batch);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      loader.thread.postMessage({ id, from, to } satisfies ToLoader);
    });

  async close(): Promise<void> {
    this.stopAll();
    await Promise.all([...this.loaders].map(({ ended }) => ended));
  }

  private leastBusy(): Loader {
    const running = [...this.loaders].filter(({ stopping }) => !stopping);
    const [least] = running.sort((a, b) => a.underWay.size - b.underWay.size);
    if (least === undefined) return this.start();
    return least.underWay.size > 0 && running.length < this.count ? this.start() : least;
  }

  private start(): Loader {
    const thread = startThread('loader', this.options);
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    const loader: Loader = { thread, underWay: new Map(), stopping: false, ended };
    thread.on('message', (message: FromLoader) => this.receive(loader, message));
    thread.on('error', (error) => {
      loader.stopping = true;
      for (const range of loader.underWay.values()) range.reject(error);
      loader.underWay.clear();
    });
    thread.once('exit', () => this.loaders.delete(loader));
    this.loaders.add(loader);
    return loader;
  }

  private readonly stopAll = (): void => {
    clearTimeout(this.idle);
    for (const loader of this.loaders) {
      loader.stopping = true;
      loader.thread.postMessage('stop' satisfies ToLoader);
    }
  };

  private waitForWork(): void {
    clearTimeout(this.idle);
    if ([...this.loaders].some(({ underWay }) => underWay.size > 0)) return;
    this.idle = setTimeout(this.stopAll, this.idleMs);
    this.idle.unref();
  }

  private receive(loader: Loader, message: FromLoader): void {
    const range = loader.underWay.get(message.id);
    loader.underWay.delete(message.id);
    this.waitForWork();
    if ('calls' in message) this.calls.add(message.calls);
    if ('batch' in message) range?.resolve(message.batch);
    else if ('error' in message) {
      const { reason, message: text, code } = message.error;
      range?.reject(new UpstreamError(reason, text, code));
    } else if ('defect' in message) range?.reject(new Error(`a loader thread failed: ${message.defect}`));
  }
}
