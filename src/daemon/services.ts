/** The services: the wallet API over the index, `/rpc` to the node, and the streams over both. */
import { prepareApi } from '../api/api.ts';
import { ReadPool } from '../api/read-pool.ts';
import { startReader } from '../api/threads.ts';
import type { Config } from '../config.ts';
import type { Closers } from '../lib/closers.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { AddressBook } from '../query/address-book.ts';
import { streamReads } from '../query/stream-reads.ts';
import { RpcHandler } from '../rpc/handler.ts';
import { methodPolicy } from '../rpc/policy.ts';
import { WsConnections } from '../server/ws-connections.ts';
import { StreamHub } from '../stream/hub.ts';
import { RpcClient } from '../upstream/client.ts';
import { WireTransport } from '../upstream/wire/transport.ts';
import type { Data } from './data.ts';

/** Most calls of `/rpc` that may wait for a free socket to the node. */
const RPC_MAX_WAITING = 4_096;
/** Most bytes of those calls. */
const RPC_MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Sockets to the node for all streams: heads and logs, a few calls per block. */
const STREAM_MAX_SOCKETS = 8;

export interface ServiceDeps {
  data: Data;
  metrics: Metrics;
  log: Logger;
  /** A local development chain: `anvil_*` may be allowed through `/rpc`. */
  development: boolean;
}

export function openServices(config: Config, deps: ServiceDeps, closers: Closers) {
  const rpc = openRpc(config, deps, closers);
  const api = openApi(config, deps.data, closers);
  const hub = closers.keep(openHub(config, deps), (hub) => hub.close());
  const connections = new WsConnections(deps.data.access.keys, config.stream);
  closers.keep(connections, (connections) => connections.close()); // the server closes them too, once it listens
  return { api, rpc, streams: { hub, settings: config.stream, connections } };
}

function openRpc(config: Config, { metrics, log, development }: ServiceDeps, closers: Closers): RpcHandler {
  const transport = new WireTransport({
    url: config.node_http,
    timeoutMs: config.rpc.timeout_ms,
    maxSockets: config.rpc.max_sockets,
    maxWaiting: RPC_MAX_WAITING,
    maxWaitingBytes: RPC_MAX_WAITING_BYTES,
  });
  return new RpcHandler({
    transport: closers.keep(transport, (transport) => transport.close()),
    allowed: methodPolicy({ allow: config.rpc.allow, development }),
    settings: config.rpc,
    log,
    metrics,
  });
}

function openApi(config: Config, { indexPath, db, snapshot }: Data, closers: Closers) {
  const nativeSymbol = config.chain.symbol;
  const readers = new ReadPool(() => startReader({ indexPath, nativeSymbol }));
  closers.keep(readers, (readers) => readers.close());
  return prepareApi({ db, addresses: new AddressBook(db, snapshot), nativeSymbol }, snapshot, readers);
}

function openHub(config: Config, { data, metrics, log }: ServiceDeps): StreamHub {
  const { node, node_http, node_ws, index, chain, stream } = config;
  return new StreamHub({
    node: {
      wsUrl: node_ws,
      client: new RpcClient({
        url: node_http,
        timeoutMs: node.timeout_ms,
        maxSockets: STREAM_MAX_SOCKETS,
        maxBatch: node.batch,
      }),
      pollMs: index.poll_ms,
    },
    nativeSymbol: chain.symbol,
    pending: stream.pending,
    maxSubscriptions: stream.max_subscriptions,
    maxBacklogBytes: stream.max_backlog_bytes,
    reads: streamReads(data.db, data.snapshot),
    metrics,
    log,
  });
}
