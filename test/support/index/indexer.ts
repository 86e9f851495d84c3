/** An indexer on its own file, without the serving thread. */
import { join } from 'node:path';
import { runIndexer } from '../../../src/indexer/indexer.ts';
import { IndexerClient, type IndexerListeners, notify } from '../../../src/indexer/indexer-client.ts';
import type { FromIndexer, IndexerThreadOptions } from '../../../src/indexer/protocol.ts';
import type { CommittingBlocks, Watermark } from '../../../src/model/block-batch.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import { SelectedNode } from '../../../src/node/choice/selected-node.ts';
import { CodeRequests } from '../../../src/tokens/wallet-code-loop.ts';
import type { Cleanup } from '../cleanup.ts';
import { logTo } from '../logs.ts';
import { waitFor } from '../wait.ts';

export interface IndexerOptions {
  http: string;
  ws?: string;
  tracesHttp?: string;
  dir: string;
  index?: Partial<IndexerThreadOptions['index']>;
  node?: Partial<IndexerThreadOptions['node']>;
  wrappedNative?: readonly string[];
  /** HTTP addresses of further nodes. */
  others?: readonly string[];
}

type Client = Pick<IndexerClient, 'ended' | 'stop' | 'examine'>;

export interface TestIndexer<C extends Client = Client> {
  path: string;
  status(): IndexStatus;
  watermarks: Watermark[];
  /** Announcements, each with the number of watermarks before it. */
  announced: { blocks: CommittingBlocks; before: number }[];
  logs: string[];
  client: C;
  /** Resolves when the index is at this block (and hash). */
  reaches(number: number, hash?: string): Promise<void>;
}

/** Runs the indexer in this thread. Its own thread takes a second of CPU to start. */
export function startIndexer(cleanup: Cleanup, options: IndexerOptions): TestIndexer {
  return observe(cleanup, options, runHere);
}

/** Runs the indexer in its own thread, as the daemon does. */
export function startIndexerThread(cleanup: Cleanup, options: IndexerOptions): TestIndexer<IndexerClient> {
  return observe(cleanup, options, (thread, listeners) => new IndexerClient(thread, listeners));
}

function runHere(options: IndexerThreadOptions, listeners: IndexerListeners): Client {
  const stop = new AbortController();
  // The indexer reuses what it sends: copied, as between threads.
  const send = (message: FromIndexer): void => notify(listeners, structuredClone(message));
  const mustStop = () => stop.signal.aborted;
  const codeRequests = new CodeRequests();
  const around = { node: new SelectedNode(options.nodes), send, log: listeners.log, codeRequests, mustStop };
  const ended = runIndexer(options, around, stop.signal);
  ended.catch(() => undefined); // not unhandled: the test awaits `ended` later
  return {
    ended,
    examine: (wallets) => codeRequests.add(wallets),
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

/** An indexer still running at the end of its cleanup is stopped. */
function observe<C extends Client>(
  cleanup: Cleanup,
  options: IndexerOptions,
  run: (options: IndexerThreadOptions, listeners: IndexerListeners) => C,
): TestIndexer<C> {
  const path = join(options.dir, 'index.db');
  let status: IndexStatus | undefined;
  const watermarks: Watermark[] = [];
  const announced: TestIndexer['announced'] = [];
  const logs: string[] = [];
  const client = run(
    {
      indexPath: path,
      nodes: [
        { http: options.http, ws: options.ws ?? '' },
        ...(options.others ?? []).map((http) => ({ http, ws: '' })),
      ],
      inUse: 0,
      tracesHttp: options.tracesHttp ?? '',
      node: {
        timeoutMs: 5_000,
        maxSockets: 8,
        maxBatch: 30,
        ...options.node,
      },
      index: {
        // Generated chains have no block 0; see TEST_SETTINGS.
        startBlock: 1,
        head: 'auto',
        finality: 'auto',
        traces: true,
        checkRoots: false,
        pollMs: 20,
        maxReorg: 128,
        gapAfterMs: 600_000,
        readyLag: 5,
        batchTransfers: 5_000,
        backfillMemoryMb: 64,
        backfillWorkers: 1,
        cacheMb: 16,
        ...options.index,
      },
      configured: { wrappedNative: options.wrappedNative ?? [] },
      configuredTrades: {},
    },
    {
      onCommitting: (blocks) => announced.push({ blocks, before: watermarks.length }),
      onWatermark: (watermark) => watermarks.push(watermark),
      onStatus: (current) => {
        status = current;
      },
      onUnreadable: (damage) => logs.push(`unreadable ${damage.message}`),
      log: logTo(logs),
    },
  );
  cleanup.after(() => client.stop().catch(() => undefined)); // may have ended already, without a request
  const current = (): IndexStatus => {
    if (status === undefined) throw new Error('the indexer has not reported yet');
    return status;
  };
  return {
    path,
    status: current,
    watermarks,
    announced,
    logs,
    client,
    async reaches(number, hash) {
      const there = (): boolean => {
        const { head } = current();
        return head?.number === number && (hash === undefined || head.hash === hash);
      };
      await waitFor(there, {
        what: `the index to reach block ${number}; ${logs.join('\n')}`,
      });
    },
  };
}
