/**
 * Every metric, declared in one place: Prometheus names with the prefix `atlas_`, base units, bounded labels. Label
 * values come from this program (kinds, reasons, routes, well-known methods), never from a client: no addresses, no
 * keys.
 */
import type { Counter, GaugeConfiguration } from 'prom-client';
import { HotPathCounter, HotPathHistogram } from './hot-path-metrics.ts';
import { LoopDelayMonitor } from './loop-delay.ts';
import { Gauge, Histogram, Registry } from './prom-client.ts';

/** Bucket bounds in seconds, for work inside the process. */
const FAST = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
/** For HTTP answers: includes the promised times (3, 10 and 30 ms) and values around them. */
const ANSWER = [
  0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5,
  1, 5,
];
/** For time spent waiting for the node. */
const SLOW = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a commit to a client's socket. */
const AGE = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process in their own registry. `close` stops measuring the event loop. */
export function createMetrics() {
  const registry = new Registry();
  const { counter, gauge, optionalGauge, histogram } = makers(registry);
  const loop = new LoopDelayMonitor();
  const collectors: (() => void)[] = [];

  const metrics = {
    indexedBlocks: counter('atlas_index_blocks_total', 'Blocks committed to the index.'),
    ready: gauge('atlas_ready', 'What /readyz answers: 1 when ready, else 0.'),
    indexHead: optionalGauge('atlas_index_head_block', 'Height of the last committed block.'),
    nodeHead: optionalGauge('atlas_node_head_block', 'Height of the head of the node.'),
    nodeChain: gauge(
      'atlas_node_chain',
      'How the chain of the node relates to the index: 1 for the current state.',
      ['state'],
    ),
    nodeState: gauge(
      'atlas_node_state',
      'State of each of several nodes, numbered in the order of node_http: 1 for the current state.',
      ['node', 'state'],
    ),
    nodeInUse: gauge('atlas_node_in_use', 'Whether this node is the one in use: 1 or 0.', ['node']),
    nodeSwitches: counter('atlas_node_switches_total', 'Changes of the node in use.'),
    lagBlocks: optionalGauge('atlas_index_lag_blocks', 'Blocks between the head of the node and the index.'),
    lagSeconds: optionalGauge('atlas_index_lag_seconds', 'Age of the last committed block.'),
    stale: gauge(
      'atlas_index_stale',
      'Whether the chain is stale by index.stale_seconds, or a clock is wrong: 1 or 0.',
    ),
    transfers: counter('atlas_index_transfers_total', 'Transfers committed to the index.', ['kind']),
    renumbered: counter(
      'atlas_index_renumbered_blocks_total',
      'Blocks whose logs restart or repeat their numbers.',
    ),
    skippedLogs: counter('atlas_index_skipped_logs_total', 'Malformed logs that were not indexed.', [
      'reason',
    ]),
    commitSeconds: histogram('atlas_index_commit_seconds', 'Time to commit to the index.', FAST),
    reorgs: counter('atlas_index_reorgs_total', 'Reorganisations that were rolled back.'),
    reorgDepth: gauge('atlas_index_reorg_depth_blocks_max', 'Blocks removed by the deepest reorganisation.'),
    indexBytes: gauge('atlas_index_file_bytes', 'Size of index.db.'),
    walBytes: gauge('atlas_index_wal_bytes', 'Size of the write-ahead log of index.db.'),
    readFailures: counter(
      'atlas_index_read_failures_total',
      'Failed reads of the index: "damage" lasts until the file is replaced, "disk" may be transient.',
      ['cause'],
    ),
    diskFreeBytes: gauge('atlas_data_disk_free_bytes', 'Space left on the disk of the data folder.'),

    sinkBlock: optionalGauge('atlas_sink_head_block', 'Height of the last block in PostgreSQL.'),
    sinkLagBlocks: optionalGauge('atlas_sink_lag_blocks', 'Blocks between the index and PostgreSQL.'),
    sinkState: gauge('atlas_sink_state', 'State of the PostgreSQL sink: 1 for the current state.', ['state']),
    sinkTransfers: counter('atlas_sink_transfers_total', 'Transfers committed to PostgreSQL.'),
    sinkDelay: histogram(
      'atlas_sink_delay_seconds',
      'Time from the commit of blocks to the index to their commit to PostgreSQL, near the head.',
      AGE,
    ),
    sinkErrors: counter('atlas_sink_errors_total', 'Failed attempts of the PostgreSQL sink.'),
    sinkRollbacks: counter('atlas_sink_rollbacks_total', 'Rollbacks in PostgreSQL.'),

    clusterJoined: optionalGauge(
      'atlas_cluster_joined',
      'Whether keys and usage are in sync with PostgreSQL; absent without access.postgres.',
    ),
    clusterDaemons: optionalGauge('atlas_cluster_daemons', 'Number of running daemons that share the keys.'),
    clusterUnsent: optionalGauge(
      'atlas_cluster_unsent_requests',
      'Requests counted here but not yet sent to PostgreSQL.',
    ),
    clusterLastSync: optionalGauge(
      'atlas_cluster_last_sync_time_seconds',
      'Unix time at which keys and usage were last in sync with PostgreSQL.',
    ),
    clusterErrors: counter('atlas_cluster_errors_total', 'Failed attempts to share keys.'),

    upstreamRequests: counter('atlas_upstream_requests_total', 'Calls sent to the node.', ['method']),
    upstreamErrors: counter('atlas_upstream_errors_total', 'Failed calls to the node.', ['method', 'reason']),
    upstreamSeconds: histogram('atlas_upstream_request_seconds', 'Duration of a call to the node.', SLOW, [
      'method',
    ]),

    httpRequests: counter('atlas_http_requests_total', 'HTTP requests answered.', ['route', 'status']),
    httpServerErrors: counter(
      'atlas_http_server_errors_total',
      'HTTP answers with 5xx that report a fault: not those of /readyz, nor not_ready.',
      ['route', 'status'],
    ),
    httpSeconds: new HotPathHistogram(
      'atlas_http_request_seconds',
      'Time to answer an HTTP request.',
      ANSWER,
      ['route'],
    ),
    rpcRequests: counter('atlas_rpc_requests_total', 'JSON-RPC calls answered.', ['method', 'status']),
    rpcSeconds: new HotPathHistogram('atlas_rpc_request_seconds', 'Time to answer a JSON-RPC call.', SLOW, [
      'method',
    ]),
    rpcCacheHits: counter('atlas_rpc_cache_hits_total', 'JSON-RPC calls answered from the cache.', [
      'method',
    ]),
    rpcCacheBytes: gauge('atlas_rpc_cache_bytes', 'Size of the cache of JSON-RPC answers.'),
    rpcLocal: counter('atlas_rpc_local_answers_total', 'Calls answered from the head cache.', ['method']),
    rpcMerged: counter('atlas_rpc_merged_calls_total', 'Calls merged with an equal call in flight.', [
      'method',
    ]),

    sqlQueries: gauge('atlas_sql_queries', 'SQL queries of the panel and named queries, by state.', [
      'state',
    ]),
    sqlEnded: counter(
      'atlas_sql_queries_ended_total',
      'SQL queries of the panel and named queries that ended, by outcome.',
      ['outcome'],
    ),
    sqlReading: gauge('atlas_sql_reading_queries', 'SQL queries of all processes that read the index.'),

    sockets: gauge('atlas_ws_connections', 'Open WebSocket connections.', ['endpoint']),
    subscriptions: gauge('atlas_ws_subscriptions', 'Open subscriptions.', ['topic']),
    notifications: counter('atlas_ws_notifications_total', 'Notifications sent.', ['topic']),
    pushAge: histogram('atlas_ws_push_age_seconds', 'Time from a commit to the push of its events.', AGE, [
      'topic',
    ]),
    slowConsumers: counter('atlas_ws_slow_consumers_total', 'Connections closed because they fell behind.'),

    hooks: gauge('atlas_hooks', 'Webhooks by state; failing ones also count as active.', ['state']),
    hookDeliveries: counter('atlas_hook_deliveries_total', 'Webhook deliveries.', ['outcome']),
    hookEvents: counter('atlas_hook_events_total', 'Webhook events accepted by their receivers.'),
    hookLagBlocks: gauge(
      'atlas_hook_lag_blocks',
      'Blocks by which the slowest active webhook lags the index.',
    ),

    caughtErrors: counter(
      'atlas_caught_errors_total',
      'Unexpected errors that were caught instead of ending the process: defects, with a line in the log.',
      ['place'],
    ),
    buildInfo: gauge('atlas_build_info', 'Always 1; the labels identify the build.', ['version']),
    startTime: gauge('atlas_process_start_time_seconds', 'Unix time at which the process started.'),
    residentMemory: gauge('atlas_process_resident_memory_bytes', 'Resident memory of the process.'),
    cpuSeconds: counter('atlas_process_cpu_seconds_total', 'Processor time used by the process.'),
    loopDelay: gauge('atlas_event_loop_delay_seconds', 'Delay of the event loop since the last scrape.', [
      'stat',
    ]),
    loopHeld: gauge(
      'atlas_event_loop_held_seconds_max',
      'Longest delay of the event loop since the last scrape, excluding time spent waiting for a processor.',
    ),

    /** The longest delay of the event loop since the last call, in seconds. */
    takeLongestLoopDelay: () => loop.takeLongest(),

    contentType: registry.contentType,

    /** Registers a function to run before each rendering: for gauges whose value is read on demand. */
    onCollect(collect: () => void): void {
      collectors.push(collect);
    },

    /** All metrics in the Prometheus text format. */
    async render(): Promise<string> {
      for (const collect of collectors) collect();
      const quick = [metrics.httpSeconds, metrics.rpcSeconds].map((histogram) => histogram.render());
      return [await registry.metrics(), ...quick].join('\n');
    },

    close(): void {
      loop.close();
    },
  };

  metrics.startTime.set(Math.round(performance.timeOrigin / 1000));
  const cpuSeconds = trackTotal(metrics.cpuSeconds);
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage();
    metrics.residentMemory.set(process.memoryUsage.rss());
    cpuSeconds((user + system) / 1e6);
    const { held, ...delays } = loop.takeDelays();
    for (const [stat, seconds] of Object.entries(delays)) metrics.loopDelay.set({ stat }, seconds);
    metrics.loopHeld.set(held);
  });
  return metrics;
}

/**
 * Raises a counter to totals counted elsewhere, such as CPU time. The returned function takes the current total of one
 * label combination; a lower total means that the source was reset.
 */
export function trackTotal<L extends string>(counter: Counter<L>) {
  const known = new Map<string, number>();
  return (total: number, labels: Partial<Record<L, string>> = {}): void => {
    const name = JSON.stringify(labels);
    const before = known.get(name) ?? 0;
    known.set(name, total);
    counter.inc(labels, total >= before ? total - before : total);
  };
}

/** A gauge without a value until the first is known. Rendering 0 would report a measurement that nobody made. */
class OptionalGauge extends Gauge {
  constructor(configuration: GaugeConfiguration<never>) {
    super(configuration);
    this.remove();
  }

  /** Null when the value is unknown. */
  setOrClear(value: number | null): void {
    if (value === null) this.remove();
    else this.set(value);
  }
}

function makers(registry: Registry) {
  const registers = [registry];
  return {
    optionalGauge: (name: string, help: string) => new OptionalGauge({ name, help, registers }),
    counter: <const L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new HotPathCounter({ name, help, labelNames, registers }),
    gauge: <const L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <const L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: L[] = [],
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
}
