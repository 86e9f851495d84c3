/** Following a busy chain: large blocks one by one, and blocks every 300 ms under requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { grouped } from '../../cli/table.ts';
import { type Figure, quantile, type Table } from '../figure.ts';
import { apiRequests } from '../load/api-requests.ts';
import { getRequest } from '../load/request.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import { FAST_BLOCK_MS, FAST_TRANSFERS, LARGE_TRANSFERS } from '../stage/plan.ts';
import type { ChainNode, Stage } from '../stage/stage.ts';
import { HeadWatcher } from './head-watcher.ts';
import { loadStepByStep } from './load-steps.ts';

const SYNC_MS = 900_000;
/** A block that takes longer to be indexed is a failure. */
const BLOCK_MS = 300_000;
const LOAD_CONNECTIONS = 4;
const LOAD_PAUSE_MS = 5;

export async function measureHead(stage: Stage): Promise<Table[]> {
  const chain = await stage.chain();
  await stage.filledFolder();
  stage.log('head: filling up to the large blocks');
  await chain.part.ask('setHead', chain.segments.more.last);
  // Not pinned: writer and loaders are meant to have a core of their own.
  return stage.serve({ nodeWs: chain.wsUrl, cores: null }, async (daemon) => {
    await daemon.reaches(chain.segments.more.last, SYNC_MS);
    stage.log('head: large blocks');
    const large = await followLarge(chain, daemon);
    stage.log(`head: a block every ${FAST_BLOCK_MS} ms with requests coming in`);
    const fast = await followFast(stage, chain, daemon);
    return [headTable(large, fast)];
  });
}

interface Large {
  /** From the announcement of the block until clients can read it, milliseconds. */
  visibleMs: number[];
  /** How long the node itself takes for its answers when another client asks. */
  answersMs: number[];
}

async function followLarge({ part, url, segments }: ChainNode, daemon: DaemonProcess): Promise<Large> {
  const { first, last } = segments.large;
  const watcher = watch(daemon);
  const large: Large = { visibleMs: [], answersMs: [] };
  try {
    for (let number = first; number <= last; number++) {
      const minedAt = await part.ask('mine');
      large.visibleMs.push((await watcher.sees(number, BLOCK_MS)) - minedAt);
      const { fetchMs } = await loadStepByStep({ url, from: number, to: number, blocksPerBatch: 1 });
      large.answersMs.push(fetchMs);
    }
    return large;
  } finally {
    watcher.close();
  }
}

interface Fast {
  visibleMs: number[];
  /** Blocks not yet indexed when the next one came. */
  lags: number[];
  requestP99Ms: number;
}

async function followFast(stage: Stage, chain: ChainNode, daemon: DaemonProcess): Promise<Fast> {
  const { ordinary } = await stage.keys();
  const watcher = watch(daemon);
  try {
    return await stage.with('http-load', null, async (load) => {
      const requests = apiRequests(ordinary, false, daemon.key).flatMap(({ texts }) =>
        texts.slice(0, 50).map((text) => ({ group: 'all', text })),
      );
      const { port } = daemon;
      const seconds = SYNC_MS / 1000;
      await load.ask('start', {
        port,
        connections: LOAD_CONNECTIONS,
        seconds,
        pauseMs: LOAD_PAUSE_MS,
        requests,
      });
      const course = await mineEvenly(chain, watcher);
      const { groups } = await load.ask('finish');
      return { ...course, requestP99Ms: groups['all']?.p99Ms ?? Number.NaN };
    });
  } finally {
    watcher.close();
  }
}

async function mineEvenly(
  { part, segments }: ChainNode,
  watcher: HeadWatcher,
): Promise<Pick<Fast, 'visibleMs' | 'lags'>> {
  const { first, last } = segments.fast;
  const lags: number[] = [];
  const seen: Promise<number>[] = [];
  const began = performance.now();
  for (let number = first; number <= last; number++) {
    await sleep(Math.max(0, began + (number - first) * FAST_BLOCK_MS - performance.now()));
    lags.push(Math.max(0, number - 1 - watcher.head));
    const minedAt = await part.ask('mine');
    seen.push(watcher.sees(number, BLOCK_MS).then((at) => at - minedAt));
  }
  return { visibleMs: await Promise.all(seen), lags };
}

function watch(daemon: DaemonProcess): HeadWatcher {
  const anyWallet = `0x${'1'.repeat(40)}`;
  return new HeadWatcher(daemon.port, getRequest(`/api/latest_native_in?address=${anyWallet}`, daemon.key));
}

function headTable(large: Large, fast: Fast): Table {
  const transfers = (count: number) => `${grouped(count)} transfers`;
  const commitMs = large.visibleMs.map((ms, i) => ms - (large.answersMs[i] ?? 0));
  const every = `${transfers(FAST_TRANSFERS)} every ${FAST_BLOCK_MS} ms`;
  const part = (name: string, share: number): Figure => ({
    name: `${every}, ${name}`,
    unit: 'ms',
    samples: [quantile(fast.visibleMs, share)],
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
      part('announcement until clients read it, p50', 0.5),
      part('announcement until clients read it, p99', 0.99),
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
