/** Entry of a read thread: answers, one after another, questions that are too much work for the event loop. */
import { parentPort, workerData } from 'node:worker_threads';
import { RequestError } from '../errors.ts';
import { stackOf } from '../lib/error-text.ts';
import { AddressBook } from '../query/address-book.ts';
import { effortUntil } from '../query/effort.ts';
import { Snapshot } from '../query/snapshot.ts';
import { openIndexForReading } from '../store/index-file.ts';
import type { Answer } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Answered, FromReader, Question, ReaderOptions, ToReader } from './reader-protocol.ts';

/** Page cache of a read thread, MiB: its reads are long and rarely repeated, so caching helps little. */
const CACHE_MB = 8;

function main(): void {
  const port = parentPort;
  if (port === null) throw new Error('reader-thread is a thread entry and cannot be run by itself');
  const { indexPath, nativeSymbol } = workerData as ReaderOptions;
  const db = openIndexForReading(indexPath, { cacheMb: CACHE_MB });
  const snapshot = new Snapshot(db);
  const source = { db, addresses: new AddressBook(db, snapshot), nativeSymbol };
  const answers = new Map<string, Answer>(
    ENDPOINTS.map((endpoint) => [endpoint.path, endpoint.prepare(source)]),
  );

  const answer = ({ path, input, chainDepth, deadline }: Question): Answered => {
    const prepared = answers.get(path);
    if (prepared === undefined) throw new Error(`there is no endpoint ${path}`);
    try {
      const head = snapshot.head();
      if (head === null) throw new RequestError(503, 'not_ready', 'no block is indexed yet');
      const context = { head, chainDepth, effort: effortUntil(deadline) };
      return { head, body: JSON.stringify(prepared(input, context)) };
    } finally {
      snapshot.release();
    }
  };

  port.on('message', (message: ToReader) => {
    if (message === 'stop') {
      db.close();
      port.close();
    } else port.postMessage(settled(() => answer(message)));
  });
}

/** Errors lose their class between threads, so the fields that matter are sent. */
function settled(answer: () => Answered): FromReader {
  try {
    return answer();
  } catch (error) {
    if (error instanceof RequestError) {
      const { status, code, message, param } = error;
      return { refused: { status, code, message, param } };
    }
    return { defect: stackOf(error) };
  }
}

main();
