/** How soon messages reach 1,000 WebSockets and what they cost, against a bare publish. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, quantile, type Table } from '../figure.ts';
import type { WsClientsActions } from '../parts/ws-clients.ts';
import { pinFirstThread, sharing } from '../process/cores.ts';
import type { Part } from '../process/part.ts';
import { forgetPeak, mainThreadSeconds, peakMegabytes } from '../process/usage.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import { streamBlocks } from '../stage/plan.ts';
import type { ChainNode, Stage } from '../stage/stage.ts';

const SOCKETS = 1_000;
/** Pause between two blocks, so that one is finished before the next comes. */
const PAUSE_MS = 250;
const SYNC_MS = 600_000;

/** A message as long as the one of a head. */
const HEAD_BYTES = 1_700;

interface Fan {
  /** From the first to the last of all sockets, milliseconds, one per message. */
  spreads: number[];
  /** Processor time of the server's event loop, milliseconds, one per message. */
  costs: number[];
}

export async function measureStreams(stage: Stage): Promise<Table[]> {
  const chain = await stage.chain();
  await stage.filledFolder();
  return stage.with('ws-clients', stage.cores.load, async (clients) => {
    stage.log(`streams: a bare publish to ${SOCKETS} sockets`);
    const bare = await measureBare(stage, clients);
    return stage.serve({ nodeWs: chain.wsUrl, cores: null }, async (daemon) => {
      await daemon.reaches(await chain.part.ask('head'), SYNC_MS);
      // The writer is not pinned: it is meant to have a core of its own while blocks come.
      await pinFirstThread(daemon.pid, stage.cores.server);
      stage.log(`streams: heads to ${SOCKETS} sockets`);
      forgetPeak(daemon.pid);
      const own = await measureHeads(stage, chain, daemon, clients);
      stage.log(`streams: transfers of a wallet to ${SOCKETS} sockets`);
      const ages = await measureAges(stage, chain, daemon, clients);
      return [table(stage, own, bare, ages, peakMegabytes(daemon.pid))];
    });
  });
}

function measureBare(stage: Stage, clients: Part<WsClientsActions>): Promise<Fan> {
  return stage.with('bare', stage.cores.server, async (server) => {
    const port = await server.ask('open', { indexPath: null });
    const url = `ws://127.0.0.1:${port}/`;
    await clients.ask('open', { url, key: '', count: SOCKETS, subscribe: [] });
    const text = 'x'.repeat(HEAD_BYTES);
    const fan = await measureFan(clients, server.pid, streamBlocks(stage.options.quick), () =>
      server.ask('publish', text),
    );
    await clients.ask('close');
    return fan;
  });
}

async function measureHeads(
  stage: Stage,
  { part }: ChainNode,
  daemon: DaemonProcess,
  clients: Part<WsClientsActions>,
): Promise<Fan> {
  const subscribe = [subscription('newHeads')];
  const url = `${daemon.url.replace('http', 'ws')}/ws`;
  await clients.ask('open', { url, key: daemon.key, count: SOCKETS, subscribe });
  const fan = await measureFan(clients, daemon.pid, streamBlocks(stage.options.quick), () =>
    part.ask('mine'),
  );
  await clients.ask('close');
  return fan;
}

/** Calls `cause`, which sends a message to all sockets, again and again. */
async function measureFan(
  clients: Part<WsClientsActions>,
  pid: number,
  times: number,
  cause: () => Promise<unknown>,
): Promise<Fan> {
  const fan: Fan = { spreads: [], costs: [] };
  for (let i = 0; i < times; i++) {
    await sleep(PAUSE_MS);
    await clients.ask('arm');
    const before = mainThreadSeconds(pid);
    await cause();
    const arrivals = await clients.ask('arrived');
    fan.costs.push((mainThreadSeconds(pid) - before) * 1000);
    fan.spreads.push(quantile(arrivals, 1) - quantile(arrivals, 0));
  }
  return fan;
}

interface Ages {
  /** From the commit to each socket that was notified, milliseconds, over all blocks. */
  clientMs: number[];
  /** Per block: notifications, and sockets that got any. */
  notifications: number;
  sockets: number;
  /** Mean time from the commit to the push, milliseconds, from the daemon's own metrics. */
  serverMs: number;
}

/** Each socket watches a wallet of its own, some of which have transfers in each block. */
async function measureAges(
  stage: Stage,
  { part }: ChainNode,
  daemon: DaemonProcess,
  clients: Part<WsClientsActions>,
): Promise<Ages> {
  const { recentWallets } = await stage.keys();
  const subscribe = recentWallets.map((address) => subscription('wallet_transfers', { address }));
  const url = `${daemon.url.replace('http', 'ws')}/ws`;
  await clients.ask('open', { url, key: daemon.key, count: SOCKETS, subscribe });
  const clientMs: number[] = [];
  const blocks = streamBlocks(stage.options.quick);
  const before = await sumOf(daemon, 'atlas_ws_notifications_total');
  for (let i = 0; i < blocks; i++) {
    await clients.ask('arm');
    await part.ask('mine');
    await sleep(PAUSE_MS); // no requests meanwhile, which would have to be answered too
    const { lastCommitAt } = await daemon.reaches(await part.ask('head'), SYNC_MS);
    const arrivals = await clients.ask('soFar');
    if (lastCommitAt !== null) clientMs.push(...arrivals.map((at) => at - lastCommitAt));
  }
  const notifications = (await sumOf(daemon, 'atlas_ws_notifications_total')) - before;
  await clients.ask('close');
  return {
    clientMs,
    notifications: notifications / blocks,
    sockets: clientMs.length / blocks,
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

function table(stage: Stage, own: Fan, bare: Fan, ages: Ages, megabytes: number): Table {
  const against = (samples: number[]) => ({ against: { name: 'bare publish', samples } });
  const age = (name: string, part: number, floor: number, goal: number): Figure => ({
    name,
    unit: 'ms',
    samples: [quantile(ages.clientMs, part)],
    budget: { floor, goal },
  });
  return {
    title: `Streams to ${SOCKETS} WebSockets`,
    layout: 'list',
    figures: [
      {
        name: 'one head, from the first to the last socket',
        unit: 'ms',
        samples: own.spreads,
        ...against(bare.spreads),
      },
      {
        name: 'one head, processor time of the event loop',
        unit: 'ms',
        samples: own.costs,
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
      `All sockets belong to one process, whose reading takes part of the time. ${sharing(stage.cores)}; of the daemon the event loop only, and it indexes each block meanwhile.`,
      `Each socket watches a wallet of its own; a block made ${Math.round(ages.notifications)} notifications to ${Math.round(ages.sockets)} of them. An age is that of the first one of a block to a socket.`,
    ],
  };
}
