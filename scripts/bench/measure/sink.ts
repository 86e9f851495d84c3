/** History into PostgreSQL: from an existing index, and behind a busy head. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { formatNumber } from '../../../src/cli/format.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import { isObject } from '../../../src/lib/text.ts';
import { startPostgres, type TestPostgres } from '../../../test/support/sink/postgres.ts';
import { type Figure, quantile, type Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { FAST_BLOCK_MS, FAST_TRANSFERS } from '../setup/chain-plan.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ChainNode } from '../setup/fill-index.ts';
import { waitUntil } from '../wait-until.ts';
import { mineAtInterval } from './head.ts';

/** Settings that an operator would choose on a machine of this size; everything else is PostgreSQL's default. */
const POSTGRES_SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '15min',
};

const TIMEOUT_MS = 3_600_000;
const POLL_MS = 5;

export async function measureSink(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  await context.filledFolder();
  const closers: (() => void | Promise<void>)[] = [];
  const end = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  return context.withCleanup(async () => {
    const server = await startPostgres(
      { after: (close) => void closers.push(close) },
      { settings: POSTGRES_SETTINGS },
    );
    const rates: number[] = [];
    const bytes: number[] = [];
    for (let run = 1; run <= context.options.repeat; run++) {
      context.log(`sink: writing the index into PostgreSQL, run ${run} of ${context.options.repeat}`);
      const url = await server.createDatabase(`bulk_${run}`);
      const options = { env: { ATLAS_SINK__POSTGRES__URL: url }, cores: null };
      const { transfers } = chain.segments.fill;
      const seconds = await context.withServingDaemon(options, (daemon) =>
        followed(daemon, chain.segments.fill.last),
      );
      rates.push(transfers / seconds);
      bytes.push((await databaseBytes(url)) / transfers);
    }
    return [table(chain, rates, bytes, await followFast(context, chain, server))];
  }, end);
}

/** Seconds from the daemon's readiness until PostgreSQL has the block and the sink has built its indexes. */
async function followed(daemon: DaemonProcess, block: number): Promise<number> {
  await waitUntil(
    async () => {
      const status: unknown = await daemon.status();
      const sink = isObject(status) && isObject(status['sink']) ? status['sink'] : {};
      if (sink['state'] === 'waiting') throw new FatalError(`the sink waits: ${String(sink['reason'])}`);
      return sink['state'] === 'following' && Number(sink['block']) >= block ? true : null;
    },
    { what: `block ${block} in PostgreSQL`, timeoutMs: TIMEOUT_MS, everyMs: 100 },
  );
  return (Date.now() - daemon.readyAt) / 1000;
}

/** Milliseconds from the node's announcement of each busy block until SQL reads it. */
async function followFast(context: BenchContext, chain: ChainNode, server: TestPostgres): Promise<number[]> {
  const url = server.url(`bulk_${context.options.repeat}`);
  const { large, fast } = chain.segments;
  context.log('sink: filling up to the busy blocks');
  await chain.worker.call('setHead', large.last);
  const options = { nodeWs: chain.wsUrl, env: { ATLAS_SINK__POSTGRES__URL: url }, cores: null };
  return context.withServingDaemon(options, async (daemon) => {
    await daemon.waitForBlock(large.last, TIMEOUT_MS);
    await followed(daemon, large.last);
    context.log(`sink: ${fast.last - fast.first + 1} blocks, one every ${FAST_BLOCK_MS} ms`);
    const watcher = new SinkWatcher(url);
    try {
      return (await mineAtInterval(chain, watcher)).visibleMs;
    } finally {
      await watcher.close();
    }
  });
}

/** Polls the last block in PostgreSQL. */
class SinkWatcher {
  head = 0;
  private readonly sql: postgres.Sql;
  private readonly seen = new Map<number, number>();
  private readonly polling: Promise<void>;
  private isClosed = false;

  constructor(url: string) {
    this.sql = postgres(url, { max: 1 });
    this.polling = this.poll();
  }

  /** When a block was first seen, Unix milliseconds by this process's performance.now(). */
  waitForBlock(block: number, timeoutMs: number): Promise<number> {
    const seenAt = () => [...this.seen].find(([head]) => head >= block)?.[1] ?? null;
    return waitUntil(async () => seenAt(), {
      what: `block ${block} in PostgreSQL`,
      timeoutMs,
      everyMs: POLL_MS,
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.polling;
    await this.sql.end();
  }

  private async poll(): Promise<void> {
    while (!this.isClosed) {
      const [row] = await this.sql<{ head: number }[]>`SELECT head_block::int AS head FROM atlas.sink`;
      if (row !== undefined && row.head > this.head) {
        this.head = row.head;
        this.seen.set(row.head, Date.now());
      }
      await sleep(POLL_MS);
    }
  }
}

async function databaseBytes(url: string): Promise<number> {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql<{ bytes: string }[]>`SELECT pg_database_size(current_database()) AS bytes`;
    return Number(row?.bytes);
  } finally {
    await sql.end();
  }
}

function table(chain: ChainNode, rates: number[], bytes: number[], visibleMs: number[]): Table {
  const every =
    `${formatNumber(FAST_TRANSFERS)} transfers every ${FAST_BLOCK_MS} ms, announcement until ` +
    'SQL reads them';
  const visible = (name: string, q: number, budget?: Figure['budget']): Figure => ({
    name: `${every}, ${name}`,
    unit: 'ms',
    samples: [quantile(visibleMs, q)],
    ...(budget && { budget }),
  });
  return {
    title: `History in PostgreSQL, ${formatNumber(chain.segments.fill.transfers)} transfers`,
    layout: 'list',
    figures: [
      {
        name: 'from an existing index, with indexes built',
        unit: 'transfers/s',
        samples: rates,
        budget: { floor: 40_000, goal: 60_000 },
      },
      { name: 'size of the database with indexes, per transfer', unit: 'B', samples: bytes },
      visible('p50', 0.5),
      visible('p99', 0.99, { floor: 1_000, goal: 300 }),
    ],
    notes: [
      'Daemon, PostgreSQL and node share the cores: nothing is pinned. PostgreSQL writes its log to disk (fsync on).',
    ],
  };
}
