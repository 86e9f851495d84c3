/** Entry of the writer thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { FatalError } from '../errors.ts';
import { stackOf } from '../lib/error-text.ts';
import { lowerThreadPriority } from '../lib/thread-priority.ts';
import { runIndexer } from './indexer.ts';
import type { FromWriter, ToWriter, WriterOptions } from './protocol.ts';

async function main(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('writer-thread is a thread entry and cannot be run by itself');
  // Clients come before indexing: commits can wait some milliseconds, clients should not.
  lowerThreadPriority(10);
  const send = (message: FromWriter): void => port.postMessage(message);
  const stop = new AbortController();
  port.on('message', (message: ToWriter) => {
    if (message.kind === 'stop') stop.abort();
  });
  try {
    await runIndexer(workerData as WriterOptions, send, stop.signal);
    send({ kind: 'stopped' });
  } catch (error) {
    send({ kind: 'fatal', message: error instanceof FatalError ? error.message : stackOf(error) });
  }
  port.close();
}

// Not awaited: the single binary holds this file as a CommonJS script.
void main();
