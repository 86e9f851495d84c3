/** Loader threads as one function that loads a range. */
import type { Worker } from 'node:worker_threads';
import { UpstreamError } from '../errors.ts';
import type { LoadRange } from '../sync/pipeline.ts';
import type { BlockBatch } from '../types.ts';
import type { CallRecorder } from './calls.ts';
import type { FromLoader, LoaderOptions, ToLoader } from './protocol.ts';
import { startThread } from './worker.ts';

interface Waiting {
  resolve: (batch: BlockBatch) => void;
  reject: (error: Error) => void;
}

interface Loader {
  thread: Worker;
  underWay: Map<number, Waiting>;
}

/**
 * Ranges go to the loaders as soon as they are asked for. The writer must not be needed for a loader to go on: it
 * commits for a second at a time, and a loader that waits for it then wastes a core.
 */
export class LoaderPool {
  private readonly loaders: Loader[];
  private readonly calls: CallRecorder;
  private lastId = 0;

  constructor(count: number, options: LoaderOptions, calls: CallRecorder) {
    this.calls = calls;
    this.loaders = Array.from({ length: count }, () => this.start(options));
  }

  /** Loads a range on the loader with the least to do. An abort rejects at once; what is begun is finished and dropped. */
  readonly load: LoadRange = (from, to, signal) =>
    new Promise((resolve, reject) => {
      const loader = this.loaders.reduce((least, other) =>
        other.underWay.size < least.underWay.size ? other : least,
      );
      const id = ++this.lastId;
      const onAbort = () => {
        loader.thread.postMessage({ drop: id } satisfies ToLoader);
        reject(new UpstreamError('connection', `loading blocks ${from} to ${to} was called off`));
      };
      // The signal outlives the range by far: a listener that stayed would keep every batch in memory.
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

  private receive(loader: Loader, message: FromLoader): void {
    const range = loader.underWay.get(message.id);
    loader.underWay.delete(message.id);
    if ('calls' in message) this.calls.add(message.calls);
    if ('batch' in message) range?.resolve(message.batch);
    else if ('error' in message) {
      const { reason, message: text, code } = message.error;
      range?.reject(new UpstreamError(reason, text, code));
    } else if ('defect' in message) range?.reject(new Error(`a loader thread failed: ${message.defect}`));
  }
}
