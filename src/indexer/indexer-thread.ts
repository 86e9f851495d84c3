/** Entry point of the indexer thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { FatalError, stackOf } from '../lib/errors.ts';
import { lowerThreadPriority } from '../lib/thread.ts';
import { SelectedNode } from '../node/choice/selected-node.ts';
import { runIndexer } from './indexer.ts';
import type { FromIndexer, IndexerThreadData, ToIndexer } from './protocol.ts';

async function main(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('indexer-thread is a thread entry; it cannot run on its own');
  // Serving has priority: a commit can wait a few milliseconds, clients should not.
  lowerThreadPriority(10);
  const send = (message: FromIndexer): void => port.postMessage(message);
  const stop = new AbortController();
  const options = workerData as IndexerThreadData;
  const node = new SelectedNode(options.nodes);
  node.select(options.inUse, false);
  port.on('message', (message: ToIndexer) => {
    if (message.kind === 'stop') stop.abort();
    else node.select(message.at, true);
  });
  try {
    await runIndexer(options, node, send, stop.signal);
    send({ kind: 'stopped' });
  } catch (error) {
    send({ kind: 'fatal', message: error instanceof FatalError ? error.message : stackOf(error) });
  }
  port.close();
}

// Not awaited, because the single binary contains this file as a CommonJS script.
void main();
