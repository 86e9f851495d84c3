/**
 * A chain node that answers JSON-RPC over HTTP and WebSocket from recorded or generated blocks. It makes a node's
 * behaviour repeatable: a moving head, reorgs, latency, limits, errors.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Prng } from '../../../src/lib/random.ts';
import { hostPort } from '../../../src/lib/text.ts';
import { BlockReader } from './blocks/block-reader.ts';
import { TransactionIndex } from './blocks/transaction-index.ts';
import type { ReplayControls, ReplayNode } from './controls.ts';
import { blockMethods } from './methods/blocks.ts';
import { controlMethods } from './methods/control.ts';
import { logMethods } from './methods/logs.ts';
import { networkMethods } from './methods/network.ts';
import { traceMethods } from './methods/traces.ts';
import { REPLAY_DEFAULTS, type ReplayOptions } from './options.ts';
import { loadChain } from './recording/load-chain.ts';
import { Dispatcher } from './server/dispatch.ts';
import { Feed } from './server/feed.ts';
import { createHttpServer } from './server/http.ts';
import { Latency } from './server/latency.ts';
import { attachWebSocket } from './server/websocket.ts';
import { Simulation } from './simulation/simulation.ts';
import { zeroStats } from './stats.ts';
import { TextStore } from './text-store.ts';

/** Resolves when the blocks are loaded and the port is open. */
export async function startReplayNode(options: ReplayOptions = {}): Promise<ReplayNode> {
  const settings = { ...REPLAY_DEFAULTS, ...options };
  const store = new TextStore(settings.memoryBytes);
  const { chain, answers, chainId, networkId } = await loadChain(options, store);
  const prng = new Prng(settings.seed);
  const reader = new BlockReader(store);
  const transactions = new TransactionIndex(chain, reader);
  const feed = new Feed(reader);
  const latency = new Latency(settings.latencyMs, settings.jitterMs, prng);
  const simulation = new Simulation({ chain, store, feed }, settings.reorgEvery, settings.reorgDepth);
  const calls = zeroStats();
  const controls: ReplayControls = {
    setHead: (number) => simulation.setHead(number),
    mine: (count = 1) => simulation.mine(count),
    fork: (from, newBlocks, forkOptions) => simulation.fork(from, newBlocks, forkOptions),
    setLatency: (milliseconds) => {
      latency.fixedMs = milliseconds;
    },
    stats: () => ({
      ...calls,
      byMethod: { ...calls.byMethod },
      head: chain.head,
      first: chain.at(0)?.number ?? null,
      last: chain.at(chain.length - 1)?.number ?? null,
      blocks: chain.length,
      memoryBytes: store.memoryBytes,
      spilledBytes: store.spilledBytes,
    }),
  };

  const state = { chain, reader, transactions, settings };
  const methods = {
    ...networkMethods(state, chainId, networkId),
    ...blockMethods(state),
    ...logMethods(state),
    ...traceMethods(state),
    ...controlMethods(controls),
  };
  const dispatcher = new Dispatcher({ methods, answers, store, settings, prng, stats: calls });
  const server = createHttpServer({ rpc: (body) => dispatcher.handle(body), stats: controls.stats }, latency);
  const sockets = attachWebSocket(
    server,
    (text, connectionMethods) => dispatcher.handle(text, connectionMethods),
    feed,
    latency,
  );
  const port = await listen(server, settings.port, settings.host).catch((error) => {
    store.close();
    throw error;
  });
  const miner = settings.blockTimeMs > 0 ? setInterval(() => controls.mine(), settings.blockTimeMs) : null;

  return {
    ...controls,
    url: `http://${hostPort(settings.host, port)}`,
    wsUrl: `ws://${hostPort(settings.host, port)}`,
    chainId: Number(chainId),
    async close() {
      if (miner) clearInterval(miner);
      latency.close();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      store.close();
    },
  };
}

/** Resolves with the port, rejects when listening fails. */
async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the replay node has no TCP port');
  return address.port;
}
