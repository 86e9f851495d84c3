/** Following a busy chain: large blocks one by one, and blocks every 300 ms under requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatNumber } from '../../../src/cli/format.ts';
import { type Figure, quantile, type Table } from '../figure.ts';
import { apiRequests } from '../load/api-requests.ts';
import { getRequest } from '../load/request.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { FAST_BLOCK_MS, FAST_TRANSFERS, LARGE_TRANSFERS } from '../setup/chain-plan.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ChainNode } from '../setup/fill-index.ts';
import { HeadWatcher } from './head-watcher.ts';
import { loadStepByStep } from './load-steps.ts';

const SYNC_TIMEOUT_MS = 900_000;
/** A block that takes longer to be indexed counts as a failure. */
const BLOCK_TIMEOUT_MS = 300_000;
const LOAD_CONNECTIONS = 4;
const LOAD_PAUSE_MS = 5;

export async function measureHead(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  await context.filledFolder();
  context.log('head: filling up to the large blocks');
  await chain.worker.call('setHead', chain.segments.more.last);
  // Not pinned, because writer and backfill workers are meant to have their own core.
  return context.withServingDaemon({ nodeWs: chain.wsUrl, cores: null }, async (daemon) => {
    await daemon.waitForBlock(chain.segments.more.last, SYNC_TIMEOUT_MS);
    context.log('head: large blocks');
    const large = await followLarge(chain, daemon);
    context.log(`head: a block every ${FAST_BLOCK_MS} ms with requests coming in`);
    const fast = await followFast(context, chain, daemon);
    return [headTable(large, fast)];
  });
}

interface LargeBlockTimes {
  /** From the announcement of the block until clients can read it, milliseconds. */
  visibleMs: number[];
  /** How long the node itself takes to answer another client. */
  answersMs: number[];
}

async function followLarge(
  { worker, url, segments }: ChainNode,
  daemon: DaemonProcess,
): Promise<LargeBlockTimes> {
  const { first, last } = segments.large;
  const watcher = watchHead(daemon);
  const large: LargeBlockTimes = { visibleMs: [], answersMs: [] };
  try {
    for (let number = first; number <= last; number++) {
      const minedAt = await worker.call('mine');
      large.visibleMs.push((await watcher.waitForBlock(number, BLOCK_TIMEOUT_MS)) - minedAt);
      const { fetchMs } = await loadStepByStep({ url, from: number, to: number, blocksPerBatch: 1 });
      large.answersMs.push(fetchMs);
    }
    return large;
  } finally {
    watcher.close();
  }
}

interface FastBlockTimes {
  visibleMs: number[];
  /** Blocks not yet indexed when the next one arrived. */
  lags: number[];
  requestP99Ms: number;
}

async function followFast(
  context: BenchContext,
  chain: ChainNode,
  daemon: DaemonProcess,
): Promise<FastBlockTimes> {
  const { ordinary } = await context.subjects();
  const watcher = watchHead(daemon);
  try {
    return await context.withWorker('http-load', null, async (load) => {
      const requests = apiRequests(ordinary, false, daemon.key).flatMap(({ texts }) =>
        texts.slice(0, 50).map((text) => ({ group: 'all', text })),
      );
      const { port } = daemon;
      const seconds = SYNC_TIMEOUT_MS / 1000;
      await load.call('start', {
        port,
        connections: LOAD_CONNECTIONS,
        seconds,
        pauseMs: LOAD_PAUSE_MS,
        requests,
      });
      const course = await mineAtInterval(chain, watcher);
      const { groups } = await load.call('finish');
      return { ...course, requestP99Ms: groups['all']?.p99Ms ?? Number.NaN };
    });
  } finally {
    watcher.close();
  }
}

export async function mineAtInterval(
  { worker, segments }: ChainNode,
  watcher: Pick<HeadWatcher, 'head' | 'waitForBlock'>,
): Promise<Pick<FastBlockTimes, 'visibleMs' | 'lags'>> {
  const { first, last } = segments.fast;
  const lags: number[] = [];
  const seen: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let number = first; number <= last; number++) {
    await sleep(Math.max(0, startedAt + (number - first) * FAST_BLOCK_MS - performance.now()));
    lags.push(Math.max(0, number - 1 - watcher.head));
    const minedAt = await worker.call('mine');
    const visibleMs = watcher.waitForBlock(number, BLOCK_TIMEOUT_MS).then((at) => at - minedAt);
    visibleMs.catch(() => undefined); // failures are thrown below, once all blocks are mined
    seen.push(visibleMs);
  }
  return { visibleMs: await Promise.all(seen), lags };
}

function watchHead(daemon: DaemonProcess): HeadWatcher {
  const anyWallet = `0x${'1'.repeat(40)}`;
  return new HeadWatcher(daemon.port, getRequest(`/api/latest_native_in?address=${anyWallet}`, daemon.key));
}

function headTable(large: LargeBlockTimes, fast: FastBlockTimes): Table {
  const transfers = (count: number) => `${formatNumber(count)} transfers`;
  const commitMs = large.visibleMs.map((ms, i) => ms - (large.answersMs[i] ?? 0));
  const every = `${transfers(FAST_TRANSFERS)} every ${FAST_BLOCK_MS} ms`;
  const visible = (name: string, q: number): Figure => ({
    name: `${every}, ${name}`,
    unit: 'ms',
    samples: [quantile(fast.visibleMs, q)],
  });
  return {
    title: 'Following the head',
    layout: 'list',
    figures: [
      {
        name: `block of ${transfers(LARGE_TRANSFERS)}, announcement until clients read it`,
        unit: 'ms',
        samples: large.visibleMs,
      },
      {
        name: 'the same without the time that the node needs to answer',
        unit: 'ms',
        samples: commitMs,
        budget: { floor: 800, goal: 300 },
      },
      visible('announcement until clients read it, p50', 0.5),
      visible('announcement until clients read it, p99', 0.99),
      {
        name: `${every}, blocks behind at most when the next comes`,
        unit: 'blocks',
        samples: [quantile(fast.lags, 1)],
        budget: { floor: 2, goal: 1 },
      },
      { name: `${every}, REST p99 meanwhile`, unit: 'ms', samples: [fast.requestP99Ms] },
    ],
    notes: ['Daemon, node and load share the cores: nothing is pinned.'],
  };
}
