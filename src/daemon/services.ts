/** The services: the wallet API over the index, `/rpc` to the node, and the streams over both. */
import { type AddedSignature, Signatures } from '../abi/signatures.ts';
import { type Examine, prepareApi } from '../api/api.ts';
import type { NamedQueries } from '../api/queries/named-queries.ts';
import { ReadPool, startReader } from '../api/read-pool/read-pool.ts';
import { ChainTracker } from '../chain/tracker.ts';
import { configuredTradeLists } from '../config/configured-lists.ts';
import type { Config } from '../config/parse-config.ts';
import type { PendingSource } from '../gateway/filters/filter.ts';
import { RpcHandler } from '../gateway/handler.ts';
import { methodPolicy } from '../gateway/policy.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { finalityOf } from '../model/finality.ts';
import type { IndexStatus } from '../model/index-status.ts';
import { type NodeWatch, RETRY_WINDOW_MS } from '../node/choice/node-watch.ts';
import type { SelectedNode } from '../node/choice/selected-node.ts';
import { RpcClient } from '../node/client.ts';
import { NodeConnection } from '../node/connection.ts';
import { openNodeHttp } from '../node/http/streaming-client.ts';
import type { ReadFailures } from '../query/read-failures.ts';
import { prepareStreamReads } from '../query/stream-reads.ts';
import { WalletIdCache } from '../query/wallet-id-cache.ts';
import { WsConnections } from '../server/ws/connections.ts';
import { StreamHub } from '../streams/hub.ts';
import { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import type { StoredLists } from '../streams/transfers/transfer-filter.ts';
import type { DataStores } from './data-stores.ts';
import { openNodeReads, repeatedAtOtherNodes } from './node-reads.ts';

/** Most `/rpc` calls queued for a free socket to the node. */
const RPC_MAX_WAITING = 4_096;
/** Most bytes of these calls. */
const RPC_MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Sockets to the node for the chain tracker and all streams: heads and logs, a few calls per block. */
export const STREAM_MAX_SOCKETS = 8;

/** Sockets to the node for REST: one call per request about a transaction or a block hash. */
export const REST_MAX_SOCKETS = 4;

/** Largest answer of the node for REST: a transaction with more events is answered without its receipt. */
const REST_MAX_RESPONSE_BYTES = 16 * 2 ** 20;

/** Time for the current request of a read thread when the daemon stops, milliseconds: its client has gone. */
const READER_STOP_MS = 1_000;

interface ServiceDeps {
  stores: DataStores;
  queries: NamedQueries;
  /** The node in use. */
  node: SelectedNode;
  /** Chooses the node; absent for a single one. */
  watch: NodeWatch | undefined;
  metrics: Metrics;
  failures: ReadFailures;
  log: Logger;
  /** Address lists that stream filters may name. */
  lists: StoredLists;
  /** Functions, events and errors besides those of standards. */
  added: readonly AddedSignature[];
  /** Finds out in the background whether wallets are contracts. */
  examine: Examine;
  /** A local development chain, where `/rpc` may permit `anvil_*`. */
  development: boolean;
}

/** `noteStatus`: call with each report of the indexer, which finds out what chain and node this is. */
export function openServices(config: Config, deps: ServiceDeps, closers: CleanupStack) {
  const node = closers.adopt(openNodeConnection(config, deps), (node) => node.close());
  const tracker = new ChainTracker({
    node,
    pollMs: config.index.poll_ms,
    maxReorg: config.index.max_reorg,
    log: deps.log,
  });
  const chain = closers.adopt(tracker, (tracker) => tracker.close());
  // `/rpc` gets heads and pending transactions from the streams.
  const pending: PendingSource = (listener) => hub.listenToPending(listener);
  const rpc = openRpc(config, deps, chain, config.stream.pending ? pending : null, closers);
  deps.node.onSelect(() => rpc.nodeChanged());
  const api = openApi(config, deps, node, closers);
  const hub = closers.adopt(openHub(config, deps, { node, chain, rpc }), (hub) => hub.close());
  const connections = new WsConnections(deps.stores.access.keys, config.stream);
  closers.adopt(connections, (connections) => connections.close()); // for a failed start: later the server closes them
  const noteStatus = ({ capabilities }: Pick<IndexStatus, 'capabilities'>): void => {
    if (capabilities === null) return;
    const { rule } = finalityOf(config.chain.finality, capabilities);
    chain.finality.setRule(rule, `${capabilities.chainId} ${capabilities.client}`);
  };
  return { api, rpc, streams: { hub, settings: config.stream, connections }, noteStatus };
}

function openNodeConnection(config: Config, { node, log }: ServiceDeps): NodeConnection {
  const client = new RpcClient({
    url: node,
    timeoutMs: config.node.timeout_ms,
    maxSockets: STREAM_MAX_SOCKETS,
    maxBatch: config.node.batch,
  });
  return new NodeConnection({ wsUrl: node.current.ws, follows: node, client, log });
}

function openRpc(
  config: Config,
  { node, watch, metrics, log, development }: ServiceDeps,
  chain: ChainTracker,
  pending: PendingSource | null,
  closers: CleanupStack,
): RpcHandler {
  const nodeHttp = openNodeHttp({
    url: node,
    timeoutMs: config.rpc.timeout_ms,
    maxSockets: config.rpc.max_sockets,
    maxWaiting: RPC_MAX_WAITING,
    maxWaitingBytes: RPC_MAX_WAITING_BYTES,
  });
  return new RpcHandler({
    node: closers.adopt(nodeHttp, (client) => client.close()),
    failover: watch,
    chain,
    allowed: methodPolicy({ allow: config.rpc.allow, development }),
    settings: config.rpc,
    log,
    metrics,
    pending,
  });
}

function openApi(
  config: Config,
  { stores, queries, node, watch, failures, examine, added, log }: ServiceDeps,
  connection: NodeConnection,
  closers: CleanupStack,
) {
  const { indexPath, db, snapshot, labels, labelsPath } = stores;
  const nativeSymbol = config.chain.symbol;
  const maxReorg = config.index.max_reorg;
  const tradeLists = configuredTradeLists(config);
  const readers = new ReadPool((onMessage) =>
    startReader({ indexPath, nativeSymbol, maxReorg, labelsPath, tradeLists, added }, log, onMessage),
  );
  closers.adopt(readers, (readers, leftMs) => readers.close(Math.min(leftMs, READER_STOP_MS)));
  const source = {
    db,
    walletIds: new WalletIdCache(db, snapshot),
    nativeSymbol,
    maxReorg,
    labels,
    tradeLists,
    queries,
    signatures: new Signatures(added),
  };
  const client = new RpcClient({
    url: node,
    timeoutMs: config.node.timeout_ms,
    maxSockets: REST_MAX_SOCKETS,
    maxBatch: config.node.batch,
    maxResponseBytes: REST_MAX_RESPONSE_BYTES,
  });
  closers.adopt(client, (client) => client.close());
  const parties = closers.adopt(new TransactionParties(connection.client), (parties) => parties.close());
  const nodeReads =
    watch === undefined
      ? openNodeReads(client, parties, log)
      : openNodeReads(repeatedAtOtherNodes(client, watch), parties, log, RETRY_WINDOW_MS);
  return prepareApi(source, snapshot, readers, failures, nodeReads, examine);
}

function openHub(
  config: Config,
  { stores, watch, metrics, failures, log, lists }: ServiceDeps,
  { node, chain, rpc }: { node: NodeConnection; chain: ChainTracker; rpc: RpcHandler },
): StreamHub {
  const { stream } = config;
  return new StreamHub({
    node,
    chain,
    nativeSymbol: config.chain.symbol,
    labels: stores.labels,
    metadataWaitMs: stream.metadata_wait_ms,
    lists,
    pending: stream.pending,
    maxSubscriptions: stream.max_subscriptions,
    maxBacklogBytes: stream.max_backlog_bytes,
    onNews() {
      rpc.headChanged();
      if (chain.tip !== undefined) watch?.noteHead(chain.tip.number);
    },
    reads: prepareStreamReads(stores.db, stores.snapshot, configuredTradeLists(config)),
    metrics,
    failures,
    log,
  });
}
