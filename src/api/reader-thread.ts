/** Entry of a read thread: answers, one after another, requests that are too much work for the event loop. */
import { parentPort, workerData } from 'node:worker_threads';
import { RequestError } from '../errors.ts';
import { stackOf } from '../lib/error-text.ts';
import { Snapshot } from '../query/snapshot.ts';
import { WalletIdCache } from '../query/wallet-id-cache.ts';
import { deadlineBudget } from '../query/work-budget.ts';
import { openIndexForReading } from '../store/index-file.ts';
import type { EndpointHandler } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { ApiResult, FromReader, ReaderOptions, ReadRequest, ToReader } from './reader-protocol.ts';

/** Page cache of a read thread, MiB: its reads are long and rarely repeated, so caching helps little. */
const CACHE_MB = 8;

function main(): void {
  const port = parentPort;
  if (port === null) throw new Error('reader-thread is a thread entry and cannot be run by itself');
  const { indexPath, nativeSymbol } = workerData as ReaderOptions;
  const db = openIndexForReading(indexPath, { cacheMb: CACHE_MB });
  const snapshot = new Snapshot(db);
  const source = { db, walletIds: new WalletIdCache(db, snapshot), nativeSymbol };
  const handlers = new Map<string, EndpointHandler>(
    ENDPOINTS.map((endpoint) => [endpoint.path, endpoint.prepare(source)]),
  );

  const handle = ({ path, input, chainDepth, deadline }: ReadRequest): ApiResult => {
    const handler = handlers.get(path);
    if (handler === undefined) throw new Error(`there is no endpoint ${path}`);
    try {
      const head = snapshot.head();
      if (head === null) throw new RequestError(503, 'not_ready', 'no block is indexed yet');
      const context = { head, chainDepth, budget: deadlineBudget(deadline) };
      return { head, body: JSON.stringify(handler(input, context)) };
    } finally {
      snapshot.release();
    }
  };

  port.on('message', (message: ToReader) => {
    if (message === 'stop') {
      db.close();
      port.close();
    } else port.postMessage(toReply(() => handle(message)));
  });
}

/** Errors lose their class between threads, so the fields that matter are sent. */
function toReply(read: () => ApiResult): FromReader {
  try {
    return read();
  } catch (error) {
    if (error instanceof RequestError) {
      const { status, code, message, param } = error;
      return { requestError: { status, code, message, param } };
    }
    return { defect: stackOf(error) };
  }
}

main();
