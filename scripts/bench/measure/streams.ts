/** How soon messages reach 1,000 WebSockets and what they cost, compared with a bare publish. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, quantile, type Table } from '../figure.ts';
import { pinFirstThread, pinningText } from '../process/cores.ts';
import { mainThreadSeconds, peakMegabytes, resetPeakMemory } from '../process/resource-usage.ts';
import type { WorkerProcess } from '../process/worker-process.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { streamBlocks } from '../setup/chain-plan.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ChainNode } from '../setup/fill-index.ts';
import type { WsClientsActions } from '../workers/ws-clients.ts';

const SOCKETS = 1_000;
/** Pause between two blocks, so that one is finished before the next arrives. */
const PAUSE_MS = 250;
/** First blocks excluded from the figures, during which the daemon's notification code is compiled. */
const WARM_UP_BLOCKS = 5;
const SYNC_TIMEOUT_MS = 600_000;

/** A message as long as the one of a head. */
const HEAD_BYTES = 1_700;

interface FanOutTimes {
  /** From the first to the last of all sockets, milliseconds, one per message. */
  spreads: number[];
  /** Processor time of the server's event loop, milliseconds, one per message. */
  costs: number[];
}

export async function measureStreams(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  await context.filledFolder();
  return context.withWorker('ws-clients', context.cores.load, async (clients) => {
    context.log(`streams: a bare publish to ${SOCKETS} sockets`);
    const bare = await measureBare(context, clients);
    return context.withServingDaemon({ nodeWs: chain.wsUrl, cores: null }, async (daemon) => {
      await daemon.waitForBlock(await chain.worker.call('head'), SYNC_TIMEOUT_MS);
      // The writer is not pinned, because it is meant to have its own core while blocks arrive.
      await pinFirstThread(daemon.pid, context.cores.server);
      context.log(`streams: heads to ${SOCKETS} sockets`);
      resetPeakMemory(daemon.pid);
      const heads = await measureHeads(context, chain, daemon, clients);
      context.log(`streams: transfers of a wallet to ${SOCKETS} sockets`);
      const ages = await measureDeliveryAges(context, chain, daemon, clients);
      return [table(context, heads, bare, ages, peakMegabytes(daemon.pid))];
    });
  });
}

function measureBare(context: BenchContext, clients: WorkerProcess<WsClientsActions>): Promise<FanOutTimes> {
  return context.withWorker('bare', context.cores.server, async (server) => {
    const port = await server.call('open', { indexPath: null });
    const url = `ws://127.0.0.1:${port}/`;
    await clients.call('open', { url, key: '', count: SOCKETS, subscribe: [] });
    const text = 'x'.repeat(HEAD_BYTES);
    const times = await measureFanOut(clients, server.pid, streamBlocks(context.options.quick), () =>
      server.call('publish', text),
    );
    await clients.call('close');
    return times;
  });
}

async function measureHeads(
  context: BenchContext,
  { worker }: ChainNode,
  daemon: DaemonProcess,
  clients: WorkerProcess<WsClientsActions>,
): Promise<FanOutTimes> {
  const subscribe = [subscription('newHeads')];
  const url = `${daemon.url.replace('http', 'ws')}/ws`;
  await clients.call('open', { url, key: daemon.key, count: SOCKETS, subscribe });
  const times = await measureFanOut(clients, daemon.pid, streamBlocks(context.options.quick), () =>
    worker.call('mine'),
  );
  await clients.call('close');
  return times;
}

/** Calls `publish`, which sends a message to all sockets, repeatedly. */
async function measureFanOut(
  clients: WorkerProcess<WsClientsActions>,
  pid: number,
  count: number,
  publish: () => Promise<unknown>,
): Promise<FanOutTimes> {
  const times: FanOutTimes = { spreads: [], costs: [] };
  for (let i = 0; i < count; i++) {
    await sleep(PAUSE_MS);
    await clients.call('arm');
    const before = mainThreadSeconds(pid);
    await publish();
    const arrivals = await clients.call('arrived');
    times.costs.push((mainThreadSeconds(pid) - before) * 1000);
    times.spreads.push(quantile(arrivals, 1) - quantile(arrivals, 0));
  }
  return times;
}

interface DeliveryAges {
  /** From the commit to each socket that was notified, milliseconds, over all blocks. */
  clientMs: number[];
  /** Per block: number of notifications, and of sockets that got any. */
  notifications: number;
  sockets: number;
  /** Mean time from the commit to the push, milliseconds, from the daemon's own metrics. */
  serverMs: number;
}

/** Each socket watches its own wallet. Some of these wallets have transfers in each block. */
async function measureDeliveryAges(
  context: BenchContext,
  { worker }: ChainNode,
  daemon: DaemonProcess,
  clients: WorkerProcess<WsClientsActions>,
): Promise<DeliveryAges> {
  const { recentWallets } = await context.subjects();
  const subscribe = recentWallets.map((address) => subscription('wallet_transfers', { address }));
  const url = `${daemon.url.replace('http', 'ws')}/ws`;
  await clients.call('open', { url, key: daemon.key, count: SOCKETS, subscribe });
  const clientMs: number[] = [];
  const blocks = streamBlocks(context.options.quick);
  const before = await sumOf(daemon, 'atlas_ws_notifications_total');
  for (let i = 0; i < blocks; i++) {
    await clients.call('arm');
    await worker.call('mine');
    await sleep(PAUSE_MS); // no requests meanwhile, because they would also have to be answered
    const { lastCommitAt } = await daemon.waitForBlock(await worker.call('head'), SYNC_TIMEOUT_MS);
    const arrivals = await clients.call('soFar');
    if (lastCommitAt !== null && i >= WARM_UP_BLOCKS)
      clientMs.push(...arrivals.map((at) => at - lastCommitAt));
  }
  const notifications = (await sumOf(daemon, 'atlas_ws_notifications_total')) - before;
  await clients.call('close');
  return {
    clientMs,
    notifications: notifications / blocks,
    sockets: clientMs.length / (blocks - WARM_UP_BLOCKS),
    serverMs: await meanPushMs(daemon),
  };
}

function subscription(...params: unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });
}

async function meanPushMs(daemon: DaemonProcess): Promise<number> {
  const name = 'atlas_ws_push_age_seconds';
  return ((await sumOf(daemon, `${name}_sum`)) / (await sumOf(daemon, `${name}_count`))) * 1000;
}

/** A metric of the daemon, over all its labels. */
async function sumOf(daemon: DaemonProcess, name: string): Promise<number> {
  const values = [...(await daemon.metrics())].filter(([sample]) => sample.split('{')[0] === name);
  return values.reduce((sum, [, value]) => sum + value, 0);
}

function table(
  context: BenchContext,
  heads: FanOutTimes,
  bare: FanOutTimes,
  ages: DeliveryAges,
  megabytes: number,
): Table {
  const against = (samples: number[]) => ({ against: { name: 'bare publish', samples } });
  const age = (name: string, q: number, floor: number, goal: number): Figure => ({
    name,
    unit: 'ms',
    samples: [quantile(ages.clientMs, q)],
    budget: { floor, goal },
  });
  return {
    title: `Streams to ${SOCKETS} WebSockets`,
    layout: 'list',
    figures: [
      {
        name: 'one head, from the first to the last socket',
        unit: 'ms',
        samples: heads.spreads,
        ...against(bare.spreads),
      },
      {
        name: 'one head, processor time of the event loop',
        unit: 'ms',
        samples: heads.costs,
        ...against(bare.costs),
        budget: { floor: 0.5, goal: 0.8 },
      },
      age('commit to client, p50', 0.5, 5, 1),
      age('commit to client, p99', 0.99, 25, 8),
      { name: 'commit to push, mean, by the daemon', unit: 'ms', samples: [ages.serverMs] },
      {
        name: 'largest memory of the daemon, following',
        unit: 'MB',
        samples: [megabytes],
        budget: { floor: 250, goal: 180 },
      },
    ],
    notes: [
      'All sockets belong to one process, whose reading takes part of the time. ' +
        `${pinningText(context.cores)}; of the daemon the event loop only, and it indexes each block meanwhile.`,
      `Each socket watches a wallet of its own; a block made ${Math.round(ages.notifications)} ` +
        `notifications to ${Math.round(ages.sockets)} of them. An age is that of the first one of a block to a ` +
        `socket. The first ${WARM_UP_BLOCKS} blocks are not counted.`,
    ],
  };
}
