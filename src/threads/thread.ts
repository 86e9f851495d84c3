/** The thread's own side: every entry file calls `thread` and exports the result. */
import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import { nameSettings } from '../lib/setting-name.ts';
import { lowerThreadPriority } from '../lib/thread.ts';
import { lineLog } from '../log/line-log.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { FromThreadPort, StartData, ToThreadPort } from './messages.ts';

export interface ThreadContext<To, From> {
  /** Receives messages. Call it before the first `await`: earlier messages are lost. */
  onMessage(listener: (message: To) => unknown): void;
  post(message: From, transfer?: readonly Transferable[]): void;
  /** Its lines go to the serving thread, which writes them. */
  readonly log: ThreadLog;
  /** Aborts when the thread must end. */
  readonly signal: AbortSignal;
  /** Resolves then. */
  readonly stopped: Promise<void>;
  /** Whether the thread must end, also while its work reads no messages. */
  mustStop(): boolean;
}

/** The types of a thread: what it starts with, and the messages to and from it. */
export interface ThreadEntry<Data, To, From> {
  readonly types?: { data: Data; to: To; from: From };
}

interface ThreadTraits {
  /** Added to its priority, so that threads with more urgent work run first. */
  niceness?: number;
}

/**
 * Runs `work`. The thread ends with it. An error that it throws or rejects with ends the thread too, and the thread's
 * handle reports it; so does an error in a callback.
 */
export function thread<Data, To = never, From = never>(
  { niceness = 0 }: ThreadTraits,
  work: (data: Data, context: ThreadContext<To, From>) => Promise<void> | void,
): ThreadEntry<Data, To, From> {
  const port = parentPort;
  if (port === null) throw new Error('this file is the entry of a thread; it cannot run on its own');
  if (niceness > 0) lowerThreadPriority(niceness);
  const { data, stopFlag, settings }: StartData<Data> = workerData;
  nameSettings(settings);
  const stop = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let listener: (message: To) => unknown = () => undefined;
  port.on('message', (received: ToThreadPort<To>) => {
    if ('message' in received) return listener(received.message);
    stop.abort();
    stopped.resolve();
  });
  const send = (sent: FromThreadPort<From>, transfer?: readonly Transferable[]): void =>
    port.postMessage(sent, transfer);
  const run = async (): Promise<void> => {
    await work(data, {
      onMessage(receive) {
        listener = receive;
      },
      post: (message, transfer) => send({ message }, transfer),
      log: lineLog((level, fields, msg) => send({ line: { level, fields, msg } })),
      signal: stop.signal,
      stopped: stopped.promise,
      mustStop: () => Atomics.load(stopFlag, 0) !== 0,
    });
    port.close();
  };
  // Not awaited: a rejection ends the thread with that error. The single binary is CommonJS, which has no top-level
  // await.
  void run();
  return {};
}
