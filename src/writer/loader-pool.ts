/** Loader threads as one function that loads a range. */
import type { Worker } from 'node:worker_threads';
import { UpstreamError } from '../errors.ts';
import type { LoadRange } from '../sync/pipeline.ts';
import type { BlockBatch } from '../types.ts';
import type { CallRecorder } from './calls.ts';
import type { FromLoader, LoaderOptions, ToLoader } from './protocol.ts';
import { startThread } from './worker.ts';

/** Ranges a loader works on at once: one is on the wire while another is parsed. */
const RANGES_PER_LOADER = 2;

interface Waiting {
  from: number;
  to: number;
  resolve: (batch: BlockBatch) => void;
  reject: (error: Error) => void;
}

interface Loader {
  thread: Worker;
  underWay: Map<number, Waiting>;
}

export class LoaderPool {
  private readonly loaders: Loader[];
  private readonly calls: CallRecorder;
  private waiting: Waiting[] = [];
  private lastId = 0;

  constructor(count: number, options: LoaderOptions, calls: CallRecorder) {
    this.calls = calls;
    this.loaders = Array.from({ length: count }, () => this.start(options));
  }

  /** Loads a range on the next free loader. An abort rejects at once; what is under way is finished and dropped. */
  readonly load: LoadRange = (from, to, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = () => {
        this.waiting = this.waiting.filter((other) => other !== range);
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was called off`));
      };
      // The signal outlives the range by far: a listener that stayed would keep every batch in memory.
      const settled = () => signal.removeEventListener('abort', onAbort);
      const range: Waiting = {
        from,
        to,
        resolve(batch) {
          settled();
          resolve(batch);
        },
        reject(error) {
          settled();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiting.push(range);
      this.dispatch();
    });

  async close(): Promise<void> {
    for (const { thread } of this.loaders) thread.postMessage('stop' satisfies ToLoader);
    await Promise.all(
      this.loaders.map(({ thread }) => new Promise((resolve) => thread.once('exit', resolve))),
    );
  }

  private start(options: LoaderOptions): Loader {
    const loader: Loader = { thread: startThread('loader', options), underWay: new Map() };
    loader.thread.on('message', (message: FromLoader) => this.receive(loader, message));
    loader.thread.on('error', (error) => {
      for (const range of loader.underWay.values()) range.reject(error);
      loader.underWay.clear();
    });
    return loader;
  }

  private dispatch(): void {
    for (const loader of this.loaders) {
      while (loader.underWay.size < RANGES_PER_LOADER) {
        const range = this.waiting.shift();
        if (range === undefined) return;
        const id = ++this.lastId;
        loader.underWay.set(id, range);
        loader.thread.postMessage({ id, from: range.from, to: range.to } satisfies ToLoader);
      }
    }
  }

  private receive(loader: Loader, message: FromLoader): void {
    const range = loader.underWay.get(message.id);
    loader.underWay.delete(message.id);
    this.dispatch();
    if ('calls' in message) this.calls.add(message.calls);
    if ('batch' in message) range?.resolve(message.batch);
    else if ('error' in message) {
      const { reason, message: text, code } = message.error;
      range?.reject(new UpstreamError(reason, text, code));
    } else range?.reject(new Error(`a loader thread failed: ${message.defect}`));
  }
}
