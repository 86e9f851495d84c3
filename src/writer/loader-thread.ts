/** Entry of a loader thread: fetches and decodes ranges of blocks on another core than the writer's. */
import { parentPort, workerData } from 'node:worker_threads';
import { batchBuffers } from '../decode/batch.ts';
import { UpstreamError } from '../errors.ts';
import { stackOf } from '../lib/error-text.ts';
import { giveWay } from '../lib/priority.ts';
import { loadBlocks } from '../sync/load.ts';
import { RpcClient } from '../upstream/client.ts';
import { CallRecorder } from './calls.ts';
import type { FromLoader, LoaderOptions, ToLoader } from './protocol.ts';

/** Ranges processed at once: one is on the wire while another is parsed. */
const RANGES_AT_ONCE = 2;

interface Range {
  id: number;
  from: number;
  to: number;
}

function main(): void {
  const port = parentPort;
  if (port === null) throw new Error('loader-thread is a thread entry and cannot be run by itself');
  giveWay(10);
  const { node, rules } = workerData as LoaderOptions;
  const calls = new CallRecorder();
  const client = new RpcClient({
    url: node.http,
    timeoutMs: node.timeoutMs,
    maxSockets: node.maxSockets,
    maxBatch: node.batch,
    onCall: calls.record,
  });
  let waiting: Range[] = [];
  let atWork = 0;
  const load = async ({ id, from, to }: Range): Promise<void> => {
    try {
      const batch = await loadBlocks(client, rules, from, to);
      port.postMessage({ id, batch, calls: calls.take() } satisfies FromLoader, batchBuffers(batch));
    } catch (error) {
      port.postMessage(failure(id, error, calls));
    }
  };
  const work = async (): Promise<void> => {
    atWork++;
    for (let range = waiting.shift(); range !== undefined; range = waiting.shift()) await load(range);
    atWork--;
  };
  port.on('message', async (message: ToLoader) => {
    if (message === 'stop') {
      waiting = [];
      await client.close();
      port.close();
    } else if ('drop' in message) {
      const isWaiting = waiting.some(({ id }) => id === message.drop);
      waiting = waiting.filter(({ id }) => id !== message.drop);
      if (isWaiting) port.postMessage({ id: message.drop, dropped: true } satisfies FromLoader);
    } else {
      waiting.push(message);
      if (atWork < RANGES_AT_ONCE) await work();
    }
  });
}

/** Errors lose their class between threads, so the fields that matter are sent. */
function failure(id: number, error: unknown, calls: CallRecorder): FromLoader {
  if (error instanceof UpstreamError) {
    return {
      id,
      error: { reason: error.reason, message: error.message, code: error.code },
      calls: calls.take(),
    };
  }
  return { id, defect: stackOf(error) };
}

main();
