/** Background work beside following the chain: reading token metadata and balances from contracts. */
import type { IndexWriter } from '../store/index-writer.ts';
import type { CallRecorder } from './call-recorder.ts';
import { runMetadataLoop } from './metadata-loop.ts';
import { newNodeClient } from './node-client.ts';
import type { WriterOptions } from './protocol.ts';
import { type QualityOptions, runQualityLoop } from './quality-loop.ts';

/** Few sockets and small answers: this must not delay the fetching of blocks. */
const LIMITS = { maxSockets: 1, maxResponseBytes: 8 * 2 ** 20 };

export interface BackgroundDeps
  extends Pick<QualityOptions, 'startBlock' | 'wrappedNative' | 'isFollowing' | 'log'> {
  store: IndexWriter;
  calls: CallRecorder;
}

/** The returned signal aborts with `signal`, or when a task fails; `stop` then rejects. */
export function startBackgroundTasks(
  { node, indexPath }: WriterOptions,
  { store, calls, ...rest }: BackgroundDeps,
  signal: AbortSignal,
): { signal: AbortSignal; stop(): Promise<void> } {
  const stopController = new AbortController();
  const client = newNodeClient(node, calls, LIMITS);
  const stopSignal = AbortSignal.any([signal, stopController.signal]);
  const tasks = [
    runMetadataLoop(store, client, rest.log, stopSignal),
    runQualityLoop({ indexPath, store, client, ...rest }, stopSignal),
  ];
  const allTasks = Promise.all(tasks.map((task) => task.finally(() => stopController.abort())));
  allTasks.catch(() => undefined); // `stop` reports the rejection
  return {
    signal: stopSignal,
    async stop() {
      stopController.abort();
      await client.close();
      await Promise.allSettled(tasks);
      await allTasks;
    },
  };
}
