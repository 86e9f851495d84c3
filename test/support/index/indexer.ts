/** An indexer thread on its own file, without the serving thread. */
import { join } from 'node:path';
import { IndexerClient } from '../../../src/indexer/indexer-client.ts';
import type { IndexerThreadOptions } from '../../../src/indexer/protocol.ts';
import type { CommittingBlocks, Watermark } from '../../../src/model/block-batch.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import type { Cleanup } from '../cleanup.ts';
import { waitFor } from '../wait.ts';

export interface IndexerOptions {
  http: string;
  ws?: string;
  tracesHttp?: string;
  dir: string;
  index?: Partial<IndexerThreadOptions['index']>;
  node?: Partial<IndexerThreadOptions['node']>;
  wrappedNative?: readonly string[];
}

export interface TestIndexer {
  path: string;
  status(): IndexStatus;
  watermarks: Watermark[];
  /** Announcements, each with the number of watermarks before it. */
  announced: { blocks: CommittingBlocks; before: number }[];
  logs: string[];
  client: IndexerClient;
  /** Resolves when the index is at this block (and hash). */
  reaches(number: number, hash?: string): Promise<void>;
}

/** A thread still running at the end of its cleanup is stopped. */
export function startIndexer(cleanup: Cleanup, options: IndexerOptions): TestIndexer {
  const path = join(options.dir, 'index.db');
  let status: IndexStatus | undefined;
  const watermarks: Watermark[] = [];
  const announced: TestIndexer['announced'] = [];
  const logs: string[] = [];
  const client = new IndexerClient(
    {
      indexPath: path,
      nodes: [{ http: options.http, ws: options.ws ?? '' }],
      inUse: 0,
      tracesHttp: options.tracesHttp ?? '',
      node: {
        timeoutMs: 5_000,
        maxSockets: 8,
        maxBatch: 30,
        ...options.node,
      },
      index: {
        startBlock: 'earliest',
        head: 'auto',
        traces: true,
        checkRoots: false,
        pollMs: 20,
        maxReorg: 128,
        readyLag: 5,
        batchTransfers: 5_000,
        backfillMemoryMb: 64,
        backfillWorkers: 1,
        cacheMb: 16,
        ...options.index,
      },
      wrappedNative: options.wrappedNative ?? [],
    },
    {
      onCommitting: (blocks) => announced.push({ blocks, before: watermarks.length }),
      onWatermark: (watermark) => watermarks.push(watermark),
      onStatus: (current) => {
        status = current;
      },
      onUnreadable: (damage) => logs.push(`unreadable ${damage.message}`),
      onLog: (level, fields, msg) => logs.push(`${level} ${msg} ${JSON.stringify(fields)}`),
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
