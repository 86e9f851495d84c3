/** Entry point of a backfill worker: fetches and decodes ranges of blocks on a core of its own. */
import { batchBuffers } from '../../decode/batch.ts';
import { IncompleteBlockError } from '../../decode/block-checks.ts';
import { stackOf, UpstreamError } from '../../lib/errors.ts';
import { thread } from '../../threads/thread.ts';
import { CallRecorder, newNodeClient } from '../node-client.ts';
import type {
  BackfillWorkerOptions,
  FromBackfillWorker,
  RangeRequest,
  ToBackfillWorker,
} from '../protocol.ts';
import { MissingReceipts } from '../require-transactions.ts';
import { RootCheck } from '../root-check.ts';
import { loadRange } from './load-blocks.ts';

/** Ranges processed at once: one in flight while another one is parsed. */
const CONCURRENCY = 2;

export default thread<BackfillWorkerOptions, ToBackfillWorker, FromBackfillWorker>(
  { niceness: 10 },
  async ({ node, rules }, { onMessage, post, stopped }) => {
    const calls = new CallRecorder();
    const client = newNodeClient(node, calls);
    let roots: RootCheck | undefined;
    let queue: RangeRequest[] = [];
    let activeWorkers = 0;
    const load = async ({ id, from, to, tolerance }: RangeRequest): Promise<void> => {
      try {
        roots ??= new RootCheck(rules.headerProof);
        const batches = await loadRange(client, { ...rules, tolerance }, from, to, undefined, roots);
        post({ id, batches, calls: calls.drain() }, batches.flatMap(batchBuffers));
      } catch (error) {
        post(failure(id, error, calls));
      }
    };
    const drainQueue = async (): Promise<void> => {
      activeWorkers++;
      for (let range = queue.shift(); range !== undefined; range = queue.shift()) await load(range);
      activeWorkers--;
    };
    onMessage(async (message) => {
      if ('cancel' in message) {
        const isQueued = queue.some(({ id }) => id === message.cancel);
        queue = queue.filter(({ id }) => id !== message.cancel);
        if (isQueued) post({ id: message.cancel, cancelled: true });
      } else {
        queue.push(message);
        if (activeWorkers < CONCURRENCY) await drainQueue();
      }
    });
    await stopped;
    queue = [];
    await client.close();
  },
);

/** Errors lose their class between threads, so send the relevant fields. */
function failure(id: number, error: unknown, calls: CallRecorder): FromBackfillWorker {
  if (error instanceof UpstreamError) {
    return {
      id,
      error: {
        reason: error.reason,
        message: error.message,
        incomplete: error instanceof IncompleteBlockError ? error.found : null,
        missing: error instanceof MissingReceipts ? error.missing : null,
      },
      calls: calls.drain(),
    };
  }
  return { id, defect: stackOf(error) };
}
